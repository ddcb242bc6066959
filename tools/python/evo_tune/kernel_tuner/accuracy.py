"""AccuracyObserver of Kernel Tuner: adds the error of each kernel's outputs to its result."""

import re

import numpy

from .errors import NotSupported


def _relative(right, given, least):
    return numpy.abs(right - given) / numpy.maximum(numpy.abs(right), least)


def _logarithmic(right, given, least):
    return numpy.log10(right + least) - numpy.log10(given + least)


def _root_mean_square(values):
    return numpy.sqrt(numpy.mean(values**2))


#: Error metrics by abbreviation: functions of the expected output `right`, the actual output
#: `given`, and `least`, which keeps relative and logarithmic errors finite.
_METRICS = {
    "mse": lambda right, given, least: numpy.mean((right - given)**2),
    "rmse": lambda right, given, least: _root_mean_square(right - given),
    "nrmse": lambda right, given, least: (_root_mean_square(right - given)
                                          / _root_mean_square(right)),
    "mae": lambda right, given, least: numpy.mean(numpy.abs(right - given)),
    "mre": lambda *values: numpy.mean(_relative(*values)),
    "rmsre": lambda *values: _root_mean_square(_relative(*values)),
    "male": lambda *values: numpy.mean(numpy.abs(_logarithmic(*values))),
    "rmsle": lambda *values: _root_mean_square(_logarithmic(*values)),
    "max": lambda right, given, least: numpy.max(numpy.abs(right - given)),
    "max rel": lambda *values: numpy.max(_relative(*values)),
}
#: Abbreviations by long name, whose words are cut to three letters.
_LONG = {"mea squ": "mse", "roo mea squ": "rmse", "nor roo mea squ": "nrmse", "abs": "mae",
         "mea abs": "mae", "rel": "mre", "mea rel": "mre", "roo mea squ rel": "rmsre",
         "mea abs log": "male", "roo mea squ log": "rmsle", "max abs": "max"}


def _metric(name):
    words = [word for word in re.split(r"[\s_-]+", name.lower()) if word not in ("", "error")]
    stems = " ".join("mea" if word in ("average", "avg") else word[:3] for word in words)
    known = {**{short: short for short in _METRICS}, **_LONG}
    found = known.get(" ".join(words)) or known.get(stems)
    if found is None:
        raise NotSupported(f"AccuracyObserver: unknown metric '{name}'; allowed: "
                           f"{', '.join(_METRICS)}, and their long names")
    return _METRICS[found]


class AccuracyObserver:
    """Adds to each result the largest error of the outputs for which the script gave expected
    values (`answer`). `metric`: the name of an error metric, or a function of the expected and the
    actual output."""

    def __init__(self, metric=None, key="error", *, atol=1e-8):
        self.key = key
        if callable(metric):
            self._error = metric
            return
        error = _metric(metric or "rmse")
        self._error = lambda right, given: float(
            error(right.astype(numpy.float64), given.astype(numpy.float64), atol))

    def observe(self, judged):
        judged.add_figure_of_outputs(self.key, self._largest)

    def _largest(self, answer, left):
        return max(self._error(numpy.ravel(right), numpy.ravel(given))
                   for right, given in zip(answer, left) if right is not None)
