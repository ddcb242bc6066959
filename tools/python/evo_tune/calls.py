"""A function of this process as a program of a problem: the program hands over its folder."""

import json
import os
import socket
import sys
import threading
from pathlib import Path

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
    """Answers each start of the program by `handle(folder)`: its exit code and its last line.

    An exception of `handle` is exit code 3, which ends the run as an error of the problem.
    """

    def __init__(self, folder, handle):
        self._handle = handle
        self.path = str(Path(folder) / "calls.socket")
        self.program = [sys.executable, PROGRAM, self.path]
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(self.path)
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    @staticmethod
    def write(folder):
        """The program, into the problem's folder."""
        (Path(folder) / PROGRAM).write_text(_TEXT)

    def close(self):
        self._socket.close()
        os.unlink(self.path)

    def _serve(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection, connection.makefile("rw") as stream:
                folder = Path(stream.readline().strip())
                try:
                    code, reason = self._handle(folder)
                except Exception as error:  # whatever the caller's function throws
                    code, reason = 3, f"{type(error).__name__}: {error}"
                stream.write(json.dumps({"code": code, "reason": reason}) + "\n")
