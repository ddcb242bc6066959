"""tune(): tunes a kernel from arrays and a reference function."""

import json
import tempfile
from pathlib import Path

import numpy

from . import programs
from .calls import CallServer
from .errors import Error
from .kernel_tuner import arguments as arrays
from .kernel_tuner.configurations import Configurations
from .kernel_tuner.problem import read_json
from .kernel_tuner.sources import MAIN, Sources
from .result import Result
from .strategy import StrategyServer

_TOLERANCE_OF_TYPE = {"f64": 1e-10, "f32": 1e-4, "f16": 1e-2, "bf16": 5e-2}
_NO_BOUND = 1e30


def tune(source, params, inputs, reference, kernel=None, grid=None, block=None, shapes=None,
         shared=0, restrictions=None, generations=20, device=None, seed=1, max_seconds=None,
         name="tuned", tolerance=None, strategy=None, quiet=False):
    """Searches for the fastest correct configuration of a kernel, and returns a Result.

    source: CUDA C++, or the name of a file. params: values of each macro, the default first.
    inputs: the kernel's arrays and numbers by its parameters' names, as a dict, or as a function of
    a shape's variables that returns one. Arrays are NumPy's, PyTorch's or CuPy's. The first check
    uses the content of the arrays; later checks draw normal numbers of the same mean and deviation
    (for integers: uniform between the smallest and the largest element). An array whose elements
    are all equal has the same content in all checks. reference: a function that takes the inputs by
    name and returns the kernel's outputs: an array, a tuple in the order of the parameters, or a
    dict. tune() calls `reference` for every seed and shape. shapes: variables by the shape's name;
    the last shape is timed.
    kernel: the kernel's name, if the source has several kernels. grid, block, shared: numbers or
    expressions of variables, macros and the inputs that are whole numbers. tolerance: the largest
    relative L2 error of an output (default: by the types of the outputs). strategy: as evo-tune
    --strategy, or a function that makes a strategy for a space (evo_tune.strategy). After an
    interrupt, the Result has the results so far.
    """
    if grid is None:
        raise TypeError("grid: allowed: numbers or expressions, such as 'ceil_div(N, BLOCK)'")
    if shapes is None:
        shapes = {"given": {}}
    folder = Path(tempfile.mkdtemp(prefix="evo-tune-"))
    result = Result(folder, name)
    task = _Task(folder, name, source, params, restrictions, kernel)
    server = CallServer(folder, lambda case: task.answer(case, reference))
    try:
        task.read(inputs, reference, shapes)
        task.write(server.program, _list(grid), _list(block), shared, tolerance)
        server.write(task.problem_folder)
        options = ["--device", device or programs.choose_device(), "--seed", seed, "--shape",
                   list(shapes)[-1]]
        if max_seconds is not None:
            options += ["--max-seconds", max_seconds]
        result.interrupted = _with_strategy(
            strategy, folder, lambda more: _search(task, generations, options + more, quiet))
    finally:
        server.close()
    return result


def _with_strategy(strategy, folder, search):
    """Searches with a named strategy, or with a strategy object that runs in this process."""
    if strategy is None:
        return search([])
    if not callable(strategy):
        return search(["--strategy", strategy])
    server = StrategyServer(folder, strategy)
    try:
        return search(["--strategy", server.name])
    except Error:
        if server.failure is not None:
            raise server.failure from None
        raise
    finally:
        server.close()


def _list(given):
    if given is None or isinstance(given, (list, tuple)):
        return given if given is None else list(given)
    return [given]


def _search(task, generations, options, quiet):
    """Runs evo-tune. Returns True if the user interrupted the run."""
    options = ["--space", f"search_spaces/{task.name}.json", "--db", "run.db", "--allow-programs",
               "--generations", generations, "--json", *options]
    with _Progress(generations, quiet) as progress:
        try:
            programs.run("evo-tune", options, task.folder, quiet=True, on_line=progress.see)
        except KeyboardInterrupt:
            return True
    return False


class _Progress:
    """Shows the progress of a run, unless `quiet`: a progress bar if tqdm is installed, else a line
    for each generation."""

    def __init__(self, generations, quiet):
        self._quiet = quiet
        self._reason = ""  # why the first rejected candidate failed
        self._bar = None
        if not quiet:
            try:
                from tqdm.auto import tqdm
                self._bar = tqdm(total=generations, unit="generation")
            except ImportError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._bar is not None:
            self._bar.close()

    def see(self, line):
        event = json.loads(line)
        if event.get("event") == "evaluated":
            self._reason = self._reason or event.get("reason", "")
        if event.get("event") == "notice" and not self._quiet:
            programs.say(event["text"])
        if event.get("event") == "finished" and event["green"] == 0 and not self._quiet:
            programs.say("no configuration is correct; the first failed by: " + self._reason)
        if event.get("event") != "generation" or self._quiet:
            return
        elite = event.get("elite")
        text = f"best {elite[0]['p50_us']:.2f} µs" if elite else "nothing green yet"
        if self._bar is not None:
            self._bar.set_postfix_str(text)
            self._bar.update(1)
        else:
            programs.say(f"generation {event.get('generation')}: {text}")


class _Task:
    """The files of a problem, and the data of its shapes."""

    def __init__(self, folder, name, source, params, restrictions, kernel):
        self.folder = folder
        self.name = name
        self._kernel = kernel
        self._configurations = Configurations(params, restrictions, [])
        self._sources = Sources(source, self._configurations, None)
        self.problem_folder = folder / "kernel_templates" / name
        self.problem_folder.mkdir(parents=True)
        (folder / "search_spaces").mkdir()
        self._facts = None
        self._given = {}  # for each shape: the inputs by name
        self._written = {}  # for each shape: the expected outputs by name
        self._variables = {}
        self._likes = {}  # by name: an input as given, whose type shows its library

    def read(self, inputs, reference, shapes):
        """Reads the kernel's parameters and each shape's inputs and expected outputs."""
        self._facts = self._look()
        names = [one["name"] for one in self._facts["arguments"]]
        for shape, variables in shapes.items():
            given = inputs(**variables) if callable(inputs) else dict(inputs)
            unknown = [one for one in given if one not in names]
            if unknown:
                raise Error(f"inputs: the kernel has no parameter {', '.join(unknown)}; it has "
                            + ", ".join(names))
            self._likes.update(given)
            self._given[shape] = {one: arrays.to_numpy(value) for one, value in given.items()}
            self._written[shape] = self._named(reference(**given))
            self._variables[shape] = {
                **self._whole(given), **variables, **{_extent_name(one): int(numpy.size(value))
                                for one, value in {**self._given[shape],
                                                   **self._written[shape]}.items()
                                if arrays.is_array(value)}}

    def _whole(self, given):
        """The inputs that are whole numbers, whose names the expressions for grid, block and shared
        may use."""
        numbers = {name: _number(value) for name, value in given.items()
                   if not arrays.is_array(arrays.to_numpy(value))}
        return {name: value for name, value in numbers.items()
                if isinstance(value, int) and name not in self._configurations.params}

    def _look(self):
        look = self.folder / "init"
        self._sources.write(look)
        options = []
        for name, macro in self._configurations.macros.items():
            values = [self._configurations.code(name, value)
                      for value in self._configurations.params[name]]
            options += ["--param", f"{macro}=" + ",".join(str(int(v)) if isinstance(v, bool)
                                                          else str(v) for v in values)]
        if self._kernel is not None:
            options += ["--entry", self._kernel]
        programs.run("evo-init", [MAIN, "--name", self.name, "--out", "found", *options], look)
        facts = read_json(look / "found" / "kernel_templates" / self.name / "problem.json")
        self._kernel = facts["templates"][self.name]["entry"]
        return facts

    def _outputs(self):
        return [one["name"] for one in self._facts["arguments"]
                if one.get("direction") in ("out", "inout")]

    def _named(self, result):
        """The arrays that the reference returned, by the names of the kernel's outputs."""
        outputs = self._outputs()
        if isinstance(result, dict):
            named = result
        else:
            values = result if isinstance(result, (tuple, list)) else [result]
            if len(values) != len(outputs):
                raise Error(f"reference: returns {len(values)} arrays; the kernel writes "
                            + ", ".join(outputs))
            named = dict(zip(outputs, values))
        if set(named) != set(outputs):
            raise Error(f"reference: returns {', '.join(named)}; the kernel writes "
                        + ", ".join(outputs))
        return {one: numpy.asarray(arrays.to_numpy(value)) for one, value in named.items()}

    def answer(self, case_folder, reference):
        """Calls the user's reference function for one set of inputs of the correctness gate, and
        writes the expected outputs. Returns the exit code and the message of the program."""
        case = json.loads((case_folder / "case.json").read_text())
        given = {}
        for name, value in self._given[case["shape"]].items():
            if not arrays.is_array(value):
                given[name] = value
                continue
            elements = numpy.load(case_folder / f"{name}.npy").astype(
                arrays.flat(value).dtype, copy=False)
            given[name] = _as(elements.view(value.dtype).reshape(value.shape), self._likes[name])
        for name, value in self._named(reference(**given)).items():
            numpy.save(case_folder / f"{name}.npy", arrays.flat(value))
        return 0, ""

    def write(self, program, grid, block, shared, tolerance):
        template = self._facts["templates"][self.name]
        block = block if block is not None else template["block"]
        written = [self._argument(one) for one in self._facts["arguments"]]
        bound = tolerance if tolerance is not None else max(
            [_TOLERANCE_OF_TYPE.get(one["dtype"], 0) for one in written
             if one.get("direction") in ("out", "inout")], default=0)
        elements = " + ".join(_extent_name(one) for one in self._arrays())
        problem = {
            "format": "evo-tune problem 1", "name": self.name, "description": self._kernel,
            "arguments": written,
            "shapes": {shape: {"variables": self._variables[shape], "check": True}
                       for shape in self._given},
            "flops": elements, "bytes": 1, "reference": {"program": program},
            "tolerance": {"max_abs_error": _NO_BOUND if bound else 0,
                          "bad_abs_error": _NO_BOUND if bound else 0, "bad_share": 0,
                          "relative_l2": bound},
            "templates": {self.name: {
                "source": MAIN, "entry": self._kernel, "grid": grid, "block": block,
                "dynamic_shared_bytes": shared,
                "independent_ctas": template.get("independent_ctas", 0),
                "deterministic": template.get("deterministic", True)}}}
        self._sources.write(self.problem_folder)
        (self.problem_folder / "problem.json").write_text(json.dumps(problem, indent=1))
        configurations = self._configurations
        rows = configurations.rows() if configurations.needs_table() else None
        space = {"format": "evo-tune space 1", "name": self.name, "problem": self.name,
                 "template": self.name, "arch": "sm_89", "shape": list(self._given)[-1],
                 **configurations.space(configurations.default(), self.name, rows)}
        (self.folder / "search_spaces" / f"{self.name}.json").write_text(json.dumps(space, indent=1))

    def _arrays(self):
        first = next(iter(self._given))
        both = {**self._given[first], **self._written[first]}
        return [one for one, value in both.items() if arrays.is_array(value)]

    def _argument(self, fact):
        name = fact["name"]
        first = next(iter(self._given))
        if fact["direction"] == "scalar":
            if name not in self._given[first]:
                raise Error(f"inputs: the value of {name} is missing")
            return {"name": name, "direction": "scalar", "dtype": fact["dtype"],
                    "value": self._scalar(name)}
        argument = {"name": name, "direction": fact["direction"], "dtype": fact["dtype"],
                    "extent": _extent_name(name)}
        if name not in self._given[first]:
            if fact["direction"] == "in":
                raise Error(f"inputs: the array {name} is missing")
            return {**argument, "direction": "out"}
        if fact["direction"] == "out":
            argument["direction"] = "inout"
        for shape, given in self._given.items():
            numpy.save(self.problem_folder / f"{name}_{shape}.npy", arrays.flat(given[name]))
        argument["generator"] = {"file": f"{name}_{{shape}}.npy",
                                 **_drawn_like(arrays.flat(self._given[first][name]))}
        return argument

    def _scalar(self, name):
        """The value of a scalar input for problem.json: a number, or the name of a shape variable
        if the value differs between shapes."""
        values = {shape: _number(given[name]) for shape, given in self._given.items()}
        if len(set(values.values())) == 1:
            return next(iter(values.values()))
        if any(value != int(value) for value in values.values()):
            raise Error(f"inputs: {name} differs between shapes and is no whole number")
        for shape, value in values.items():
            self._variables[shape][f"value_of_{name}"] = int(value)
        return f"value_of_{name}"


def _number(value):
    return value.item() if hasattr(value, "item") else value


def _extent_name(name):
    return f"elements_of_{name}"


def _drawn_like(elements):
    """A distribution like that of `elements`, from which later checks draw inputs; the first check
    uses `elements`. Empty if all elements are equal: then every check uses `elements`."""
    if elements.dtype.kind in "iu":
        low, high = int(elements.min()), int(elements.max())
        if low == high:
            return {}
        return {"distribution": "integers", "low": low, "high": high}
    mean, deviation = float(elements.astype(float).mean()), float(elements.astype(float).std())
    return {"distribution": "normal", "mean": mean, "std": deviation} if deviation > 0 else {}


def _as(array, like):
    """Converts a NumPy array to an array of the library of `like` (PyTorch, CuPy or NumPy)."""
    if hasattr(like, "detach"):
        import torch
        return torch.from_numpy(array).to(like.device)
    if type(like).__module__.split(".")[0] == "cupy":
        import cupy
        return cupy.asarray(array)
    return array
