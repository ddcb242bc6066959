"""Kernel Tuner's interface, implemented by evo-tune (docs/python.md)."""

from .errors import (CompilationFailedConfig, ErrorConfig, InvalidConfig, NotSupported,
                     RuntimeFailedConfig)
from .tune import run_kernel, tune_kernel

__all__ = ["CompilationFailedConfig", "ErrorConfig", "InvalidConfig", "NotSupported",
           "RuntimeFailedConfig", "run_kernel", "tune_kernel"]
