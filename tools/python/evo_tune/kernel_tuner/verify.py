"""A verify function of the caller's process as the check program of a problem."""

import json
import os
import socket
import sys
import threading
from pathlib import Path

import numpy

PROGRAM = "verify.py"

#: The program: hands the folder with the outputs to the process that has the function.
_TEXT = '''import json, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
    caller.connect(sys.argv[1])
    caller.sendall((sys.argv[2] + "\\n").encode())
    reply = json.loads(caller.makefile().readline())
print(reply["reason"])
sys.exit(reply["code"])
'''


class VerifyServer:
    """Answers the check programs of a run by calling `verify(answer, result, atol)`."""

    def __init__(self, folder, judged, atol, names, shapes):
        self._judged = judged
        self._atol = atol
        self._names = names
        self._shapes = shapes
        self.path = str(Path(folder) / "verify.socket")
        self.program = [sys.executable, PROGRAM, self.path]
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(self.path)
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def write(self, folder):
        (folder / PROGRAM).write_text(_TEXT)

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
                folder = stream.readline().strip()
                stream.write(json.dumps(self._judge(Path(folder))) + "\n")

    def _judge(self, folder):
        try:
            results = [self._output(folder, position) for position in range(len(self._shapes))]
            is_right = bool(self._judged.verify(self._judged.answer, results, atol=self._atol))
        except Exception as error:  # whatever the caller's function throws
            return {"code": 3, "reason": f"verify: {type(error).__name__}: {error}"}
        return {"code": 0 if is_right else 1, "reason": "" if is_right else "verify says no"}

    def _output(self, folder, position):
        if self._judged.answer[position] is None or self._shapes[position] is None:
            return None
        path = folder / f"output_{self._names[position]}.npy"
        if not path.is_file():
            return None
        shape, dtype = self._shapes[position]
        return numpy.load(path).view(dtype).reshape(shape)
