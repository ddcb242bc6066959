"""Writes the folder that evo-tune's programs read: kernel, data, problem.json and the space
file."""

import json
import math
import re
import shutil

import numpy

from .. import programs
from ..errors import Error
from . import arguments as given_arguments
from .errors import NotSupported
from .sources import MAIN

NAME = "tuned"
_DEFAULT_RTOL = 1e-5  # the default of numpy.allclose
#: The largest relative L2 error of outputs, by type, where Judgement.tolerance() does not use the
#: bounds of numpy.allclose. The error may result from sums in another order.
_L2_OF_TYPE = {"f64": 1e-10, "f32": 1e-4, "f16": 1e-2, "bf16": 5e-2}
_NO_BOUND = 1e30


def read_json(path):
    return json.loads(re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE))


class Problem:
    """The files of the problem to tune, in a folder for evo-tune's programs."""

    def __init__(self, folder, configurations, sources, kernel_name, textures):
        self.folder = folder
        self.configurations = configurations
        self.sources = sources
        self.textures = textures
        self.entry = kernel_name
        for name, macro in configurations.number_macros.items():
            self.entry = re.sub(rf"\b{re.escape(name)}\b", macro, self.entry)
        self.problem_folder = folder / "kernel_templates" / NAME
        self.problem_folder.mkdir(parents=True)
        (folder / "search_spaces").mkdir()
        self.names = []  # of the arguments
        self.written = []  # positions of arrays that the kernel writes

    def facts(self, default):
        """Runs evo-init and returns its problem.json, which says how the compiled kernel uses its
        parameters."""
        look = self.folder / "init"
        look.mkdir()
        self.sources.write(look, default)
        row = dict(zip([*self.configurations.macros.values(), *self.configurations.columns],
                       self.configurations.row(default)))
        options = []
        for macro, value in row.items():
            if not (self.sources.mentions(macro) or macro in self.entry):
                continue  # the parameter affects only the launch, or nothing
            options += ["--param", f"{macro}={_number(value)}"]
        try:
            programs.run("evo-init", [MAIN, "--entry", self.entry, "--name", NAME, "--out",
                                      "found", *options], look)
            return read_json(look / "found" / "kernel_templates" / NAME / "problem.json")
        finally:
            shutil.rmtree(look)

    def write(self, found, values, constants, grid, block, shared, options, judged):
        """Writes the problem. `found`: facts(). `values`: the kernel's arguments. `constants`:
        arrays by __constant__ variable. `options`: for the compiler. `judged`: a Judgement."""
        parameters = [one for one in found["arguments"] if one.get("kind") != "constant"
                      and one["name"] not in self.textures]
        if len(parameters) != len(values):
            raise Error(f"arguments: {self.entry} takes {len(parameters)} parameters, "
                        f"{len(values)} arguments are given")
        self.sources.write(self.problem_folder)
        described = {fact["name"]: self._argument(position, fact, value, judged)
                     for position, (fact, value) in enumerate(zip(parameters, values))}
        described.update(self._textures(found["arguments"]))
        written = [described[one["name"]] for one in found["arguments"]
                   if one["name"] in described]
        known = [one for one in found["arguments"] if one.get("kind") == "constant"]
        written += [self._constant(one, constants) for one in known
                    if _symbol(one) in constants]
        unset = [_symbol(one) for one in known if _symbol(one) not in constants]
        template = found["templates"][NAME]
        problem = {
            "format": "evo-tune problem 1", "name": NAME,
            "description": f"{self.entry}, as tune_kernel was given it",
            "arguments": written,
            "shapes": {"given": {"variables": {"ELEMENTS": _elements(values)}, "check": True}},
            "flops": _elements(values), "bytes": 1,
            "tolerance": judged.tolerance([one.get("dtype") for one in written
                                           if one.get("direction") == "inout"]),
            "templates": {NAME: {
                "source": MAIN, "entry": self.entry, "grid": grid, "block": block,
                "dynamic_shared_bytes": shared,
                "independent_ctas": template.get("independent_ctas", 0),
                "deterministic": template.get("deterministic", True)}}}
        problem.update(judged.keys(self.names))
        if unset:
            problem["unset_constants"] = unset
        self._save(self.problem_folder / "problem.json", problem)
        self._options = options

    def allow_degenerate(self):
        """Changes problem.json so that evo-tune accepts outputs that are the same for all elements
        or all inputs."""
        path = self.problem_folder / "problem.json"
        problem = read_json(path)
        for argument in problem["arguments"]:
            if argument.get("direction") == "inout":
                argument["degenerate"] = True
        self._save(path, problem)

    def write_space(self, default, rows=None):
        space = {"format": "evo-tune space 1", "name": NAME, "problem": NAME, "template": NAME,
                 "arch": "sm_89", "shape": "given", "compiler_options": self._options}
        space.update(self.configurations.space(default, NAME, rows))
        self._save(self.folder / "search_spaces" / f"{NAME}.json", space)

    def _textures(self, known):
        parameters = {one["name"] for one in known if one.get("kind") == "texture"}
        unknown = [name for name in self.textures if name not in parameters]
        if unknown:
            raise NotSupported(f"texmem_args['{unknown[0]}']: the source has neither a texture "
                               "reference nor a cudaTextureObject_t parameter of that name")
        return {name: self.textures.argument(name, self.problem_folder)
                for name in self.textures}

    def _argument(self, position, fact, value, judged):
        name = fact["name"]
        self.names.append(name)
        where = f"arguments[{position}] ({name})"
        if fact.get("kind") == "texture":
            raise NotSupported(f"{where}: leave texture objects out of the arguments; "
                               f"texmem_args={{'{name}': array}} describes them")
        if fact["direction"] == "scalar":
            return self._scalar(fact, value, where)
        if not given_arguments.is_array(value):
            raise Error(f"{where}: the kernel takes a pointer, a number is given")
        elements = given_arguments.flat(value)
        dtype = given_arguments.dtype_name(elements.dtype, where)
        numpy.save(self.problem_folder / f"{name}.npy", elements)
        argument = {"name": name, "dtype": dtype, "extent": int(elements.size),
                    "generator": {"file": f"{name}.npy"}}
        if fact["direction"] == "in":
            return {**argument, "direction": "in"}
        self.written.append(position)
        argument["direction"] = "inout"
        if not judged.compares(position):
            argument["compare"] = False
        elif judged.save(position, self.problem_folder, name):
            argument["degenerate"] = True
            programs.say(f"answer[{position}] ({name}) has the same value everywhere: kernels that "
                         "compute nothing may pass")
        return argument

    @staticmethod
    def _scalar(fact, value, where):
        if "fields" in fact:
            raise NotSupported(f"{where}: structures are described in problem.json; start from "
                               "evo-init (docs/file-formats.md)")
        if given_arguments.is_array(value):
            raise Error(f"{where}: the kernel takes a number, an array is given")
        return {"name": fact["name"], "direction": "scalar", "dtype": fact["dtype"],
                "value": given_arguments.scalar_value(value)}

    def _constant(self, fact, constants):
        elements = given_arguments.flat(constants[_symbol(fact)])
        numpy.save(self.problem_folder / f"{fact['name']}.npy", elements)
        return {**fact, "dtype": given_arguments.dtype_name(elements.dtype, "cmem_args"),
                "extent": int(elements.size), "generator": {"file": f"{fact['name']}.npy"}}

    @staticmethod
    def _save(path, content):
        path.write_text(json.dumps(content, indent=1))


def _number(value):
    return int(value) if isinstance(value, bool) else value


def _symbol(fact):
    return fact.get("symbol", fact["name"])


def _elements(values):
    return max(1, sum(int(value.size) for value in values if given_arguments.is_array(value)))


class Judgement:
    """How a kernel's outputs are checked: against the script's answer, by its verify function, or
    against the outputs of the default configuration."""

    def __init__(self, answer, atol, verify, values, is_coarse=False):
        """`is_coarse`: the tolerance depends only on the types of the outputs, not on
        numpy.allclose."""
        self._answer = None
        self._atol = atol
        self._is_coarse = is_coarse
        self.verify = verify
        if answer is None:
            if verify is not None:
                raise TypeError("verify: needs an answer to verify against")
            return
        if not isinstance(answer, (list, tuple)) or len(answer) != len(values):
            raise TypeError(f"answer: allowed: a list of {len(values)} entries, one for each "
                            "argument, None for arguments that are not compared")
        self._answer = [given_arguments.to_numpy(one) for one in answer]
        if all(one is None for one in self._answer):
            raise TypeError("answer: one entry at least must not be None")
        if verify is not None:
            return
        for position, (expected, value) in enumerate(zip(self._answer, values)):
            if expected is not None and numpy.size(expected) != numpy.size(value):
                raise TypeError(f"answer[{position}]: has {numpy.size(expected)} elements, the "
                                f"argument {numpy.size(value)}")

    @property
    def has_answer(self):
        return self._answer is not None

    @property
    def answer(self):
        return self._answer

    def compares(self, position):
        if self.verify is not None:
            return self._answer[position] is not None
        return self._answer is None or self._answer[position] is not None

    def save(self, position, folder, name):
        """Writes the expected content of an output, if the answer gives it, to a file. Returns
        whether it has several elements and all are equal."""
        if self._answer is None or self.verify is not None:
            return False
        expected = given_arguments.flat(numpy.asarray(self._answer[position]))
        numpy.save(folder / f"expected_{name}.npy", expected)
        return expected.size > 1 and bool((expected == expected[0]).all())

    def keys(self, names):
        """The entry "reference" or "check" of problem.json."""
        if self.verify is not None:
            return {"check": {"program": self.program, "outputs_only": True}}
        if self._answer is None:
            return {"reference": {"set": {}}}
        return {"reference": {"files": {
            names[position]: f"expected_{names[position]}.npy"
            for position, expected in enumerate(self._answer) if expected is not None}}}

    def tolerance(self, dtypes):
        """The tolerance for problem.json: bounds derived from those of numpy.allclose if the user
        gave an answer; without an answer, with a verify function or with `is_coarse`, bounds that
        depend on the outputs' types."""
        if self._answer is None or self.verify is not None or self._is_coarse:
            loosest = max([_L2_OF_TYPE.get(dtype, 0) for dtype in dtypes], default=0)
            bound = _NO_BOUND if loosest > 0 else 0
            return {"max_abs_error": bound, "bad_abs_error": bound, "bad_share": 0,
                    "relative_l2": loosest}
        largest = middle = l2 = 0.0
        for expected in self._answer:
            if expected is None:
                continue
            size = numpy.abs(given_arguments.flat(numpy.asarray(expected)).astype(numpy.float64))
            if size.size == 0:
                continue
            largest = max(largest, self._atol + _DEFAULT_RTOL * float(size.max()))
            middle = max(middle, self._atol + _DEFAULT_RTOL * float(numpy.median(size)))
            square = float(size @ size)
            # The sum over all elements of (atol + rtol * |expected|)^2.
            bounds = (size.size * self._atol**2 + 2 * self._atol * _DEFAULT_RTOL * float(size.sum())
                      + _DEFAULT_RTOL**2 * square)
            l2 = max(l2, math.sqrt(bounds / square) if square > 0 else 0)
        return {"max_abs_error": largest, "bad_abs_error": middle, "bad_share": 0.5,
                "relative_l2": min(l2, 0.5)}
