"""The part of the CUDA driver API that a launch needs, opened at run time."""

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p

from .errors import Error

_HANDLE = POINTER(c_void_p)
_FUNCTIONS = {
    "cuCtxGetCurrent": [_HANDLE],
    "cuCtxGetDevice": [POINTER(c_int)],
    "cuDeviceGetName": [c_char_p, c_int, c_int],
    "cuDeviceGetAttribute": [POINTER(c_int), c_int, c_int],
    "cuModuleLoadData": [_HANDLE, c_char_p],
    "cuModuleGetFunction": [_HANDLE, c_void_p, c_char_p],
    "cuFuncSetAttribute": [c_void_p, c_int, c_int],
    "cuMemAlloc_v2": [POINTER(c_uint64), c_size_t],
    "cuMemsetD8Async": [c_uint64, c_ubyte, c_size_t, c_void_p],
    "cuLaunchKernel": [c_void_p] + [c_uint] * 7 + [c_void_p, POINTER(c_void_p), c_void_p],
    "cuGetErrorName": [c_int, POINTER(c_char_p)],
}


class Driver:
    """Calls raise Error with the call's name; `file` defaults to EVO_TUNE_DRIVER, libcuda.so.1."""

    def __init__(self, file=None):
        file = file or os.environ.get("EVO_TUNE_DRIVER") or "libcuda.so.1"
        try:
            self._library = ctypes.CDLL(file)
            for name, types in _FUNCTIONS.items():
                getattr(self._library, name).argtypes = types
        except (OSError, AttributeError) as error:
            raise Error(f"{file}: {error}: is a CUDA driver installed?") from None

    def call(self, name, *arguments, where=""):
        result = getattr(self._library, name)(*arguments)
        if result == 0:
            return
        text = c_char_p()
        known = self._library.cuGetErrorName(result, byref(text)) == 0 and text.value
        what = text.value.decode() if known else "unknown error"
        raise Error(f"{where}{': ' if where else ''}{name}: {what}")

    def context(self):
        context = c_void_p()
        self.call("cuCtxGetCurrent", byref(context))
        if not context.value:
            raise Error("no CUDA context is current on this thread")
        return context.value

    def device(self):
        """Name, compute capability x 10, multiprocessors, shared bytes a CTA can opt into."""
        number, value = c_int(), c_int()
        self.call("cuCtxGetDevice", byref(number))
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, 255, number)
        numbers = []
        for attribute in (75, 76, 16, 97):  # major, minor, SMs, shared memory; cuda.h
            self.call("cuDeviceGetAttribute", byref(value), attribute, number)
            numbers.append(value.value)
        return name.value.decode(), 10 * numbers[0] + numbers[1], numbers[2], numbers[3]

    def load(self, file):
        with open(file, "rb") as code:
            content = code.read()
        module = c_void_p()
        self.call("cuModuleLoadData", byref(module), content, where=file)
        return module

    def function(self, module, entry, shared_bytes, where):
        function = c_void_p()
        self.call("cuModuleGetFunction", byref(function), module, entry.encode(), where=where)
        # 8: CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self.call("cuFuncSetAttribute", function, 8, shared_bytes, where=where)
        return function

    def zeroed(self, count, stream):
        address = c_uint64()
        self.call("cuMemAlloc_v2", byref(address), max(count, 1))
        self.call("cuMemsetD8Async", address, 0, max(count, 1), stream)
        return address.value

    def launch(self, function, grid, block, shared_bytes, stream, values, where):
        """`values`: ctypes objects, one a parameter."""
        pointers = (c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        self.call("cuLaunchKernel", function, *grid, *block, shared_bytes, stream, pointers, None,
                  where=where)
