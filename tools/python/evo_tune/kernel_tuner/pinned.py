"""Replaces PyCUDA if it is not installed, because scripts take pinned arrays and a context from
PyCUDA."""

import importlib.util
import sys
import types

import numpy

from .errors import NotSupported


class _Device:
    """Replaces pycuda.driver.Device. The methods for contexts do nothing, because evo-tune's
    workers create the contexts."""

    def __init__(self, number=0):
        self.number = number

    def make_context(self, *_):
        return self

    def pop(self):
        pass

    detach = pop


def _pagelocked_empty(shape, dtype, order="C", mem_flags=0):
    del mem_flags
    return numpy.empty(shape, dtype, order)


def _refuse(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise NotSupported(f"pycuda.driver.{name}: PyCUDA is not installed; NumPy arrays serve as "
                       "arguments")


def install():
    """Makes `import pycuda.driver` work if PyCUDA is not installed."""
    if "pycuda" in sys.modules or importlib.util.find_spec("pycuda") is not None:
        return
    package, driver = types.ModuleType("pycuda"), types.ModuleType("pycuda.driver")
    package.__path__ = []
    package.driver = driver
    flags = types.SimpleNamespace(PORTABLE=1, DEVICEMAP=2, WRITECOMBINED=4)
    driver.__dict__.update({"init": lambda flags=0: None, "Device": _Device,
                            "pagelocked_empty": _pagelocked_empty, "host_alloc_flags": flags,
                            "__getattr__": _refuse})
    sys.modules.update({"pycuda": package, "pycuda.driver": driver})
