"""Launches the kernels of a bundle that evo-export --bundle wrote (docs/bundle.md).

    kernel = evo_tune.load("sdpa_fp8")
    kernel(q, k, v, o, lse, q_scale, k_scale, v_scale, B=2, H=8, HKV=8, LQ=512, ..., stream=0)
    print(kernel.choose(B=2, H=8, HKV=8, LQ=300, ...).why)

Pure Python: the CUDA driver is opened by ctypes.
"""

from .bundle import Bundle, Choice, Device, load
from .errors import Error

__all__ = ["Bundle", "Choice", "Device", "Error", "load"]
