"""Modules with Kernel Tuner's names, so that scripts for Kernel Tuner run with evo-tune
unchanged."""

import functools
import sys
import types

from .. import programs
from . import errors, files, pinned, results, strategies
from .accuracy import AccuracyObserver
from .choices import Tunable, TunablePrecision
from .helpers import PythonKernel
from .observers import (BenchmarkObserver, NCUObserver, NVMLObserver, PMTObserver, RegisterObserver,
                        TegraObserver)
from .tune import run_kernel, tune_kernel

ROOT = "kernel_tuner"


def _not_here(name, instead):
    def refuse(*_, **__):
        raise errors.NotSupported(f"{name} is not supported; {instead}")
    return refuse


_CLOCKS = "set the clocks by nvidia-smi and tune at each clock, or use evo-tune --objective energy"

#: The content of each module.
_CONTENT = {
    "": {"tune_kernel": tune_kernel, "run_kernel": run_kernel,
         "tune_kernel_T1": _not_here("tune_kernel_T1", "evo-init --t1 FILE reads such files"),
         "tune_cache": _not_here("tune_cache", "use simulation_mode with a cache file")},
    "interface": {"tune_kernel": tune_kernel, "run_kernel": run_kernel},
    "integration": {"store_results": files.store_results,
                    "create_device_targets": files.create_device_targets},
    "file_utils": {"store_output_file": files.store_output_file,
                   "store_metadata_file": files.store_metadata_file},
    "util": {"get_best_config": results.best_of, "get_config_string": files.get_config_string,
             "ErrorConfig": errors.ErrorConfig, "InvalidConfig": errors.InvalidConfig,
             "CompilationFailedConfig": errors.CompilationFailedConfig,
             "RuntimeFailedConfig": errors.RuntimeFailedConfig},
    "accuracy": {"Tunable": Tunable, "TunablePrecision": TunablePrecision,
                 "AccuracyObserver": AccuracyObserver},
    "kernelbuilder": {"PythonKernel": PythonKernel},
    "strategies": strategies.KNOWN,
    "observers": {"BenchmarkObserver": BenchmarkObserver},
    "observers.observer": {"BenchmarkObserver": BenchmarkObserver},
    "observers.nvml": {"NVMLObserver": NVMLObserver,
                       "get_nvml_gr_clocks": _not_here("get_nvml_gr_clocks", _CLOCKS)},
    "observers.ncu": {"NCUObserver": NCUObserver},
    "observers.pmt": {"PMTObserver": PMTObserver},
    "observers.tegra": {"TegraObserver": TegraObserver},
    "observers.register": {"RegisterObserver": RegisterObserver},
    "energy": {},
    "energy.energy": {"create_power_frequency_model": _not_here(
        "create_power_frequency_model", _CLOCKS)},
}


def _module(name, content):
    full = f"{ROOT}.{name}" if name else ROOT
    module = types.ModuleType(full, f"Replaces {full}: evo-tune does the work.")
    module.__path__ = []  # a package: it may have submodules
    module.__dict__.update(content)
    return module


def _bounded(strategy, max_seconds):
    """tune_kernel with defaults for strategy and time limit, for scripts that give none."""
    if strategy is not None:
        strategies.ours(strategy)  # raises NotSupported for an unknown name

    @functools.wraps(tune_kernel)
    def tune(*arguments, **keywords):
        if keywords.get("strategy") is None:
            keywords["strategy"] = strategy
        if max_seconds is not None:
            keywords["strategy_options"] = {"time_limit": max_seconds,
                                            **(keywords.get("strategy_options") or {})}
        return tune_kernel(*arguments, **keywords)

    return tune


def install(strategy=None, max_seconds=None):
    """Makes `import kernel_tuner` find the modules of evo-tune instead of Kernel Tuner's.
    `strategy`, `max_seconds`: the strategy and time limit for scripts that name none."""
    if strategy is not None or max_seconds is not None:
        for name in ("", "interface"):
            _CONTENT[name]["tune_kernel"] = _bounded(strategy, max_seconds)
    made = {name: _module(name, content) for name, content in _CONTENT.items()}
    for name, module in made.items():
        sys.modules[module.__name__] = module
        parent, _, last = name.rpartition(".")
        if name:
            setattr(made[parent], last, module)
    pinned.install()
    programs.say("in this process, evo-tune replaces the package kernel_tuner")
