"""Converts evo-tune's results to Kernel Tuner's form: a list of dicts, with times in ms and the
script's metrics. Reads and writes Kernel Tuner's cache files."""

import json
import re
from pathlib import Path

from .. import programs
from . import expressions
from .configurations import key_of
from .errors import (CompilationFailedConfig, ErrorConfig, InvalidConfig, NotSupported,
                     RuntimeFailedConfig)

_FAILURES = {one.__name__: one for one in (CompilationFailedConfig, InvalidConfig,
                                           RuntimeFailedConfig)}
_TIMES = ("compile_time", "verification_time", "benchmark_time", "strategy_time",
          "framework_time")
_LOWER_IS_BETTER = {"time", "energy", "nvml_energy", "compile_time"}


def from_cache_file(path, configurations):
    """Reads from a cache file that a run of evo-tune wrote: the correct configurations, the failed
    configurations, the environment, and the file's entries of the correct configurations."""
    document = json.loads(Path(path).read_text())
    objective = document["objective"]
    results, failed, entries = [], [], []
    for entry in document["cache"].values():
        configuration = configurations.of_macros(entry)
        time = entry.get(objective)
        if isinstance(time, str) or time is None:
            failure = _FAILURES.get(time, RuntimeFailedConfig)
            reason = entry.get("evo_tune", {}).get("reason", "")
            failed.append({**configuration, "time": failure(time or ""), "reason": reason})
            continue
        results.append({**configuration, "time": float(time), "times": [float(time)],
                        **{name: entry.get(name, 0) for name in _TIMES},
                        "timestamp": entry.get("timestamp", "")})
        entries.append(entry)
    return results, failed, document["environment"], entries


def add_metrics(results, metrics):
    """Adds the script's metrics to each result. A metric may use the metrics before it."""
    if metrics is None:
        return
    if not isinstance(metrics, dict):
        raise TypeError("metrics: allowed: a dict of strings and functions")
    for result in results:
        for name, metric in metrics.items():
            if callable(metric):
                result[name] = metric(result)
            elif isinstance(metric, str):
                result[name] = expressions.function_of(metric)(_named(result))
            else:
                raise TypeError(f"metrics['{name}']: allowed: strings and functions")


def _named(result):
    return {name: value for name, value in result.items() if str(name).isidentifier()}


def objective_of(objective, is_higher_better):
    """The name of the objective, and whether higher values are better. Raises NotSupported if this
    is neither given nor known for the name."""
    name = objective or "time"
    if is_higher_better is None:
        if name in _LOWER_IS_BETTER:
            return name, False
        if re.search(r"/s$|/W$|FLOPS?\b|throughput", name):
            return name, True
        raise NotSupported(f"objective_higher_is_better: must be given for objective '{name}'")
    return name, bool(is_higher_better)


def best_of(results, objective, is_higher_better=False):
    judged = [one for one in results if isinstance(one.get(objective), (int, float))]
    if not results:
        raise NotSupported("results: no configuration is correct, so there is no best one")
    if not judged:
        raise NotSupported(f"objective: no result has '{objective}'; allowed: time and the "
                           "names of metrics")
    return (max if is_higher_better else min)(judged, key=lambda one: one[objective])


def pareto_front(results, objectives):
    """The Pareto front: results that no other result dominates. One result dominates another if it
    is at least as good in all objectives and better in one."""
    signs = {name: -1 if is_higher else 1 for name, is_higher in objectives.items()}

    def dominates(one, other):
        pairs = [(sign * one[name], sign * other[name]) for name, sign in signs.items()]
        return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

    return [one for one in results if not any(dominates(other, one) for other in results)]


def config_text(result, keys, units=None):
    def text(value):
        return f"{value:.3f}" if isinstance(value, float) else str(value)

    units = units or {}
    return ", ".join(f"{name}={text(value)}{units.get(name, '')}"
                     for name, value in result.items() if name in keys)


def totals(results):
    return {"total_" + name: sum(one.get(name, 0) for one in results) for name in _TIMES}


class CacheFile:
    """A cache file of Kernel Tuner, which is read before a run and written after the run."""

    def __init__(self, name, kernel_name, configurations):
        path = str(name)
        self.path = Path(path if path.endswith(".json") else path + ".json")
        self._kernel_name = kernel_name
        self._configurations = configurations
        self.device_name = ""  # the device on which the file's times were measured
        self.entries = self._read() if self.path.is_file() else {}

    def _read(self):
        text = self.path.read_text().strip()
        try:
            document = json.loads(text)
        except ValueError:  # a file that Kernel Tuner has not closed lacks its last brackets
            document = json.loads(text.rstrip(",") + "}}")
        keys = list(self._configurations.params)
        if document.get("kernel_name") != self._kernel_name or list(
                document.get("tune_params_keys", keys)) != keys:
            raise NotSupported(f"cache: {self.path} is that of kernel "
                               f"'{document.get('kernel_name')}' with parameters "
                               f"{document.get('tune_params_keys')}; use another file")
        self.device_name = document.get("device_name", "")
        return document["cache"]

    def require_device(self, device, name):
        """Raises NotSupported if the file's times are from another device than `device`. `name`:
        the name of the device's model, or None if it is not known yet. Predicted and measured times
        are never mixed in a file."""
        theirs = self.device_name
        is_of_its_kind = theirs.startswith("virtual ") == device.startswith("virtual")
        if not theirs or (is_of_its_kind and name in (None, theirs)):
            return
        raise NotSupported(f"cache: {self.path} has times of '{theirs}', and the device is "
                           f"'{name or device}'; use another file, or name the device by "
                           f"{programs.DEVICE_VARIABLE}")

    def known(self):
        """The results in the file for configurations of the space, and the keys of all entries,
        also failed ones, for configurations of the space."""
        keys = {key_of(one): one for one in self._configurations.all()}
        results = [{**entry, **keys[key]} for key, entry in self.entries.items()
                   if key in keys and isinstance(entry.get("time"), (int, float))]
        return results, [key for key in self.entries if key in keys]

    def write(self, results, failed, device, problem_size):
        for entry in results + failed:
            configuration = {name: entry[name] for name in self._configurations.params}
            self.entries[key_of(configuration)] = entry
        document = {"device_name": device, "kernel_name": self._kernel_name,
                    "problem_size": _jsonable(problem_size),
                    "tune_params_keys": list(self._configurations.params),
                    "tune_params": self._configurations.params, "cache": self.entries}
        self.path.write_text(json.dumps(document, indent=1, default=_jsonable))


def _jsonable(value):
    if isinstance(value, ErrorConfig):
        return type(value).__name__
    if hasattr(value, "item"):
        return value.item()
    return value if isinstance(value, (str, int, float, list, tuple, dict)) else str(value)
