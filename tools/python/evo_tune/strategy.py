"""Strategies in Python, by the protocol of --strategy 'program: COMMAND' (docs/search.md).

make(space) creates a strategy. `space` is a dict of "seed", "elite", "configurations" and
"parameters" (a list of dicts of "macro" and "values"). A strategy has the method propose(count),
which returns at most `count` configurations (dicts with a value for each macro; an empty list ends
the search). A strategy may also have these methods:

    observe(outcomes)   gets a list of dicts of "config" and "time_us", or "failed_at" (a gate)
    refuse(refused)     gets a list of dicts of "config" and "why": configurations that evo-tune
                        refuses
"""

import json
import shlex
import sys
from pathlib import Path

from .local_server import LocalServer


def serve(make, source=None, target=None):
    """Runs a strategy that communicates with evo-tune by standard input and output. Call serve() in
    the main part of a strategy's program.

    make: a function that gets the space and returns the strategy.
    """
    source = source or sys.stdin
    target = target or sys.stdout
    first = source.readline()
    if not first:
        return
    strategy = make(json.loads(first))
    for line in source:
        told = json.loads(line)
        if "observe" in told:
            _call(strategy, "observe", told["observe"])
            continue
        if "refused" in told:
            _call(strategy, "refuse", told["refused"])
        proposals = list(strategy.propose(told["propose"]) or [])
        target.write(json.dumps({"proposals": proposals}) + "\n")
        target.flush()


def _call(strategy, name, argument):
    method = getattr(strategy, name, None)
    if method is not None:
        method(argument)


_RELAY = """import os, socket, sys, threading
with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
    caller.connect(sys.argv[1])
    def forward():
        while data := os.read(0, 65536):
            caller.sendall(data)
        caller.shutdown(socket.SHUT_WR)
    threading.Thread(target=forward, daemon=True).start()
    while data := caller.recv(65536):
        os.write(1, data)
"""


class StrategyServer:
    """Lets evo-tune use a strategy object of this process: writes a program that connects evo-tune
    to the object. `name`: the value for --strategy."""

    def __init__(self, folder, make):
        self._make = make
        self.failure = None  #: the exception that ended the strategy
        relay = Path(folder) / "relay.py"
        relay.write_text(_RELAY)
        self._server = LocalServer(Path(folder) / "strategy.socket", self._answer)
        self.name = "program: " + shlex.join([sys.executable, str(relay), self._server.path])

    def close(self):
        self._server.close()

    def _answer(self, source, target):
        try:
            serve(self._make, source, target)
        except Exception as error:  # the strategy may raise any exception
            self.failure = error
