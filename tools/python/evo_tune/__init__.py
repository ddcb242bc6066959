"""Launches the kernels of a bundle that evo-export --bundle wrote (docs/bundle.md).

    kernel = evo_tune.load("sdpa_fp8")
    o, lse = kernel(q, k, v, q_scale, k_scale, v_scale)          # tensors on a GPU
    print(kernel.choose(B=2, H=8, HKV=8, LQ=300, ...).why)
    sdpa = evo_tune.torch_op(kernel)                             # the same for torch.compile

Pure Python: the CUDA driver is opened by ctypes.
"""

from .bundle import Bundle, Choice, load
from .driver import Device
from .errors import Error
from .torch_op import torch_op

__all__ = ["Bundle", "Choice", "Device", "Error", "load", "torch_op"]
