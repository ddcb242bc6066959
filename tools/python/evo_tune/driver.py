"""The part of the CUDA driver API that a launch needs, opened at run time."""

import contextlib
import ctypes
import hashlib
import os
import threading
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p
from dataclasses import dataclass

from .errors import Error

_HANDLE = POINTER(c_void_p)
_FUNCTIONS = {
    "cuInit": [c_uint],
    "cuCtxGetCurrent": [_HANDLE],
    "cuCtxPushCurrent_v2": [c_void_p],
    "cuCtxPopCurrent_v2": [_HANDLE],
    "cuCtxGetDevice": [POINTER(c_int)],
    "cuDevicePrimaryCtxRetain": [_HANDLE, c_int],
    "cuDeviceGetName": [c_char_p, c_int, c_int],
    "cuDeviceGetAttribute": [POINTER(c_int), c_int, c_int],
    "cuPointerGetAttribute": [c_void_p, c_int, c_uint64],
    "cuModuleLoadData": [_HANDLE, c_char_p],
    "cuModuleGetFunction": [_HANDLE, c_void_p, c_char_p],
    "cuFuncSetAttribute": [c_void_p, c_int, c_int],
    "cuMemAlloc_v2": [POINTER(c_uint64), c_size_t],
    "cuMemsetD8Async": [c_uint64, c_ubyte, c_size_t, c_void_p],
    "cuStreamCreate": [_HANDLE, c_uint],
    "cuStreamSynchronize": [c_void_p],
    "cuStreamDestroy_v2": [c_void_p],
    "cuStreamGetCaptureInfo_v2": [c_void_p, POINTER(c_int), POINTER(c_uint64), c_void_p, c_void_p,
                                  c_void_p],
    "cuThreadExchangeStreamCaptureMode": [POINTER(c_int)],
    "cuEventCreate": [_HANDLE, c_uint],
    "cuEventRecord": [c_void_p, c_void_p],
    "cuStreamWaitEvent": [c_void_p, c_void_p, c_uint],
    "cuEventDestroy_v2": [c_void_p],
    "cuLaunchKernel": [c_void_p] + [c_uint] * 7 + [c_void_p, POINTER(c_void_p), c_void_p],
    "cuGetErrorName": [c_int, POINTER(c_char_p)],
}
# Values of enumerations in cuda.h.
_SM_COUNT, _MAJOR, _MINOR, _SHARED_OPTIN = 16, 75, 76, 97
_POINTER_DEVICE_ORDINAL = 9
_MAX_DYNAMIC_SHARED_BYTES = 8
_CAPTURE_RELAXED = 2
_STREAM_NON_BLOCKING = 1
_EVENT_DISABLE_TIMING = 2
_TENSOR_MAP_BYTES, _TENSOR_MAP_ALIGNMENT = 128, 64


class _LaunchAttribute(ctypes.Structure):
    """A CUlaunchAttribute. All launch attributes that evo-tune uses have the value 1."""

    _fields_ = [("id", c_int), ("padding", c_int), ("value", c_int * 16)]


class _LaunchConfig(ctypes.Structure):
    """A CUlaunchConfig."""

    _fields_ = [("sizes", c_uint * 7), ("stream", c_void_p), ("attributes", c_void_p),
                ("attribute_count", c_uint)]


@dataclass(frozen=True)
class Device:
    name: str
    compute_capability: int  # 90 for compute capability 9.0
    sm_count: int
    shared_bytes: int  # the most shared memory to which a CTA can opt in


class Driver:
    """The CUDA driver. If a CUDA call fails, raises Error with the call's name. `file`: the driver
    library (default: EVO_TUNE_DRIVER, else libcuda.so.1)."""

    def __init__(self, file=None):
        self.file = file = file or os.environ.get("EVO_TUNE_DRIVER") or "libcuda.so.1"
        self._lock, self._primary, self._devices = threading.Lock(), {}, {}
        try:
            self._library = ctypes.CDLL(file)
            for name, types in _FUNCTIONS.items():
                getattr(self._library, name).argtypes = types
        except (OSError, AttributeError) as error:
            raise Error(f"{file}: {error}: is a CUDA driver installed?") from None
        self.call("cuInit", 0)

    def call(self, name, *arguments, where=""):
        result = getattr(self._library, name)(*arguments)
        if result == 0:
            return
        text = c_char_p()
        known = self._library.cuGetErrorName(result, byref(text)) == 0 and text.value
        what = text.value.decode() if known else "unknown error"
        raise Error(f"{where}{': ' if where else ''}{name}: {what}")

    def context(self):
        """The current context, or None."""
        context = c_void_p()
        self.call("cuCtxGetCurrent", byref(context))
        return context.value

    def device_number(self):
        """The number of the current context's device."""
        number = c_int()
        self.call("cuCtxGetDevice", byref(number))
        return number.value

    @contextlib.contextmanager
    def on(self, device):
        """A context manager: makes a context of `device` current and yields its handle. If `device`
        is None, keeps the current context; raises Error if there is none."""
        context = self.context()
        if device is None and context is None:
            raise Error("no CUDA context is current on this thread")
        if device is None or (context is not None and self.device_number() == device):
            yield context
            return
        # The primary context is never released, because PyTorch and the CUDA runtime share it.
        with self._lock:
            if device not in self._primary:
                retained = c_void_p()
                self.call("cuDevicePrimaryCtxRetain", byref(retained), device)
                self._primary[device] = retained.value
        self.call("cuCtxPushCurrent_v2", self._primary[device])
        try:
            yield self._primary[device]
        finally:
            self.call("cuCtxPopCurrent_v2", byref(c_void_p()))

    def device(self):
        number = self.device_number()
        if number not in self._devices:
            value, name = c_int(), ctypes.create_string_buffer(256)
            self.call("cuDeviceGetName", name, 255, number)
            numbers = []
            for attribute in (_MAJOR, _MINOR, _SM_COUNT, _SHARED_OPTIN):
                self.call("cuDeviceGetAttribute", byref(value), attribute, number)
                numbers.append(value.value)
            self._devices[number] = Device(name.value.decode(), 10 * numbers[0] + numbers[1],
                                           *numbers[2:])
        return self._devices[number]

    def device_of(self, address):
        number = c_int()
        self.call("cuPointerGetAttribute", byref(number), _POINTER_DEVICE_ORDINAL, address)
        return number.value

    def load(self, file, sha256):
        try:
            with open(file, "rb") as code:
                content = code.read()
        except OSError as error:
            raise Error(f"{file}: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != sha256:
            raise Error(f"{file}: is not the file that was checked: export the bundle again")
        module = c_void_p()
        self.call("cuModuleLoadData", byref(module), content, where=file)
        return module

    def function(self, module, entry, shared_bytes, where):
        function = c_void_p()
        self.call("cuModuleGetFunction", byref(function), module, entry.encode(), where=where)
        self.call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED_BYTES, shared_bytes,
                  where=where)
        return function

    def capture(self, stream):
        """The id of the graph capture in which the stream takes part; 0 if there is none."""
        if stream in (0, 1):  # the default stream cannot be captured
            return 0
        status, number = c_int(), c_uint64()
        self.call("cuStreamGetCaptureInfo_v2", stream, byref(status), byref(number), None, None,
                  None)
        return number.value if status.value != 0 else 0

    @contextlib.contextmanager
    def outside_captures(self):
        """Within a with statement, CUDA calls of this thread neither join a stream capture nor
        invalidate a capture."""
        mode = c_int(_CAPTURE_RELAXED)
        self.call("cuThreadExchangeStreamCaptureMode", byref(mode))
        try:
            yield
        finally:
            self.call("cuThreadExchangeStreamCaptureMode", byref(mode))

    def zeroed(self, count):
        """Allocates `count` bytes of device memory, fills the bytes with zeros, and returns their
        address."""
        address, stream = c_uint64(), c_void_p()
        self.call("cuMemAlloc_v2", byref(address), max(count, 1))
        self.call("cuStreamCreate", byref(stream), _STREAM_NON_BLOCKING)
        self.call("cuMemsetD8Async", address, 0, max(count, 1), stream)
        self.call("cuStreamSynchronize", stream)
        self.call("cuStreamDestroy_v2", stream)
        return address.value

    def wait(self, stream, other):
        """Makes later work on `stream` wait for the work that is now queued on the stream
        `other`."""
        event = c_void_p()
        self.call("cuEventCreate", byref(event), _EVENT_DISABLE_TIMING)
        try:
            self.call("cuEventRecord", event, other)
            self.call("cuStreamWaitEvent", stream, event, 0)
        finally:
            self.call("cuEventDestroy_v2", event)

    def encoded(self, its, base, where):
        """A CUtensorMap over the buffer at `base`, as a ctypes object at an aligned address."""
        if not hasattr(self._library, "cuTensorMapEncodeTiled"):  # from CUDA 12.0 on
            raise Error(f"{where}: the driver is too old for tensor maps; update it to 525 or newer")
        room = (c_ubyte * (_TENSOR_MAP_BYTES + _TENSOR_MAP_ALIGNMENT))()
        offset = -ctypes.addressof(room) % _TENSOR_MAP_ALIGNMENT
        tensor_map = (c_ubyte * _TENSOR_MAP_BYTES).from_buffer(room, offset)
        dims, strides = [(c_uint64 * len(sizes))(*sizes) for sizes in (its.dims, [*its.strides, 0])]
        box, steps = [(c_uint * len(sizes))(*sizes) for sizes in (its.box, its.element_strides)]
        self.call("cuTensorMapEncodeTiled", tensor_map, c_int(its.type), c_uint(len(its.dims)),
                  c_uint64(base), dims, strides, box, steps, c_int(0), c_int(its.swizzle),
                  c_int(its.promotion), c_int(0), where=where)
        return tensor_map

    def launch(self, function, step, stream, values, where):
        """Launches a kernel. `values`: one ctypes object for each parameter."""
        pointers = (c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        if not step.attributes:
            self.call("cuLaunchKernel", function, *step.sizes, stream, pointers, None, where=where)
            return
        if not hasattr(self._library, "cuLaunchKernelEx"):  # from CUDA 11.8 on
            raise Error(f"{where}: the driver is too old for launch attributes; update it to 525 or "
                        "newer")
        count = len(step.attributes)
        attributes = (_LaunchAttribute * count)(
            *[_LaunchAttribute(number, 0, (c_int * 16)(1)) for number in step.attributes])
        config = _LaunchConfig((c_uint * 7)(*step.sizes), stream, ctypes.addressof(attributes),
                               count)
        self.call("cuLaunchKernelEx", byref(config), function, pointers, None, where=where)
