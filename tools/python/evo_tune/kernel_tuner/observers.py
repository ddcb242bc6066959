"""Kernel Tuner's observers. Their figures are those that evo-tune has for each kernel."""

import json
import math

from .. import programs
from .errors import NotSupported
from .problem import NAME, read_json

#: NVMLObserver's names for the figures of the GPU during timing.
_OF_THE_CARD = {"core_freq": "sm_clock_mhz", "mem_freq": "memory_clock_mhz",
                "temperature": "temperature_c", "nvml_power": "power_w"}
_ENERGY = "nvml_energy"


class BenchmarkObserver:
    """In Kernel Tuner, subclasses observe a running kernel; evo-tune does not support that."""

    instead = ("observers of your own are not called; evo-judge --json and the database have "
               "registers, times and energy of each kernel")

    def __init__(self, *_, **__):
        pass


class PMTObserver(BenchmarkObserver):
    instead = "NVMLObserver has the power of the card; evo-tune --objective energy counts energy"


class TegraObserver(BenchmarkObserver):
    instead = "Tegra's clocks are not read; NVMLObserver has those of a card"


class AccuracyObserver(BenchmarkObserver):
    instead = "errors of each kernel are in the database (checks), evo-elite shows the largest"


class RegisterObserver:
    """"num_regs": the registers of a thread."""

    def observe(self, judged):
        for result, entry in judged.pairs:
            result["num_regs"] = entry["evo_tune"]["registers"]


class NVMLObserver:
    """Clocks, temperature and power are those that the driver reported while the kernel was timed.
    The energy of a launch, in joules, is this power times the median time."""

    def __init__(self, observables=None, device=0, save_all=False, **_):
        del device, save_all
        self._observables = list(observables or [_ENERGY])
        unknown = [one for one in self._observables if one not in (*_OF_THE_CARD, _ENERGY)]
        if unknown:
            raise NotSupported(f"NVMLObserver: {', '.join(unknown)} is not supported; allowed: "
                               + ", ".join([*_OF_THE_CARD, _ENERGY]))

    def observe(self, judged):
        is_missing = False
        for result, entry in judged.pairs:
            card = entry["evo_tune"].get("card") or {}
            power = _number(card.get("power_w"))
            figures = {name: _number(card.get(its)) for name, its in _OF_THE_CARD.items()}
            figures[_ENERGY] = power * result["time"] / 1000
            result.update({name: figures[name] for name in self._observables})
            is_missing |= any(math.isnan(figures[name]) for name in self._observables)
        if is_missing:
            programs.say("NVMLObserver: figures that the driver does not report are nan; a "
                         "virtual GPU has none")


class NCUObserver:
    """Nsight Compute's metrics for one launch of each kernel, taken after the search. Without a
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
        """The metrics that the device has. They are selected first, because an unknown metric
        disables the whole profile gate."""
        if not judged.pairs:
            return []
        entry = judged.pairs[0][1]
        if len(self._metrics) > 1 and profiled(entry, self._metrics)[1] is None:
            return self._metrics
        whys = {metric: profiled(entry, [metric])[1] for metric in self._metrics}
        for why in dict.fromkeys(filter(None, whys.values())):
            programs.say(f"NCUObserver: nan: {why}")
        return [metric for metric, why in whys.items() if why is None]


def _number(value):
    return math.nan if value is None else float(value)


def require_known(observers):
    for observer in observers or []:
        if hasattr(observer, "observe"):
            continue
        say = getattr(observer, "instead", BenchmarkObserver.instead)
        raise NotSupported(f"observers: {type(observer).__name__} is not supported; {say}")


class Judged:
    """The results of the run in a folder, each with its entry in the cache file."""

    def __init__(self, folder, device, pairs):
        self.folder, self.pairs, self._device = folder, pairs, device

    def profiled(self, entry):
        """Profiles one configuration. Returns (values of the problem's metrics by name, None), or
        ({}, the reason of a failure)."""
        space = read_json(self.folder / "search_spaces" / f"{NAME}.json")
        options = ["--space", f"search_spaces/{NAME}.json", "--device", self._device, "--profile",
                   "--json", "--allow-programs"]
        for parameter in space["parameters"]:
            name = parameter["macro"]
            options += ["--set", f"{name}={entry[name]}"]
        done = programs.run("evo-judge", options, self.folder, quiet=True)
        profile = json.loads(done.stdout).get("profile")
        if profile is None:
            lines = [line for line in done.stderr.splitlines() if "profile gate" in line]
            return {}, (lines or ["the profile gate was skipped"])[-1].split(": ", 1)[-1]
        return {name: its["value"] for name, its in profile["metrics"].items()}, None
