#!/usr/bin/env python3
"""Measures how many candidates per second Kernel Tuner judges, on the spaces of real_kernels/.
Kernel Tuner compiles one candidate after the other and checks each once against the problem's
reference. The script prints the best configuration as options of evo-judge.

Usage: compare_kernel_tuner.py [--count N] [--seconds S] [--strategy NAME] [SPACE[:SHAPE] ...]
Needs a GPU and the packages kernel_tuner, cuda-bindings and numpy.
"""
import argparse
import importlib.metadata
import json
import logging
import math
import pathlib
import time
import warnings

import kernel_tuner
import numpy
from cuda.bindings import driver

FOLDER = pathlib.Path(__file__).parent / "real_kernels"
DTYPES = {"f32": numpy.float32, "f64": numpy.float64, "i32": numpy.int32, "i64": numpy.int64}
VERSION = importlib.metadata.version("kernel_tuner")
OPTIONS = {"lang": "nvcuda", "compiler_options": ["-std=c++17"], "quiet": True}


def sm_count():
    driver.cuInit(0)
    return driver.cuDeviceGetAttribute(driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0)[1]


def value_of(expression, names):
    functions = {"ceil_div": lambda a, b: -(-a // b), "min": min, "max": max}
    return eval(str(expression), {"__builtins__": {}}, {**functions, "SM_COUNT": sm_count(), **names})


def arguments_of(problem, variables):
    generator = numpy.random.default_rng(1)
    arguments = []
    for argument in problem["arguments"]:
        dtype = DTYPES[argument["dtype"]]
        if argument["direction"] == "scalar":
            arguments.append(dtype(value_of(argument["value"], variables)))
            continue
        count = int(value_of(argument["extent"], variables))
        kind = argument.get("generator", {"distribution": "constant"})
        if kind["distribution"] == "normal":
            data = generator.standard_normal(count, dtype=numpy.float32)
        elif kind["distribution"] == "uniform":
            data = generator.uniform(kind["low"], kind["high"], count)
        else:
            data = numpy.zeros(count)
        arguments.append(data.astype(dtype))
    return arguments


def expected(problem, folder, macros, variables, arguments):
    reference = problem["reference"]
    grid = tuple(int(value_of(e, variables)) for e in reference["grid"])
    block = dict(zip(("block_size_x", "block_size_y", "block_size_z"), reference["block"]))
    results = kernel_tuner.run_kernel(reference["entry"], str(folder / reference["source"]), grid, arguments,
                                      {**block, **macros}, grid_div_x=[], grid_div_y=[], grid_div_z=[], **OPTIONS)
    return [a if p["direction"] in ("out", "inout") else None for p, a in zip(problem["arguments"], results)]


def tune(name, options):
    space_name, _, shape = name.partition(":")
    space = json.loads((FOLDER / "search_spaces" / f"{space_name}.json").read_text())
    folder = FOLDER / "kernel_templates" / space["problem"]
    problem = json.loads((folder / "problem.json").read_text())
    template = problem["templates"][space["template"]]
    variables = problem["shapes"][shape or space["shape"]]["variables"]
    macros = {name: int(value_of(e, variables)) for name, e in problem.get("macros", {}).items()}
    arguments = arguments_of(problem, variables)
    answer = expected(problem, folder, macros, variables, arguments)
    parameters = {p["macro"]: p["values"] for p in space["parameters"]}
    constraints = [c["expression"] for c in space.get("constraints", [])]

    def grid(config):
        sizes = [int(value_of(g, {**variables, **config})) for g in template["grid"]]
        return tuple(sizes) if len(sizes) > 1 else sizes[0]

    scale = max(float(abs(a).max()) for a in answer if a is not None)
    start = time.perf_counter()
    results, _ = kernel_tuner.tune_kernel(
        template["entry"], str(folder / template["source"]), grid, arguments,
        {**parameters, **{name: [value] for name, value in macros.items()}},
        grid_div_x=[], grid_div_y=[], grid_div_z=[], block_size_names=template["block"],
        restrictions=constraints, answer=answer, atol=1e-4 * scale, strategy=options.strategy,
        strategy_options={"max_fevals": options.count, **({"time_limit": options.seconds} if options.seconds else {})},
        **OPTIONS)
    seconds = time.perf_counter() - start
    timed = [r for r in results if isinstance(r["time"], float)]
    best = min(timed, key=lambda r: r["time"], default={"time": math.nan})
    chosen = " ".join(f"--set {macro}={best[macro]}" for macro in parameters if macro in best)
    print(f"{name}: Kernel Tuner {VERSION}: {len(results) / seconds:.2f} candidates/s ({len(timed)} timed, "
          f"{len(results) - len(timed)} failed, {seconds:.1f} s); best {best['time']:.4f} ms: {chosen}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20, help="candidates of each space")
    parser.add_argument("--seconds", type=float, help="end each search after this time")
    parser.add_argument("--strategy", default="random_sample", help="strategy of Kernel Tuner")
    parser.add_argument("spaces", nargs="*", metavar="SPACE[:SHAPE]", help="names of search_spaces/*.json; all of them by default")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    for name in options.spaces or sorted(p.stem for p in (FOLDER / "search_spaces").glob("*.json")):
        tune(name, options)


if __name__ == "__main__":
    main()
