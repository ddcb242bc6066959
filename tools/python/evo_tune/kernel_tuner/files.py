"""Writes files with results, as Kernel Tuner's functions of the same names do."""

import json
import platform
import re
from pathlib import Path

from . import results as outcomes
from .configurations import plain
from .errors import NotSupported


def get_config_string(params, keys=None, units=None):
    """A configuration and its measured values as text."""
    return outcomes.config_text(params, keys or list(params), units)


def _write(name, document):
    path = Path(name)
    if path.suffix != ".json":
        path = path.with_name(path.name + ".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, default=str))


def store_output_file(output_filename, results, tune_params, objective="time"):
    """Writes results as a T4 file."""
    def entry(result):
        figures = {name: plain(value) for name, value in result.items()
                   if name not in tune_params and isinstance(plain(value), (int, float))}
        times = {"compilation": result.get("compile_time", 0),
                 "benchmark": result.get("benchmark_time", 0),
                 "validation": result.get("verification_time", 0), "framework": 0,
                 "search_algorithm": result.get("strategy_time", 0),
                 "runtimes": result.get("times", [])}
        return {"timestamp": result.get("timestamp", ""),
                "configuration": {name: plain(result[name]) for name in tune_params},
                "times": times, "invalidity": "correct", "correctness": 1,
                "measurements": [{"name": name, "value": value,
                                  "unit": "ms" if name.endswith("time") else ""}
                                 for name, value in figures.items()],
                "objectives": objective if isinstance(objective, list) else [objective]}

    _write(output_filename, {"schema_version": "1.0.0",
                             "results": [entry(one) for one in results]})


def store_metadata_file(metadata_filename):
    """Writes a description of the machine, as far as Python knows it, to a file."""
    _write(metadata_filename, {"operating_system": platform.platform(),
                               "machine": platform.machine(),
                               "python": platform.python_version()})


def store_results(results_filename, kernel_name, kernel_string, tune_params, problem_size, results,
                  env, top=3, objective=None, objective_higher_is_better=None):
    """Writes the best configuration of `results`, and all that are less than `top` percent worse,
    to a file. These replace the file's entries for this device and problem size; other entries
    stay."""
    del kernel_string
    objective, is_higher_better = outcomes.objective_of(objective, objective_higher_is_better)
    path = Path(results_filename)
    document = json.loads(path.read_text()) if path.is_file() else {
        "version_number": "1.0", "kernel_name": kernel_name, "objective": objective,
        "objective_higher_is_better": is_higher_better, "tunable_parameters": list(tune_params),
        "data": []}
    if document.get("objective") != objective:
        raise NotSupported(f"results_filename: the objective of {results_filename} is not "
                           f"'{objective}'; choose another file")
    sizes = problem_size if isinstance(problem_size, (list, tuple)) else (problem_size,)
    here = {"device_name": re.sub("[^0-9a-zA-Z]+", "_", env.get("device_name", "").strip()),
            "problem_size": "x".join(str(size) for size in sizes)}
    document["data"] = [entry for entry in document["data"]
                        if any(entry[key] != value for key, value in here.items())]
    timed = [one for one in results if isinstance(one.get(objective), (int, float))]
    values = [one[objective] for one in timed]
    best = (max if is_higher_better else min)(values, default=0)
    margin = abs(best) * top / 100
    for one in timed:
        if one[objective] == best or abs(one[objective] - best) < margin:
            parameters = {name: plain(one[name]) for name in tune_params}
            document["data"].append({**here, "tunable_parameters": parameters,
                                     objective: one[objective]})
    path.write_text(json.dumps(document, indent=1))


def create_device_targets(header_filename, results_filename, objective=None,
                          objective_higher_is_better=None):
    """Writes a C header from the file that store_results() wrote. A macro TARGET_ with a device's
    name (_ replaces all but letters and digits) chooses a configuration for this device; without
    such a macro, the header has a configuration for all devices. As in Kernel Tuner, this is the
    configuration that the file has for most devices and problem sizes; from several such
    configurations, the one with the best sum of the objective. The objective is the file's. While a
    kernel is tuned, the header defines nothing, because the tuner sets the macros."""
    del objective, objective_higher_is_better
    document = json.loads(Path(results_filename).read_text())
    data, objective = document["data"], document.get("objective")
    better = max if document.get("objective_higher_is_better", False) else min
    if not data or not objective:
        raise NotSupported(f"results_filename: {results_filename} has no results of "
                           "store_results()")

    def defines(entries):
        found = {}  # values of the objective by configuration
        for entry in entries:
            configuration = tuple(entry["tunable_parameters"].items())
            found.setdefault(configuration, []).append(entry[objective])
        most = max(len(values) for values in found.values())
        common = [one for one, values in found.items() if len(values) == most]
        chosen = better(common, key=lambda one: sum(found[one]))
        return [f"#define {name} {value}" for name, value in chosen]

    lines = ["// The best configurations of " + document["kernel_name"], "#pragma once",
             "#ifndef kernel_tuner  // defined while a kernel is tuned"]
    for number, device in enumerate(sorted({entry["device_name"] for entry in data})):
        lines.append(f"#{'el' if number else ''}if defined(TARGET_{device})")
        lines += defines([entry for entry in data if entry["device_name"] == device])
    lines += ["#else", *defines(data), "#endif", "#endif"]
    Path(header_filename).write_text("\n".join(lines) + "\n")
