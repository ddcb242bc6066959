"""A bundle: choosing and launching its kernels."""

import ctypes
import json
import math
import os
import struct
import threading
from dataclasses import dataclass

from .driver import Driver
from .errors import Error
from .expression import evaluate

_SIZES = {"e4m3": 1, "e5m2": 1, "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i8": 1, "u8": 1,
          "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8}
_FORMATS = {"f16": "e", "f32": "f", "f64": "d", "i16": "h", "u16": "H", "i32": "i", "u32": "I",
            "i64": "q", "u64": "Q"}


@dataclass(frozen=True)
class Device:
    name: str
    compute_capability: int  # 90 for 9.0
    sm_count: int
    shared_bytes: int


@dataclass(frozen=True)
class Choice:
    kernel: dict  # its manifest
    from_ptx: bool
    why: str


@dataclass
class _Prepared:
    choice: Choice
    steps: list  # (function, entry, grid, block, shared bytes, positions of arguments)
    fixed: dict  # position -> ctypes object of a scalar or workspace
    buffers: list  # (position, name, elements, element bytes)


def load(folder, driver=None):
    """The bundle in a folder; `driver` names another library than the environment or libcuda."""
    return Bundle(folder, driver)


def _address(buffer, name, count, size):
    """Of an integer, a tensor of PyTorch, or what has __cuda_array_interface__; checked."""
    if buffer is None or isinstance(buffer, int):
        address, given = buffer or 0, None
    elif hasattr(buffer, "data_ptr"):
        if not buffer.is_cuda or not buffer.is_contiguous():
            raise Error(f"argument '{name}': expected a contiguous tensor on a CUDA device")
        address, given = buffer.data_ptr(), buffer.numel() * buffer.element_size()
    elif hasattr(buffer, "__cuda_array_interface__"):
        array = buffer.__cuda_array_interface__
        if array.get("strides") is not None:
            raise Error(f"argument '{name}': expected a contiguous array")
        address, given = array["data"][0], math.prod(array["shape"]) * int(array["typestr"][2:])
    else:
        raise Error(f"argument '{name}': expected an address, a PyTorch tensor or an object with "
                    f"__cuda_array_interface__, not {type(buffer).__name__}")
    if given is not None and given != count * size:
        raise Error(f"argument '{name}': expected {count} elements of {size} bytes, got {given} "
                    "bytes")
    if count > 0 and not address:
        raise Error(f"argument '{name}' is null")
    return ctypes.c_uint64(address)


def _whole(expression, values, least, most):
    value = evaluate(expression, values)
    if value != math.floor(value) or not least <= value <= most:
        raise Error(f"'{expression}' is {value:g}; allowed is a whole number from {least} to {most}")
    return int(value)


def _scalar_bytes(argument, values):
    """As C++ lays out a structure; a plain scalar is one field."""
    data, alignment = b"", 1
    for field in argument.get("fields", [argument]):
        dtype = field["dtype"]
        value = evaluate(field["value"]["expression"], values)
        size = _SIZES[dtype]
        data += b"\0" * (-len(data) % size)
        try:
            if dtype not in _FORMATS:
                raise Error(f"scalars of {dtype} are not supported in Python")
            is_float = dtype[0] == "f"
            if not is_float and value != math.floor(value):
                raise struct.error
            data += struct.pack("<" + _FORMATS[dtype], value if is_float else int(value))
        except (struct.error, OverflowError):
            raise Error(f"argument '{argument['name']}': {value:g} does not fit {dtype}") from None
        alignment = max(alignment, size)
    return data + b"\0" * (-len(data) % alignment)


class Bundle:
    """Call it with the buffers in order and the shape variables by name. Threads may share it.

    Code and workspaces stay on the GPU until the process ends.
    """

    def __init__(self, folder, driver=None):
        self._folder, self._driver_file, self._driver = os.fspath(folder), driver, None
        self._lock, self._modules, self._allowed, self._prepared = threading.Lock(), {}, {}, {}
        file = os.path.join(self._folder, "bundle.json")
        try:
            with open(file, encoding="utf-8") as text:
                self._index = json.load(text)
            if self._index["format"] != "evo-tune bundle 1":
                raise Error(f"{file}: format: allowed is \"evo-tune bundle 1\"")
            self._kernels = {kernel["name"]: kernel for kernel in self._index["kernels"]}
            self.name = self._index["name"]
            self.shape_variables = self._index["shape_variables"]
            first = self._index["kernels"][0]["arguments"]
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise Error(f"{file}: {type(error).__name__}: {error}") from None
        for argument in (a for kernel in self._kernels.values() for a in kernel["arguments"]):
            if "kind" in argument:
                raise Error(f"{file}: argument '{argument['name']}': not supported: "
                            f"{argument['kind']}")
        self.buffers = [a["name"] for a in first if a["direction"] not in ("scalar", "workspace")]

    def __call__(self, *buffers, stream=0, **shape):
        """Starts the kernel on a stream (its handle) of the current context."""
        if len(buffers) != len(self.buffers):
            raise Error(f"{self.name} takes {len(self.buffers)} buffers ({', '.join(self.buffers)}"
                        f"), got {len(buffers)}")
        prepared = self.prepare(stream=stream, **shape)
        values = dict(prepared.fixed)
        for buffer, (position, name, count, size) in zip(buffers, prepared.buffers):
            values[position] = _address(buffer, name, count, size)
        for function, entry, grid, block, shared_bytes, positions in prepared.steps:
            self._driver.launch(function, grid, block, shared_bytes, stream,
                                [values[p] for p in positions], f"{self._folder}: {entry}")

    def prepare(self, stream=0, **shape):
        """What only the first call for a shape and stream does: only then capture it in a graph."""
        values = self._values(shape)
        with self._lock:
            if self._driver is None:
                self._driver = Driver(self._driver_file)
            # Handle 2 is the default stream of each thread.
            thread = threading.get_ident() if stream == 2 else 0
            key = (self._driver.context(), stream, thread, tuple(values.values()))
            if key not in self._prepared:
                self._prepared[key] = self._make(key[0], stream, shape)
            return self._prepared[key]

    def choose(self, device=None, **shape):
        """As docs/bundle.md says; `device` is by default that of the current context."""
        values = self._values(shape)
        if device is None:
            self._driver = self._driver or Driver(self._driver_file)
            device = Device(*self._driver.device())
        reasons = []
        for target in sorted(self._index["targets"], key=lambda its: self._likeness(its, device)):
            for name, why in self._tries(target, values):
                kernel = self._kernels[name]
                try:
                    from_ptx = not _runs(kernel, device, False)
                    if from_ptx and not _runs(kernel, device, True):
                        raise Error("neither its machine code nor its PTX runs on it")
                    self._plan(kernel, values, device)
                    return Choice(kernel, from_ptx,
                                  "".join([why, ", on ", target["device"], *reasons]))
                except Error as error:
                    reasons.append(f"\n  not {name}: {error}")
        sizes = ", ".join(f"{name}={value:g}" for name, value in values.items())
        raise Error(f"{os.path.join(self._folder, 'bundle.json')}: no kernel for {sizes} on "
                    f"{device.name} (sm_{device.compute_capability}){''.join(reasons)}")

    def _values(self, shape):
        if set(shape) != set(self.shape_variables):
            raise Error(f"{self.name} takes the shape variables {', '.join(self.shape_variables)}"
                        f", got {', '.join(shape) or 'none'}")
        values = {name: float(shape[name]) for name in self.shape_variables}
        for name, value in values.items():
            if not math.isfinite(value):
                raise Error(f"{name} is {value}")
        return values

    def _likeness(self, target, device):
        kernels = [self._kernels[served["kernel"]] for served in target["serves"]]
        return (not any(_runs(kernel, device, False) for kernel in kernels),
                target["device"] != device.name, target["kind"] != "measured",
                -max((_arch(kernel)[0] for kernel in kernels), default=0))

    @staticmethod
    def _tries(target, values):
        def distance(served):
            return sum((math.log1p(abs(served["variables"][name])) - math.log1p(abs(value))) ** 2
                       for name, value in values.items())
        for served in sorted(target["serves"], key=distance):
            is_exact = all(served["variables"][name] == value for name, value in values.items())
            what = "this shape" if is_exact else "the nearest shape for which it is valid"
            yield served["kernel"], f"tuned for {what}: {served['shape']}"
        for name in target["defaults"]:
            yield name, "the configuration of defaults"

    @staticmethod
    def _plan(kernel, shape, device):
        """Steps, scalars by position, sizes by position. Raises Error where it is not valid."""
        values = {**kernel["macros"], **shape, "SM_COUNT": device.sm_count}
        for condition in kernel["valid"]:
            if evaluate(condition["expression"], values) == 0:
                raise Error(f"'{condition['expression']}' does not hold: {condition['why']}")
        scalars, counts = {}, {}
        for position, argument in enumerate(kernel["arguments"]):
            if argument["direction"] == "scalar":
                scalars[position] = _scalar_bytes(argument, values)
            else:
                counts[position] = _whole(argument["extent"]["expression"], values, 0, 2**40)
        names = [argument["name"] for argument in kernel["arguments"]]
        steps = []
        for step in kernel.get("steps", [kernel]):
            if "when" in step and evaluate(step["when"]["expression"], values) == 0:
                continue
            launch = step["launch"]
            sizes = [[_whole(size["expression"], values, 1, most) for size, most in
                      zip(launch[key], limits)] for key, limits in
                     (("grid", (2**31 - 1, 65535, 65535)), ("block", (1024, 1024, 64)))]
            shared = _whole(launch["dynamic_shared_bytes"]["expression"], values, 0, 2**31 - 1)
            needed = shared + kernel["resources"]["static_shared_bytes"]
            if needed > device.shared_bytes:
                raise Error(f"it takes {needed} bytes of shared memory, of which {device.name} "
                            f"has {device.shared_bytes}")
            positions = ([names.index(name) for name in step["arguments"]] if "steps" in kernel
                         else list(range(len(names))))
            grid, block = ([*size, 1, 1][:3] for size in sizes)
            steps.append((step["entry"], grid, block, shared, positions))
        if not steps:
            raise Error("no step runs")
        return steps, scalars, counts

    def _make(self, context, stream, shape):
        device = Device(*self._driver.device())
        choice = self.choose(device, **shape)
        kernel = choice.kernel
        planned, scalars, counts = self._plan(kernel, self._values(shape), device)
        file = os.path.join(self._folder, kernel["ptx" if choice.from_ptx else "cubin"])
        key = (context, kernel["name"])
        if key not in self._modules:
            try:
                self._modules[key] = self._driver.load(file)
            except OSError as error:
                raise Error(f"{file}: {error.strerror}") from None
        allowed = self._allowed.setdefault(key, {})  # the most that any launch asked for
        for entry, _, _, step_bytes, _ in planned:
            allowed[entry] = max(allowed.get(entry, 0), step_bytes)
        steps = [(self._driver.function(self._modules[key], entry, allowed[entry], file), entry,
                  grid, block, step_bytes, positions)
                 for entry, grid, block, step_bytes, positions in planned]
        fixed = {position: ctypes.create_string_buffer(data, len(data))
                 for position, data in scalars.items()}
        buffers = []
        for position, argument in enumerate(kernel["arguments"]):
            if argument["direction"] == "workspace":
                size = counts[position] * _SIZES[argument["dtype"]]
                fixed[position] = ctypes.c_uint64(self._driver.zeroed(size, stream))
            elif argument["direction"] != "scalar":
                buffers.append((position, argument["name"], counts[position],
                                _SIZES[argument["dtype"]]))
        return _Prepared(choice, steps, fixed, buffers)


def _arch(kernel):
    digits = kernel["arch"][3:]
    number = int("".join(c for c in digits if c.isdigit()) or 0)
    return number, not digits.isdigit()  # and whether it is sm_90a


def _runs(kernel, device, from_ptx):
    own, is_specific = _arch(kernel)
    its = device.compute_capability
    if is_specific:
        return not from_ptx and its == own
    return its >= own and (from_ptx or its // 10 == own // 10)
