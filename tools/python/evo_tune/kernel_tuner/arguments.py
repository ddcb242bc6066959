"""Converts the arguments of a kernel from CuPy and PyTorch to NumPy, and copies results back."""

import numpy

from .errors import NotSupported

_DTYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16",
           "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint64": "u64",
           "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "u8"}


def to_numpy(value):
    """Converts an array of CuPy or PyTorch to NumPy; returns other values unchanged."""
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return value
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        return value.detach().cpu().numpy()
    if hasattr(value, "get") and type(value).__module__.split(".")[0] == "cupy":
        return value.get()
    return value


def write_back(target, array):
    """If `target` is an array on a GPU, copies the NumPy array `array` into it, as if the kernel
    had written to `target`."""
    if hasattr(target, "set") and type(target).__module__.split(".")[0] == "cupy":
        target.set(array)
    elif getattr(target, "is_cuda", False):
        import torch
        target.copy_(torch.from_numpy(array))


def taken(arguments):
    """The arguments as NumPy arrays and scalars. Raises a TypeError that names the position of an
    unsupported argument."""
    values = []
    for position, argument in enumerate(arguments):
        value = to_numpy(argument)
        if not isinstance(value, (numpy.ndarray, numpy.generic)):
            raise TypeError(f"arguments[{position}]: {type(argument).__name__} is not supported; "
                            "allowed: NumPy, CuPy and PyTorch arrays and NumPy scalars such as "
                            "numpy.int32(n)")
        values.append(value)
    return values


def is_array(value):
    return isinstance(value, numpy.ndarray) and value.ndim > 0


def flat(array):
    """Converts an array to the elements that a problem file can name: complex numbers become pairs,
    booleans become bytes."""
    elements = numpy.ascontiguousarray(array).reshape(-1)
    if elements.dtype.kind == "c":
        return elements.view(elements.real.dtype)
    return elements.view(numpy.uint8) if elements.dtype == bool else elements


def dtype_name(dtype, where):
    name = _DTYPES.get(str(dtype))
    if name is None:
        raise NotSupported(f"{where}: elements of type {dtype} are not supported; allowed: "
                           + ", ".join(sorted(_DTYPES)))
    return name


def scalar_value(value):
    """Converts a scalar to a number that a problem file can hold."""
    number = value.item()
    return int(number) if isinstance(number, (bool, int)) else float(number)
