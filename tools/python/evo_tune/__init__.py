"""Launches the kernels of a bundle that evo-export --bundle wrote (docs/bundle.md).

    kernel = evo_tune.load("sdpa_fp8")
    o, lse = kernel(q, k, v, q_scale, k_scale, v_scale)          # tensors on a GPU
    print(kernel.choose(B=2, H=8, HKV=8, LQ=300, ...).why)
    sdpa = evo_tune.torch_op(kernel)                             # the same for torch.compile

Python code handles the first call with arguments of given types and shapes; the C++ extension, if
it is installed, handles later such calls. tune_kernel and run_kernel have Kernel Tuner's arguments
(docs/python.md); they need NumPy and the programs of evo-tune.
"""

from .bundle import Bundle, Choice, load
from .driver import Device
from .errors import Error
from .torch_op import torch_op

def _version():
    from importlib import metadata
    try:
        return metadata.version("evo-tune")
    except metadata.PackageNotFoundError:
        return "0"  # the package runs from a source tree


__version__ = _version()

__all__ = ["Bundle", "Choice", "Device", "Error", "load", "run_kernel", "torch_op", "tune",
           "tune_kernel"]


def __getattr__(name):
    # Imported only on use, because launching bundles needs no NumPy.
    if name in ("tune_kernel", "run_kernel"):
        from . import kernel_tuner
        return getattr(kernel_tuner, name)
    if name == "tune":
        from . import search
        return search.tune
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
