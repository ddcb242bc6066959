"""Reads the buffers that a caller passes: addresses, PyTorch tensors, objects with
__cuda_array_interface__ or DLPack."""

import math
import sys
from dataclasses import dataclass
from typing import Any, Optional

from . import dlpack
from .errors import Error

# PyTorch's name for each element type in a bundle's index.
DTYPES = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "f16": "float16", "bf16": "bfloat16",
          "f32": "float32", "f64": "float64", "i8": "int8", "u8": "uint8", "i16": "int16",
          "u16": "uint16", "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64"}
_KINDS = {"f": "float", "i": "int", "u": "uint", "c": "complex", "b": "bool"}


@dataclass
class Array:
    """A buffer that a caller passes. `shape` and `dtype` are None if the caller passed only an
    address."""
    address: int
    shape: Optional[tuple] = None
    dtype: Optional[str] = None
    is_contiguous: bool = True
    is_read_only: bool = False
    export: Any = None  # the DLPack capsule, to be released


def torch_module():
    """PyTorch if the program has imported it, else None."""
    return sys.modules.get("torch")


def is_tensor(value):
    torch = torch_module()
    return torch is not None and isinstance(value, torch.Tensor)


def device_of(value, driver):
    """The name and number of the device that holds `value`, such as ("cuda:0", 0). The number is
    None if the device is not a GPU. Returns None if the device is unknown."""
    if value is None or isinstance(value, int):
        return None
    if is_tensor(value):
        number = value.device.index if value.is_cuda else None
        return str(value.device), number
    if hasattr(value, "__cuda_array_interface__"):
        address = value.__cuda_array_interface__["data"][0]
        if not address:
            return None
        number = driver.device_of(address)
        return f"cuda:{number}", number
    if hasattr(value, "__dlpack_device__"):
        device_type, number = (int(its) for its in value.__dlpack_device__())
        is_gpu = device_type in (dlpack.CUDA, dlpack.CUDA_MANAGED)
        return dlpack.device_name(device_type, number), number if is_gpu else None
    raise Error(f"expected an address, a PyTorch tensor or an object with __cuda_array_interface__ "
                f"or __dlpack__, but got {type(value).__name__}")


def array_of(value, stream, driver):
    """Describes the buffer `value`. Unless `value` is an address or a PyTorch tensor, later work on
    `stream` waits for pending work that writes the buffer."""
    if value is None or isinstance(value, int):
        return Array(value or 0)
    if is_tensor(value):
        return Array(value.data_ptr(), tuple(value.shape), str(value.dtype).replace("torch.", ""),
                     value.is_contiguous())
    if hasattr(value, "__cuda_array_interface__"):
        return _from_interface(value.__cuda_array_interface__, stream, driver)
    export = dlpack.Export(value, stream)
    return Array(export.address, export.shape, export.dtype,
                 _is_contiguous(export.shape, export.strides), export.is_read_only, export)


def _from_interface(interface, stream, driver):
    other = interface.get("stream")
    if other is not None and other != (stream or 1):  # 1: the default stream
        driver.wait(stream, other)
    if interface.get("mask") is not None:
        raise Error("expected an array without a mask")
    shape, typestr = tuple(interface["shape"]), interface["typestr"]
    size, strides = int(typestr[2:]), interface.get("strides")
    dtype = f"{_KINDS.get(typestr[1], typestr[1])}{'' if typestr[1] == 'b' else 8 * size}"
    if size > 1 and typestr[0] == (">" if sys.byteorder == "little" else "<"):
        dtype += " of the other byte order"
    address, is_read_only = interface["data"]
    in_elements = None if strides is None else tuple(its / size for its in strides)
    return Array(address, shape, dtype, _is_contiguous(shape, in_elements), is_read_only)


def _is_contiguous(shape, strides):
    if strides is None or 0 in shape:
        return True
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def check_dtype(name, expected, got):
    """Raises Error unless an array of type `got` can be passed as `expected`, a type in the
    bundle's index. Accepts uint8 for 8-bit floats, because not every library has 8-bit floats."""
    wanted = DTYPES[expected]
    if got is not None and got != wanted and not (expected[0] == "e" and got == "uint8"):
        raise Error(f"expected {name} to have dtype {wanted}, but got {got}")


def check(argument, array):
    """Raises Error unless `array` can be passed as `argument`, a buffer of the launch plan."""
    name, count = argument.name, argument.elements
    check_dtype(name, argument.json["dtype"], array.dtype)
    if not array.is_contiguous:
        raise Error(f"expected {name} to be contiguous")
    if argument.direction != "in" and array.is_read_only:
        raise Error(f"expected {name} to be writable: it is an output")
    if array.shape is not None and math.prod(array.shape) != count:
        raise Error(f"expected {name} to have {count} elements, but got {math.prod(array.shape)}, "
                    f"of shape {array.shape}")
    if count > 0 and not array.address:
        raise Error(f"expected {name} to have {count} elements, but got a null pointer")
    if not 0 <= array.address < 2**64 - argument.bytes:
        raise Error(f"expected {name} to have an address of 64 bits, but got {array.address}")
    if count > 0 and array.address % argument.alignment:
        raise Error(f"expected {name} to be aligned to {argument.alignment} bytes, as it was when "
                    f"the kernel was checked, but got {array.address & -array.address}; "
                    f'allow={{"{name}"}} of load() lets it be launched all the same')


def check_apart(buffers):
    """Raises Error if a written buffer overlaps another buffer, unless load() permits one of them
    to overlap. `buffers`: pairs of a plan's argument and its array."""
    filled = [(argument, array.address) for argument, array in buffers
              if argument.bytes > 0 and not argument.may_overlap]
    for written, begin in filled:
        if written.direction == "in":
            continue
        for other, start in filled:
            if (written is not other and begin < start + other.bytes
                    and start < begin + written.bytes):
                raise Error(f"expected {written.name}, which is written, not to overlap "
                            f'{other.name}; allow={{"{written.name}"}} of load() lets it be '
                            "launched all the same")


def common_device(devices):
    """The number of the GPU that holds all arguments; None if no device is known. Raises Error if
    arguments are on several devices, or not on a GPU. `devices`: the results of device_of() by
    argument name."""
    known = [its for its in devices.values() if its is not None]
    names = list(dict.fromkeys(name for name, _ in known))
    if len(names) > 1:
        raise Error("Expected all tensors to be on the same device, but found at least two "
                    f"devices, {names[0]} and {names[1]}!")
    for name, device in devices.items():
        if device is not None and device[1] is None:
            raise Error(f"expected {name} to be on a CUDA device, but got {device[0]}")
    return known[0][1] if known else None


def stream_handle(stream, values, device):
    """The CUDA handle of `stream`: an integer, a stream of PyTorch or CuPy, or an object with
    __cuda_stream__. For None, returns PyTorch's current stream if `values` has a tensor of PyTorch,
    else the default stream."""
    if stream is None:
        if any(is_tensor(value) for value in values):
            return torch_module().cuda.current_stream(device).cuda_stream
        return 0
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return (protocol() if callable(protocol) else protocol)[1]
    for attribute in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute))
    raise Error(f"expected a stream, but got {type(stream).__name__}")
