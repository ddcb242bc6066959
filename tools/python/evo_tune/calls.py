"""Lets a function of this process serve as a problem's reference or check program: evo-tune starts
a small program, which sends the name of the folder with the data to this process."""

import json
import sys
from pathlib import Path

from .local_server import LocalServer

PROGRAM = "call.py"

_TEXT = '''import json, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
    caller.connect(sys.argv[1])
    caller.sendall((sys.argv[2] + "\\n").encode())
    reply = json.loads(caller.makefile().readline())
print(reply["reason"])
sys.exit(reply["code"])
'''


class CallServer:
    """Calls `handle(folder)` whenever evo-tune starts the program. `handle` returns the program's
    exit code and last line of output.

    If `handle` raises an exception, the exit code is 3, which ends the run as an error of the
    problem.
    """

    def __init__(self, folder, handle):
        self._handle = handle
        self._server = LocalServer(Path(folder) / "calls.socket", self._answer)
        self.program = [sys.executable, PROGRAM, self._server.path]

    @staticmethod
    def write(folder):
        """Writes the program into the problem's folder."""
        (Path(folder) / PROGRAM).write_text(_TEXT)

    def close(self):
        self._server.close()

    def _answer(self, source, target):
        folder = Path(source.readline().strip())
        try:
            code, reason = self._handle(folder)
        except Exception as error:  # any exception of the caller's function
            code, reason = 3, f"{type(error).__name__}: {error}"
        target.write(json.dumps({"code": code, "reason": reason}) + "\n")
