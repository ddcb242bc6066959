"""Reads the capsules of DLPack 0.x and 1.x (dlpack.h)."""

import ctypes
from ctypes import c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

from .errors import Error

CUDA, CUDA_MANAGED = 2, 13  # DLDeviceType
_READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY
_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
_EIGHT_BIT_FLOATS = {10: "float8_e4m3fn", 12: "float8_e5m2"}  # DLPack 1.1
_DEVICES = {1: "cpu", 3: "cuda_host", 4: "opencl", 7: "vulkan", 8: "metal", 10: "rocm"}


class _Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32),
                ("ndim", c_int32), ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
                ("shape", ctypes.POINTER(c_int64)), ("strides", ctypes.POINTER(c_int64)),
                ("byte_offset", c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", c_void_p)]


class _Versioned(ctypes.Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("context", c_void_p),
                ("deleter", c_void_p), ("flags", c_uint64), ("tensor", _Tensor)]


def _python(name, result, *arguments):
    function = getattr(ctypes.pythonapi, name)
    function.restype, function.argtypes = result, list(arguments)
    return function


_is_valid = _python("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, c_char_p)
_pointer = _python("PyCapsule_GetPointer", c_void_p, ctypes.py_object, c_char_p)
_rename = _python("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, c_char_p)
_NAMES = ((b"dltensor_versioned", b"used_dltensor_versioned", _Versioned),
          (b"dltensor", b"used_dltensor", _Managed))


def device_name(device_type, number):
    if device_type in (CUDA, CUDA_MANAGED):
        return f"cuda:{number}"
    return _DEVICES.get(device_type, f"DLPack device {device_type}")


class Export:
    """A tensor whose DLPack capsule was consumed; release() calls the producer's deleter."""

    def __init__(self, producer, stream):
        # In DLPack, stream 1 is the default stream, and 0 is not allowed.
        stream = stream or 1
        try:
            capsule = producer.__dlpack__(stream=stream, max_version=(1, 1))
        except TypeError:  # a producer older than DLPack 1 does not know the keyword
            capsule = producer.__dlpack__(stream=stream)
        for name, used, structure in _NAMES:
            if _is_valid(capsule, name):
                break
        else:
            raise Error("__dlpack__ gave no capsule that is named dltensor or dltensor_versioned")
        self._managed = ctypes.cast(_pointer(capsule, name), ctypes.POINTER(structure))
        _rename(capsule, used)  # the consumer of a renamed capsule must call the deleter
        self._capsule_name = used  # a capsule keeps no copy of its name
        try:
            self._read(self._managed.contents)
        except BaseException:
            self.release()
            raise

    def _read(self, managed):
        self.is_read_only = False
        if isinstance(managed, _Versioned):
            if managed.major > 1:
                raise Error(f"not supported: DLPack {managed.major}.{managed.minor}")
            self.is_read_only = bool(managed.flags & _READ_ONLY)
        tensor = managed.tensor
        self.device = (tensor.device_type, tensor.device_id)
        self.shape = tuple(tensor.shape[:tensor.ndim])
        self.strides = tuple(tensor.strides[:tensor.ndim]) if tensor.strides else None
        self.address = (tensor.data or 0) + tensor.byte_offset
        kind = _CODES.get(tensor.code, f"DLPack type {tensor.code} of ")
        self.dtype = _EIGHT_BIT_FLOATS.get(tensor.code, f"{kind}{tensor.bits}")
        if tensor.lanes != 1:
            self.dtype += f" x {tensor.lanes}"

    def release(self):
        managed, self._managed = self._managed, None
        if managed and managed.contents.deleter:
            ctypes.CFUNCTYPE(None, c_void_p)(managed.contents.deleter)(
                ctypes.cast(managed, c_void_p))
