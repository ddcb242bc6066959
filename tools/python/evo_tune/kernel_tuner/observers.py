"""Kernel Tuner's observers, which add to each result what evo-tune measured for the kernel."""

import json
import math
from concurrent.futures import ThreadPoolExecutor

from .. import programs
from .errors import NotSupported
from .problem import NAME, read_json

_LAUNCHES_AT_ONCE = 4  # concurrent launches, which are not timed


def _number(value):
    return math.nan if value is None else float(value)


def _reported(name, factor=1):
    """A function that returns `factor` times the value that the driver reported under `name` while
    a kernel was timed."""
    return lambda gpu, time_ms: factor * _number(gpu.get(name))


def _energy(gpu, time_ms):
    """The energy of a launch in joules: the power during timing times the median time."""
    return _number(gpu.get("power_w")) * time_ms / 1000


def _unknown(gpu, time_ms):
    return math.nan


class BenchmarkObserver:
    """In Kernel Tuner, subclasses of BenchmarkObserver observe a running kernel, which evo-tune
    does not support."""

    instead = ("observers of your own are not called; evo-judge --json and the database have "
               "registers, times and energy of each kernel")

    def __init__(self, *_, **__):
        pass


class RegisterObserver:
    """Adds "num_regs", the number of registers per thread, to each result."""

    def observe(self, judged):
        for result, entry in judged.pairs:
            result["num_regs"] = entry["evo_tune"]["registers"]


class _CardObserver:
    """Adds values that the driver reported to each result. `figures` maps each name that a script
    may request to a function that computes the value from the driver's values and the time."""

    figures = {}

    def __init__(self, observables):
        name = type(self).__name__
        unknown = [one for one in observables if one not in self.figures]
        if unknown:
            raise NotSupported(f"{name}: {', '.join(map(str, unknown))} is not supported; allowed: "
                               + ", ".join(self.figures))
        self._observed = {one: self.figures[one] for one in observables}

    def observe(self, judged):
        missing = {}
        for result, entry in judged.pairs:
            gpu = entry["evo_tune"].get("gpu") or {}
            for name, figure in self._observed.items():
                result[name] = figure(gpu, result["time"])
                if math.isnan(result[name]):
                    missing[name] = True
        if missing:
            programs.say(f"{type(self).__name__}: {', '.join(missing)}: nan, because the "
                         "driver does not report these values; a virtual GPU reports none")


class NVMLObserver(_CardObserver):
    """Values from NVML, as Kernel Tuner's NVMLObserver names them."""

    figures = {"core_freq": _reported("sm_clock_mhz"), "mem_freq": _reported("memory_clock_mhz"),
               "temperature": _reported("temperature_c"), "nvml_power": _reported("power_w"),
               "nvml_energy": _energy}

    def __init__(self, observables=None, device=0, save_all=False, **_):
        del device, save_all
        super().__init__(list(observables or ["nvml_energy"]))


class TegraObserver(_CardObserver):
    """Values from NVML, with the names and units of Kernel Tuner's TegraObserver."""

    figures = {"core_freq": _reported("sm_clock_mhz", 1e6),
               "tegra_temp": _reported("temperature_c"), "tegra_power": _reported("power_w"),
               "tegra_energy": _energy}

    def __init__(self, observables, save_all=False, power_path="", temp_path=""):
        del save_all, power_path, temp_path
        super().__init__(list(observables))


class PMTObserver(_CardObserver):
    """Power and energy of platform "nvidia", from NVML; NaN for all other platforms."""

    figures = {f"{platform}_{name}": figure if platform == "nvidia" else _unknown
               for platform in ("nvidia", "powersensor2", "powersensor3", "likwid", "rapl", "rocm",
                                "xilinx")
               for name, figure in (("power", _reported("power_w")), ("energy", _energy))}

    def __init__(self, observable=None, use_continuous_observer=False, continuous_duration=1):
        del use_continuous_observer, continuous_duration
        if observable is None or isinstance(observable, str):
            observable = [observable or "nvidia"]
        platforms = [one[0] if isinstance(one, tuple) else one for one in observable]
        super().__init__([f"{one}_{name}" for one in platforms for name in ("energy", "power")])


class NCUObserver:
    """Nsight Compute's metrics for one launch of each kernel, measured after the search. Without a
    GPU, the time model predicts some metrics (docs/profile.md). Unknown metrics are nan."""

    def __init__(self, metrics=None, device=0, **_):
        del device
        self._metrics = list(metrics or [])
        if not self._metrics:
            raise NotSupported("NCUObserver: name the metrics: NCUObserver(metrics=[...])")

    def observe(self, judged):
        file = judged.folder / "kernel_templates" / NAME / "problem.json"
        before = file.read_text()

        def profiled(entry, metrics):
            gate = {"metrics": {f"m{i}": one for i, one in enumerate(metrics)},
                    "require": "m0 >= 0 || m0 < 0"}
            file.write_text(json.dumps({**json.loads(before), "profile": gate}))
            values, why = judged.profiled(entry)
            return {one: values.get(f"m{i}", math.nan) for i, one in enumerate(metrics)}, why

        try:
            known = self._known(judged, profiled)
            for result, entry in judged.pairs:
                figures = profiled(entry, known)[0] if known else {}
                result.update({**dict.fromkeys(self._metrics, math.nan), **figures})
        finally:
            file.write_text(before)

    def _known(self, judged, profiled):
        """Finds which of the requested metrics the device has, because an unknown metric disables
        the whole profile gate."""
        if not judged.pairs:
            return []
        entry = judged.pairs[0][1]
        if len(self._metrics) > 1 and profiled(entry, self._metrics)[1] is None:
            return self._metrics
        whys = {metric: profiled(entry, [metric])[1] for metric in self._metrics}
        for why in dict.fromkeys(filter(None, whys.values())):
            programs.say(f"NCUObserver: metrics are nan: {why}")
        return [metric for metric, why in whys.items() if why is None]


def require_known(observers):
    for observer in observers or []:
        if hasattr(observer, "observe"):
            continue
        say = getattr(observer, "instead", BenchmarkObserver.instead)
        raise NotSupported(f"observers: {type(observer).__name__} is not supported; {say}")


class Judged:
    """The results of a run for observers. `pairs`: pairs of a result and its entry in the cache
    file. `answer`: the expected outputs, or None."""

    def __init__(self, folder, device, pairs, setup=None, answer=None):
        self.folder, self.pairs, self.answer = folder, pairs, answer
        self._device, self._setup = device, setup
        self._of_outputs = {}

    def add_figure_of_outputs(self, name, figure):
        """Lets finish() add the value `name` to each result. The function `figure` computes the
        value from `answer` and the kernel's arguments after a launch."""
        self._of_outputs[name] = figure

    def finish(self):
        """If an observer needs outputs, launches each kernel once and adds the observer's values to
        its result."""
        if not self._of_outputs:
            return
        with ThreadPoolExecutor(_LAUNCHES_AT_ONCE) as pool:
            for (result, _), figures in zip(self.pairs, pool.map(self._figures, self.pairs)):
                result.update(figures)

    def _figures(self, pair):
        left = self._setup.launch(self.folder, self._device, self._settings(pair[1]))
        return {name: figure(self.answer, left) for name, figure in self._of_outputs.items()}

    def _settings(self, entry):
        space = read_json(self.folder / "search_spaces" / f"{NAME}.json")
        return [(one["macro"], entry[one["macro"]]) for one in space["parameters"]]

    def profiled(self, entry):
        """Profiles one configuration. Returns (values of the problem's metrics by name, None), or
        ({}, the reason of a failure)."""
        options = ["--space", f"search_spaces/{NAME}.json", "--device", self._device, "--profile",
                   "--json", "--allow-programs"]
        for macro, value in self._settings(entry):
            options += ["--set", f"{macro}={value}"]
        done = programs.run("evo-judge", options, self.folder, quiet=True)
        profile = json.loads(done.stdout).get("profile")
        if profile is None:
            lines = [line for line in done.stderr.splitlines() if "profile gate" in line]
            return {}, (lines or ["the profile gate was skipped"])[-1].split(": ", 1)[-1]
        return {name: its["value"] for name, its in profile["metrics"].items()}, None
