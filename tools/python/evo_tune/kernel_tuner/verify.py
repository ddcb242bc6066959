"""Lets a script's verify function, which runs in this process, be the check program of a
problem."""

import numpy

from ..calls import CallServer


class VerifyServer(CallServer):
    """Calls `verify(answer, result, atol)` with the outputs of each kernel."""

    def __init__(self, folder, judged, atol, names, shapes):
        super().__init__(folder, self._judge)
        self._judged = judged
        self._atol = atol
        self._names = names
        self._shapes = shapes

    def _judge(self, folder):
        results = [self._output(folder, position) for position in range(len(self._shapes))]
        # evo-tune tests `verify` with noise, whose sums may overflow.
        with numpy.errstate(over="ignore", invalid="ignore"):
            is_right = self._judged.verify(self._judged.answer, results, atol=self._atol)
        return (0, "") if is_right else (1, "verify says no")

    def _output(self, folder, position):
        if self._judged.answer[position] is None or self._shapes[position] is None:
            return None
        path = folder / f"output_{self._names[position]}.npy"
        if not path.is_file():
            return None
        shape, dtype = self._shapes[position]
        return numpy.load(path).view(dtype).reshape(shape)
