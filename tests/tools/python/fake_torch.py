"""A fake PyTorch for tests, whose tensors have the attributes that a launch of a bundle reads."""

import ctypes
import sys
import types

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_NAME = b"dlpack_exchange_api"  # kept alive here, because a capsule does not copy its name
_CODES = {"float32": (2, 32), "float8_e4m3fn": (10, 8), "int32": (0, 32)}


class _Exchange(ctypes.Structure):
    """The structure DLPackExchangeAPI of dlpack.h."""
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                *((name, ctypes.c_void_p) for name in ("previous", "allocate", "from_object",
                                                       "to_object", "read", "stream"))]


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class DType(str):
    def __str__(self):
        return f"torch.{str.__str__(self)}"


class Device:
    type = "cuda"

    def __init__(self, index):
        self.index = index

    def __str__(self):
        return f"cuda:{self.index}"


class Tensor:
    """A tensor at an address, with the attributes of PyTorch's tensors."""

    def __init__(self, address, shape, dtype="float32", device=0, strides=None):
        self.address, self.shape, self.dtype = address, tuple(shape), DTYPES[dtype]
        self.device, self.is_cuda, self.requires_grad = Device(device), True, False
        step, plain = 1, []
        for size in reversed(self.shape):
            plain.insert(0, step)
            step *= size
        self.strides = tuple(strides or plain)
        self._sizes = (ctypes.c_int64 * len(shape))(*shape)
        self._steps = (ctypes.c_int64 * len(shape))(*self.strides)
        self.plain = self.strides == tuple(plain)
        fake = sys.modules["torch"].driver
        if fake is not None:
            fake.fake_tensor(ctypes.c_void_p(id(self)), ctypes.byref(_DLTensor(
                address, 2, device, len(shape), *_CODES[dtype], 1, self._sizes, self._steps, 0)))

    def data_ptr(self):
        return self.address

    def get_device(self):
        return self.device.index

    def is_contiguous(self):
        return self.plain


DTYPES = {name: DType(name) for name in _CODES}


def install(driver=None):
    """Installs the fake as the module torch. With the library `driver` of the fake CUDA
    driver, tensors have DLPackExchangeAPI."""
    torch = types.ModuleType("torch")
    torch.driver, torch.allocated, torch.is_enabled = driver, [], True
    if driver is not None:
        def address(name):
            return ctypes.cast(getattr(driver, name), ctypes.c_void_p).value
        torch.exchange = _Exchange(1, 3, None, None, None, None, address("fake_read"),
                                   address("fake_stream"))
        Tensor.__dlpack_c_exchange_api__ = _new(ctypes.addressof(torch.exchange), _NAME, None)
    elif hasattr(Tensor, "__dlpack_c_exchange_api__"):
        del Tensor.__dlpack_c_exchange_api__

    def empty(shape, dtype, device):
        torch.allocated.append((tuple(shape), str(dtype), str(device)))
        return Tensor(0x100000 + 0x10000 * len(torch.allocated), shape, str.__str__(dtype),
                      device.index)
    torch.Tensor, torch.empty = Tensor, empty
    torch.is_grad_enabled = lambda: torch.is_enabled
    torch.cuda = types.SimpleNamespace(
        current_stream=lambda device: types.SimpleNamespace(cuda_stream=0x31))
    for name, dtype in DTYPES.items():
        setattr(torch, name, dtype)
    sys.modules["torch"] = torch
    return torch
