"""A bundle: choosing and launching its kernels."""

import contextlib
import ctypes
import hashlib
import json
import math
import os
import threading
from dataclasses import dataclass, field

from . import arrays, shapes
from .driver import Driver
from .errors import Error, reading
from .plan import check_tree, planned

_FORMAT = "evo-tune bundle 3"


@dataclass(frozen=True)
class Choice:
    kernel: dict  # its manifest
    from_ptx: bool
    why: str


@dataclass
class _Prepared:
    """A kernel in a context with what it takes on one shape, but the caller's buffers."""
    choice: Choice
    arguments: list
    steps: list  # with their functions
    fixed: dict  # position -> ctypes object of a scalar
    workspaces: dict = field(default_factory=dict)  # stream, thread, capture -> position -> address


def load(folder, driver=None, allow=()):
    """The bundle in a folder; `driver` names another library than the environment or libcuda.

    `allow`: what is served though it was not checked (docs/bundle.md): names of shape variables,
    such as {"R"} or {"R": (1, 100000)} with a range; of buffers that may overlap others and be
    aligned to their elements only."""
    return Bundle(folder, driver, allow)


class Bundle:
    """Call it with the inputs in their order, everything else by name. Threads may share it.

    Code and workspaces stay on the GPU until the process ends.
    """

    def __init__(self, folder, driver=None, allow=()):
        self._folder, self._driver_file, self._opened = os.fspath(folder), driver, None
        self._lock, self._modules, self._allowed, self._prepared = threading.RLock(), {}, {}, {}
        self._file = os.path.join(self._folder, "bundle.json")
        try:
            with reading("the index"):
                self._read(_checked_text(self._file))
        except (OSError, Error) as error:
            raise Error(f"{self._file}: {error}") from None
        self.buffers = [its["name"] for its in self._buffers]
        self.inputs = [its["name"] for its in self._buffers if its["direction"] != "out"]
        self.outputs = [its["name"] for its in self._buffers if its["direction"] == "out"]
        self._unchecked = self._ranges(allow)
        # Names of parameters: what would be there twice has another one, as in the C++ function.
        taken, self._keywords = {"stream"}, {}
        for name in [*self.buffers, *self.shape_variables]:
            keyword = name
            while keyword in taken:
                keyword += "_"
            taken.add(keyword)
            self._keywords[keyword] = name

    def _read(self, text):
        index = json.loads(text)
        if index["format"] != _FORMAT:
            raise Error(f"format: allowed is \"{_FORMAT}\": export the bundle again")
        self.name, self.shape_variables = index["name"], index["shape_variables"]
        if not all(isinstance(its, str) for its in [self.name, *self.shape_variables]):
            raise Error("'name' or 'shape_variables' are damaged")
        self._kernels, self._uses, self._damaged, self._buffers = [], [], [], None
        for kernel in index["kernels"]:
            try:
                with reading("its part of the index"):
                    buffers, uses = _buffers_of(kernel), _uses_of(kernel, self.shape_variables)
            except Error as error:
                self._damaged.append(f"\n  not {str(kernel)[:80]}: {error}")
                continue
            self._kernels.append(kernel)
            self._buffers = self._buffers or buffers
            self._uses += [(use, kernel) for use in uses]
        if self._buffers is None:
            raise Error("no kernel can be read" + "".join(self._damaged))
        tuned = list(dict.fromkeys(tuple(use["sizes"]) for use, _ in self._uses if use["sizes"]))
        self.tuned_shapes = tuned  # sizes in the order of shape_variables
        # What all tuned shapes have in common need not be said, but for sizes of inputs.
        sizes_of_inputs = set().union(*(_names(its["elements"]["tree"]) for its in self._buffers
                                        if its["direction"] != "out"))
        self.defaults = {
            name: sizes[0] for name, sizes in zip(self.shape_variables, zip(*tuned))
            if len(set(sizes)) == 1 and name not in sizes_of_inputs}

    def _ranges(self, allow):
        """By name, from what load() takes."""
        names = [allow] if isinstance(allow, str) else allow
        everything = (-math.inf, math.inf)
        ranges = dict(allow) if isinstance(allow, dict) else dict.fromkeys(names, everything)
        for name, its in ranges.items():
            if name not in self.shape_variables and name not in self.buffers:
                raise Error(f"allow: '{name}' is neither a shape variable nor a buffer; allowed are "
                            f"{', '.join([*self.shape_variables, *self.buffers])}")
            if len(its) != 2 or not its[0] <= its[1]:
                raise Error(f"allow: the range of '{name}' is {its}; allowed is (least, most)")
        return ranges

    @property
    def _driver(self):
        with self._lock:
            if self._opened is None:
                self._opened = Driver(self._driver_file)
            return self._opened

    def __call__(self, *inputs, stream=None, **keywords):
        """Starts the kernel. Returns its outputs: one, or a tuple of them in their order; those
        that are not given are allocated as tensors of PyTorch. Shape variables that follow from the
        shapes of the tensors, or are the same in all tuned shapes, need not be given."""
        given, sizes = self._bound(inputs, keywords)
        devices = {}
        for name, value in given.items():
            with _argument(name):
                devices[name] = arrays.device_of(value, self._driver)
        self._refuse_gradients(given)
        device = arrays.common_device(devices)
        handle = arrays.stream_handle(stream, given.values(), device)
        with self._driver.on(device) as context, contextlib.ExitStack() as exports:
            described = {}
            for name, value in given.items():
                with _argument(name):
                    described[name] = array = arrays.array_of(value, handle, self._driver)
                if array.export is not None:
                    exports.callback(array.export.release)
            self._launch(context, handle, given, described, self._values(sizes, described))
        results = tuple(given[name] for name in self.outputs)
        return results[0] if len(results) == 1 else results

    def prepare(self, stream=0, **shape):
        """What only the first call for a shape does, in the current context."""
        with self._driver.on(None) as context:
            prepared = self._find(context, stream, self._checked(shape))
            self._workspaces(prepared, stream)

    def choose(self, device=None, **shape):
        """As docs/bundle.md says; `device` is by default that of the current context."""
        return self._chosen(self._checked(shape), device)[0]

    def _bound(self, inputs, keywords):
        """Buffers by name, and the sizes that were said."""
        if len(inputs) > len(self.inputs):
            raise Error(f"{self.name} takes {len(self.inputs)} inputs ({', '.join(self.inputs)}), "
                        f"got {len(inputs)}; outputs are given by keyword")
        given, sizes = dict(zip(self.inputs, inputs)), {}
        for keyword, value in keywords.items():
            name = self._keywords.get(keyword)
            if name is None:
                raise Error(f"{self.name} got an unexpected keyword argument '{keyword}'; allowed "
                            f"are {', '.join([*self._keywords, 'stream'])}")
            if self._is_buffer(keyword) and name in given:
                raise Error(f"{self.name} got multiple values for argument '{keyword}'")
            (given if self._is_buffer(keyword) else sizes)[name] = value
        missing = [name for name in self.inputs if name not in given]
        if missing:
            raise Error(f"{self.name} is missing {', '.join(missing)}; it takes "
                        f"{', '.join(self.inputs)}")
        return given, {name: value for name, value in sizes.items() if value is not None}

    def _is_buffer(self, keyword):
        return list(self._keywords).index(keyword) < len(self.buffers)

    def _refuse_gradients(self, given):
        torch = arrays.torch_module()
        if torch is None or not torch.is_grad_enabled():
            return
        for name, value in given.items():
            if arrays.is_tensor(value) and value.requires_grad:
                raise Error(f"{self.name} has no backward, but {name} requires a gradient: detach "
                            "it or call under torch.no_grad()")

    def _values(self, sizes, described):
        known = {name: array.shape for name, array in described.items() if array.shape is not None}
        return self._checked(shapes.infer(self._buffers, known, sizes, self.shape_variables,
                                          self.defaults))

    def _checked(self, shape):
        if set(shape) != set(self.shape_variables):
            raise Error(f"{self.name} takes the shape variables {', '.join(self.shape_variables)}, "
                        f"got {', '.join(shape) or 'none'}")
        for name in self.shape_variables:
            try:
                is_number = math.isfinite(shape[name])
            except (TypeError, OverflowError):
                is_number = False
            if not is_number:
                raise Error(f"{name} is {str(shape[name])[:80]}")
        return {name: shape[name] for name in self.shape_variables}

    def _launch(self, context, stream, given, described, shape):
        prepared = self._find(context, stream, shape)
        pointers, buffers = dict(prepared.fixed), []
        for position, argument in enumerate(prepared.arguments):
            name = argument.name
            if argument.direction in ("scalar", "workspace"):
                continue
            if name not in described:
                given[name] = self._allocated(argument.json, given, shape)
                described[name] = arrays.array_of(given[name], stream, self._driver)
            arrays.check(argument, described[name])
            buffers.append((argument, described[name]))
            pointers[position] = ctypes.c_uint64(described[name].address)
        arrays.check_apart(buffers)
        pointers.update(self._workspaces(prepared, stream))
        for function, step in prepared.steps:
            self._driver.launch(function, step.sizes, stream, [pointers[p] for p in step.positions],
                                f"{self._folder}: {step.entry}")

    def _allocated(self, argument, given, shape):
        tensor = next((value for value in given.values() if arrays.is_tensor(value)), None)
        if tensor is None:
            raise Error(f"expected {argument['name']} to be given: outputs are only allocated "
                        "where inputs are tensors of PyTorch")
        torch = arrays.torch_module()
        return torch.empty(shapes.shape_of(argument, shape), device=tensor.device,
                           dtype=getattr(torch, arrays.DTYPES[argument["dtype"]]))

    def _chosen(self, shape, device):
        if device is None:
            with self._driver.on(None):
                device = self._driver.device()
        reasons = list(self._damaged)
        for (from_ptx, _, _, distance), use, kernel in self._tries(shape, device):
            why = ("the configuration of defaults" if distance == math.inf else
                   f"tuned for this shape: {use['shape']}" if distance == 0 else
                   f"tuned for the nearest shape for which it is valid: {use['shape']}")
            try:
                if from_ptx and not _runs(kernel, "ptx", device):
                    raise Error("neither its machine code nor its PTX runs on it")
                plan = planned(kernel["plan"], shape, device, self.buffers, self._unchecked)
                text = "".join([why, ", on ", use["device"], *reasons])
                return Choice(kernel, from_ptx, text), plan
            except Error as error:
                reasons.append(f"\n  not {kernel['name']}: {error}")
        sizes = " ".join(f"{name}={value:.15g}" for name, value in shape.items())
        raise Error(f"{self._file}: no kernel for {sizes} on {device.name} "
                    f"(sm_{device.compute_capability}){''.join(reasons)}")

    def _tries(self, shape, device):
        def distance(sizes):
            if not sizes:
                return math.inf
            return sum(0 if its == own else
                       max((math.log1p(abs(its)) - math.log1p(abs(own))) ** 2, 1e-300)
                       for its, own in zip(sizes, shape.values()))
        tries = [((not _runs(kernel, "machine_code", device), use["device"] != device.name,
                   use["rank"], distance(use["sizes"])), use, kernel) for use, kernel in self._uses]
        return sorted(tries, key=lambda its: its[0])

    def _find(self, context, stream, shape):
        key = (context, tuple(shape.values()))
        prepared = self._prepared.get(key)
        if prepared is None:
            with self._lock, self._driver.outside_captures(), reading(self._file):
                prepared = self._prepared.get(key) or self._make(context, shape)
                self._prepared[key] = prepared
        return prepared

    def _make(self, context, shape):
        choice, (arguments, steps) = self._chosen(shape, self._driver.device())
        kernel = choice.kernel
        code = "ptx" if choice.from_ptx else "cubin"
        file = os.path.join(self._folder, kernel[code])
        key = (context, file)
        if key not in self._modules:
            self._modules[key] = self._driver.load(file, kernel["sha256"][code])
        allowed = self._allowed.setdefault(key, {})  # the most that any launch asked for
        for step in steps:
            allowed[step.entry] = max(allowed.get(step.entry, 0), step.sizes[6])
        loaded = [(self._driver.function(self._modules[key], step.entry, allowed[step.entry], file),
                   step) for step in steps]
        fixed = {position: ctypes.create_string_buffer(argument.value, len(argument.value))
                 for position, argument in enumerate(arguments) if argument.value}
        return _Prepared(choice, arguments, loaded, fixed)

    def _workspaces(self, prepared, stream):
        """By position. A kernel leaves them ready for its next launch on the stream; a captured
        graph has its own, so that it may be replayed beside other launches."""
        wanted = {position: argument.bytes for position, argument in enumerate(prepared.arguments)
                  if argument.direction == "workspace"}
        if not wanted:
            return {}
        # Handle 2 is the default stream of each thread.
        key = (stream, threading.get_ident() if stream == 2 else 0, self._driver.capture(stream))
        if key not in prepared.workspaces:
            with self._lock, self._driver.outside_captures():
                prepared.workspaces[key] = {
                    position: ctypes.c_uint64(self._driver.zeroed(count))
                    for position, count in wanted.items()}
        return prepared.workspaces[key]


def _names(tree):
    """Of the variables in a tree, without those that only stand in conditions of ?."""
    if isinstance(tree, str):
        return {tree}
    operands = tree[2 if tree[0] == "?" else 1:] if isinstance(tree, list) else []
    return set().union(*map(_names, operands))


@contextlib.contextmanager
def _argument(name):
    """What goes wrong with an argument names it."""
    try:
        with reading("what it says of itself"):
            yield
    except Error as error:
        raise Error(f"argument '{name}': {error}") from None


def _checked_text(file):
    """Of an index: its first line has the hash of the others."""
    with open(file, "rb") as content:
        head, _, rest = content.read().partition(b"\n")
    if head != b'{"sha256": "%s",' % hashlib.sha256(rest).hexdigest().encode():
        raise Error("was damaged, changed by hand or written by another version: export it again")
    return head + rest


def _buffers_of(kernel):
    """The plan's arguments that a caller has. Raises what reading() takes where one is damaged."""
    buffers = [its for its in kernel["plan"]["arguments"]
               if its["direction"] not in ("scalar", "workspace")]
    for its in buffers:
        check_tree(its["elements"]["tree"])
        for tree in its.get("dimensions", []):
            check_tree(tree)
        if its["dtype"] not in arrays.DTYPES or not isinstance(its["name"], str):
            raise Error(f"{str(its['name'])[:80]}: '{str(its['dtype'])[:80]}' is no type")
    return buffers


def _uses_of(kernel, variables):
    """What it is chosen for. Raises what reading() takes where what the choice needs is damaged."""
    for code in ("machine_code", "ptx"):
        _require_numbers(kernel["plan"][code]["from"], kernel["plan"][code]["to"])
    for code in ("cubin", "ptx"):
        if not isinstance(kernel[code], str) or not isinstance(kernel["sha256"][code], str):
            raise Error(f"'{code}' is no file")
    uses = kernel["plan"]["chosen_for"]
    for use in uses:
        _require_numbers(use["rank"], *use["sizes"])
        if use["sizes"] and len(use["sizes"]) != len(variables):
            raise Error("'sizes' are not those of the shape variables")
        if not isinstance(use["shape"] + use["device"] + kernel["name"], str):
            raise Error("a name is none")
    return uses


def _require_numbers(*values):
    for value in values:
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise Error(f"{str(value)[:80]} is no number")


def _runs(kernel, code, device):
    its = kernel["plan"][code]
    return its["from"] <= device.compute_capability <= its["to"]
