"""The class Bundle: chooses and launches the kernels of a bundle."""

import contextlib
import ctypes
import math
import os
import threading
from dataclasses import dataclass, field
from typing import Any

from . import arrays, fast, shapes
from .driver import Driver
from .errors import DAMAGE, Error, damaged, reading
from .index import Index, checked_text, runs
from .plan import NOT_GIVEN, planned


@dataclass(frozen=True)
class Choice:
    kernel: dict  # manifest of the kernel
    from_ptx: bool
    why: str


@dataclass
class _Prepared:
    """A kernel loaded in a context, with all its arguments for one shape except the caller's
    buffers."""
    choice: Choice
    arguments: list
    steps: list  # pairs of a CUfunction and its step
    fixed: dict  # position -> ctypes object of a scalar
    buffers: list  # (position, argument) pairs
    workspace_bytes: dict  # position -> bytes
    # (stream, thread, capture) -> position -> address
    workspaces: dict = field(default_factory=dict)
    lock: Any = field(default_factory=threading.Lock)

    def workspaces_of(self, driver, stream):
        """The addresses of the kernel's workspaces by argument position. A kernel leaves its
        workspaces ready for the next launch on the stream. A captured graph has its own workspaces,
        so that it can be replayed concurrently with other launches."""
        if not self.workspace_bytes:
            return {}
        # In the driver API, stream 2 means the default stream of the calling thread.
        key = (stream, threading.get_ident() if stream == 2 else 0, driver.capture(stream))
        if key not in self.workspaces:
            with self.lock:
                if key not in self.workspaces:  # another thread may have allocated them meanwhile
                    with driver.outside_captures():
                        self.workspaces[key] = {position: ctypes.c_uint64(driver.zeroed(count))
                                                for position, count in self.workspace_bytes.items()}
        return self.workspaces[key]


@dataclass
class Call:
    """The data of one call of a kernel. `given`: all buffers by name. `allocated`: the names of the
    buffers that the call allocated. `described`: an arrays.Array for each buffer."""
    context: int
    stream: int
    given: dict
    described: dict
    shape: dict
    prepared: _Prepared
    allocated: list


def load(folder, driver=None, allow=()):
    """Loads the bundle in a folder. `driver`: the driver library, instead of EVO_TUNE_DRIVER or
    libcuda. `allow`: names for which unchecked launches are permitted (docs/bundle.md): {"R"}, or
    {"R": (1, 100000)} with a range, permits unchecked values of the shape variable R; the name of a
    buffer permits it to overlap other buffers and to be aligned to its elements only."""
    return Bundle(folder, driver, allow)


class Bundle:
    """A loaded bundle, which is called like a function: inputs in order, all other arguments by
    name. Threads may share a Bundle.

    The kernels' code and workspaces stay on the GPU until the process ends.
    """

    def __init__(self, folder, driver=None, allow=()):
        self._folder, self._driver_file, self._opened = os.fspath(folder), driver, None
        self._lock, self._modules, self._allowed, self._prepared = threading.RLock(), {}, {}, {}
        self._shapes, self._fast = {}, None
        self._file = os.path.join(self._folder, "bundle.json")
        try:
            with reading("the index"):
                self._index = Index(checked_text(self._file))
        except (OSError, Error) as error:
            raise Error(f"{self._file}: {error}") from None
        self.name, self.shape_variables = self._index.name, self._index.shape_variables
        self.tuned_shapes, self.defaults = self._index.tuned_shapes, self._index.defaults
        arguments = self._index.arguments
        self.buffers = [its["name"] for its in arguments]
        self.inputs = [its["name"] for its in arguments if its["direction"] != "out"]
        self.outputs = [its["name"] for its in arguments if its["direction"] == "out"]
        self._unchecked = self._ranges(allow)
        # A keyword whose name is already in use gets "_" appended, as in the bundle's C++ function.
        taken, self._keywords = {"stream"}, {}
        for name in [*self.buffers, *self.shape_variables]:
            keyword = name
            while keyword in taken:
                keyword += "_"
            taken.add(keyword)
            self._keywords[keyword] = name
        self._buffer_keywords = set(list(self._keywords)[:len(self.buffers)])

    def _ranges(self, allow):
        """The permitted range of each name in `allow`, an argument of load()."""
        names = [allow] if isinstance(allow, str) else allow
        everything = (-math.inf, math.inf)
        ranges = dict(allow) if isinstance(allow, dict) else dict.fromkeys(names, everything)
        for name, its in ranges.items():
            if name not in self.shape_variables and name not in self.buffers:
                raise Error(f"allow: '{name}' is neither a shape variable nor a buffer; allowed: "
                            f"{', '.join([*self.shape_variables, *self.buffers])}")
            if len(its) != 2 or not its[0] <= its[1]:
                raise Error(f"allow: the range of '{name}' is {its}; allowed: (least, most)")
        return ranges

    @property
    def _driver(self):
        with self._lock:
            if self._opened is None:
                self._opened = Driver(self._driver_file)
            return self._opened

    def __call__(self, *inputs, stream=None, **keywords):
        """Starts the kernel for the shape of the call. Returns the output, or a tuple of the
        outputs in order. Outputs that are not given are allocated as PyTorch tensors. A shape
        variable may be omitted if it follows from the shapes of the tensors, or if it is the same
        in all tuned shapes and no input's size depends on it."""
        if self._fast is not None:
            results = self._fast.call(inputs, keywords, stream)
            if results is not NotImplemented:
                return results
        with self._readied(inputs, keywords, stream) as call:
            self._launch(call)
        fast.learn(self, inputs, keywords, call)
        results = tuple(call.given[name] for name in self.outputs)
        return results[0] if len(results) == 1 else results

    def plan(self, *inputs, stream=None, **keywords):
        """Prepares a call that is repeated with other buffers. Takes the arguments of a call,
        launches nothing, and returns a function that launches the kernel on the buffers passed to
        it: all buffers in the order of `self.buffers`, with the types and shapes of the buffers
        passed to plan(). Without `stream`, each launch uses the current stream, as a call does."""
        with self._readied(inputs, keywords, stream) as call:
            variables = list(self._keywords.items())[len(self.buffers):]
            shape = {keyword: call.shape[name] for keyword, name in variables}
            call.prepared.workspaces_of(self._driver, call.stream)

        def start(*buffers):
            if len(buffers) != len(self.buffers):
                raise Error(f"the plan takes {len(self.buffers)} buffers "
                            f"({', '.join(self.buffers)}), got {len(buffers)}")
            named = dict(zip(self._keywords, buffers))
            with self._readied((), {**named, **shape}, stream) as call:
                self._launch(call)
        return fast.plan(self, call, stream, start)

    def prepare(self, stream=0, **shape):
        """Chooses and loads the kernel for a shape in the current context, and allocates its
        workspaces, so that the first call need not do this."""
        with self._driver.on(None) as context:
            prepared = self._find(context, stream, self._checked(shape))
            prepared.workspaces_of(self._driver, stream)

    def choose(self, device=None, **shape):
        """Chooses a kernel by the rules of docs/bundle.md. `device` defaults to the device of the
        current context."""
        return self._chosen(self._checked(shape), device)[0]

    def _bound(self, inputs, keywords):
        """Splits the arguments of a call into the buffers by name and the sizes."""
        if len(inputs) > len(self.inputs):
            raise Error(f"{self.name} takes {len(self.inputs)} inputs ({', '.join(self.inputs)}), "
                        f"got {len(inputs)}; outputs are given by keyword")
        given, sizes = dict(zip(self.inputs, inputs)), {}
        for keyword, value in keywords.items():
            name = self._keywords.get(keyword)
            if name is None:
                raise Error(f"{self.name} got an unexpected keyword argument '{keyword}'; "
                            f"allowed: {', '.join([*self._keywords, 'stream'])}")
            if keyword not in self._buffer_keywords:
                sizes[name] = value
            elif name in given:
                raise Error(f"{self.name} got multiple values for argument '{keyword}'")
            else:
                given[name] = value
        missing = [name for name in self.inputs if name not in given]
        if missing:
            raise Error(f"{self.name} is missing {', '.join(missing)}; it takes "
                        f"{', '.join(self.inputs)}")
        return given, {name: value for name, value in sizes.items() if value is not None}

    @contextlib.contextmanager
    def _readied(self, inputs, keywords, stream):
        """A context manager: checks the buffers of a call, makes a context of their device current,
        and yields a Call."""
        given, sizes = self._bound(inputs, keywords)
        driver, devices, name = self._driver, {}, None
        try:
            for name, value in given.items():
                devices[name] = arrays.device_of(value, driver)
        except (Error, *DAMAGE) as error:
            raise _of_argument(name, error) from None
        self._refuse_gradients(given)
        device = arrays.common_device(devices)
        handle = arrays.stream_handle(stream, given.values(), device)
        described = {}
        with driver.on(device) as context:
            try:
                try:
                    for name, value in given.items():
                        described[name] = arrays.array_of(value, handle, driver)
                except (Error, *DAMAGE) as error:
                    raise _of_argument(name, error) from None
                shape = self._values(sizes, described)
                prepared = self._find(context, handle, shape)
                yield self._checked_call(context, handle, given, described, shape, prepared)
            finally:
                for array in described.values():
                    if array.export is not None:
                        array.export.release()

    def _checked_call(self, context, handle, given, described, shape, prepared):
        allocated, buffers = [], []
        for _, argument in prepared.buffers:
            name = argument.name
            if name not in described:
                given[name] = self._allocated(argument.json, given, shape)
                described[name] = arrays.array_of(given[name], handle, self._driver)
                allocated.append(name)
            arrays.check(argument, described[name])
            buffers.append((argument, described[name]))
        arrays.check_apart(buffers)
        return Call(context, handle, given, described, shape, prepared, allocated)

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
        try:
            key = (*known.items(), *sizes.items())
            values = self._shapes.get(key)
        except TypeError:  # an unhashable value cannot be a size
            key = values = None
        if values is None:
            values = self._checked(shapes.infer(self._index.arguments, known, sizes,
                                                self.shape_variables, self.defaults))
            if key is not None:
                self._shapes[key] = values
        return values

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

    def _launch(self, call):
        prepared = call.prepared
        pointers = {**prepared.fixed, **prepared.workspaces_of(self._driver, call.stream)}
        for position, argument in prepared.buffers:
            pointers[position] = ctypes.c_uint64(call.described[argument.name].address)
        for position, argument in enumerate(prepared.arguments):
            if argument.map is not None:
                pointers[position] = self._driver.encoded(
                    argument.map, pointers[argument.map.of].value,
                    f"{self._folder}: tensor map {argument.name}")
        for function, step in prepared.steps:
            self._driver.launch(function, step, call.stream,
                                [pointers[p] for p in step.positions],
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
        reasons = list(self._index.damaged)
        for (from_ptx, _, _, distance), use, kernel in self._tries(shape, device):
            why = ("the default configuration" if distance == math.inf else
                   f"tuned for this shape: {use['shape']}" if distance == 0 else
                   f"tuned for the nearest shape with a valid kernel: {use['shape']}")
            try:
                if from_ptx and not runs(kernel, "ptx", device):
                    raise Error("neither the kernel's machine code nor its PTX runs on this device")
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
        tries = [((not runs(kernel, "machine_code", device), use["device"] != device.name,
                   use["rank"], distance(use["sizes"])), use, kernel) for use, kernel in self._index.uses]
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
        allowed = self._allowed.setdefault(key, {})  # most dynamic shared bytes
        for step in steps:
            allowed[step.entry] = max(allowed.get(step.entry, 0), step.sizes[6])
        loaded = [(self._driver.function(self._modules[key], step.entry, allowed[step.entry], file),
                   step) for step in steps]
        fixed = {position: ctypes.create_string_buffer(argument.value, len(argument.value))
                 for position, argument in enumerate(arguments) if argument.value}
        buffers = [(position, argument) for position, argument in enumerate(arguments)
                   if argument.direction not in NOT_GIVEN]
        workspaces = {position: argument.bytes for position, argument in enumerate(arguments)
                      if argument.direction == "workspace"}
        return _Prepared(choice, arguments, loaded, fixed, buffers, workspaces)


def _of_argument(name, error):
    """Returns an Error like `error`, with the name of the argument in its message."""
    if not isinstance(error, Error):
        error = damaged("its description", error)
    return Error(f"argument '{name}': {error}")
