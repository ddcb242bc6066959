"""A local socket through which programs that evo-tune starts communicate with this process."""

import os
import socket
import threading


class LocalServer:
    """Calls `answer(source, target)` with two text streams for each connection, one connection
    after the other."""

    def __init__(self, path, answer):
        self.path = str(path)
        self._answer = answer
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(self.path)
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self._socket.close()
        os.unlink(self.path)

    def _serve(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection, connection.makefile("r") as source, \
                    connection.makefile("w") as target:
                self._answer(source, target)
