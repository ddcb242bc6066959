"""python -m evo_tune run script.py: runs a Kernel Tuner script with evo-tune."""

import os
import runpy
import sys

from .errors import Error

_USAGE = """usage: python -m evo_tune run [OPTIONS] SCRIPT [ARGUMENTS]
       python -m evo_tune run [OPTIONS] -m MODULE [ARGUMENTS]

Runs a script of Kernel Tuner's unchanged: import kernel_tuner finds evo-tune.
With -m, runs a module instead, such as pytest with a file of tests.

Options:
  --max-seconds SECONDS  end each search after this time, unless the script
                         gives a time_limit
  --strategy NAME        search by this strategy where the script names none,
                         instead of timing all configurations

EVO_DEVICE chooses the device (default: a GPU, else virtual:l4); EVO_TUNE_KEEP
names a folder in which the files of the runs stay.
"""

#: Packages that Kernel Tuner scripts import, and why evo-tune does not need them.
_OTHERS = {"pycuda": "NumPy arrays serve as arguments", "cupy": "NumPy arrays serve as arguments"}


def _options(arguments):
    """Splits the command line into a dict of the options before the script's name, and the rest."""
    options = {"--max-seconds": None, "--strategy": None}
    while arguments and arguments[0].startswith("--"):
        name, is_joined, value = arguments[0].partition("=")
        if name not in options:
            raise Error(f"unknown option {name}; allowed: {', '.join(options)}")
        if not is_joined:
            value = "".join(arguments[1:2])
        if not value:
            raise Error(f"{name}: needs a value")
        options[name] = value
        arguments = arguments[1 if is_joined else 2:]
    if options["--max-seconds"] is not None:
        options["--max-seconds"] = _seconds(options["--max-seconds"])
    return options, arguments


def _seconds(text):
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < float("inf"):
        raise Error(f"--max-seconds: '{text}'; allowed: a positive number of seconds")
    return seconds


def _run(arguments):
    from .kernel_tuner import modules
    options, arguments = _options(arguments)
    if not arguments:
        raise Error("run: the name of a script is missing")
    script, arguments = arguments[0], arguments[1:]
    is_module = script == "-m" and len(arguments) > 0
    if not is_module and not os.path.isfile(script):
        raise Error(f"there is no file {script}")
    modules.install(options["--strategy"], options["--max-seconds"])
    sys.argv = arguments if is_module else [script, *arguments]
    sys.path.insert(0, os.getcwd() if is_module else os.path.dirname(os.path.abspath(script)))
    try:
        if is_module:
            runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(script, run_name="__main__")
    except ModuleNotFoundError as error:
        name = (error.name or "").split(".")[0]
        if name == "kernel_tuner":
            is_strategy = error.name.startswith(("kernel_tuner.strategies.",
                                                 "kernel_tuner.searchspace"))
            instead = ("docs/search.md says how to write a strategy of your own, in any language"
                       if is_strategy else "docs/python.md lists the supported modules")
            raise Error(f"{error.name} is not supported by evo-tune; {instead}") from None
        instead = _OTHERS.get(name)
        raise Error(f"{script} imports {name}, which is not installed"
                    + (f"; {instead}" if instead else f": pip install {name}")) from None
    except ImportError as error:
        if (error.name or "").split(".")[0] != "kernel_tuner":
            raise
        raise Error(f"{error}: not supported by evo-tune; docs/python.md lists the "
                    "supported names") from None
    except Exception as error:
        kind = type(error)
        if kind.__name__ != "CUDARuntimeError" or not kind.__module__.startswith("cupy"):
            raise
        raise Error(f"{script}: CuPy needs a GPU and its driver ({error}); {_OTHERS['cupy']}"
                    ) from None


def main(arguments):
    wants_help = not {"-h", "--help"}.isdisjoint(arguments[:2])
    if wants_help or len(arguments) < 2 or arguments[0] != "run":
        print(_USAGE, end="", file=sys.stdout if wants_help else sys.stderr)
        return 0 if wants_help else 2
    try:
        _run(arguments[1:])
    except (Error, TypeError) as error:
        if isinstance(error, TypeError) and ": allowed" not in str(error):
            raise
        print(f"evo_tune: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("evo_tune: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
