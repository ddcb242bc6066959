"""PythonKernel of Kernel Tuner: a kernel that can be called like a Python function."""

import numpy

from .errors import NotSupported
from .tune import run_kernel


class PythonKernel:
    """A kernel in one configuration as a function of arrays; each call launches the kernel once."""

    def __init__(self, kernel_name, kernel_string, problem_size, arguments, params=None,
                 inputs=None, outputs=None, device=0, platform=0, block_size_names=None,
                 grid_div_x=None, grid_div_y=None, grid_div_z=None, verbose=True, lang=None,
                 results_file=None):
        del platform, verbose
        if results_file is not None:
            raise NotSupported("results_file: not supported; pass the configuration as params")
        self._call = {"kernel_name": kernel_name, "kernel_source": kernel_string,
                      "problem_size": problem_size, "params": params or {}, "device": device,
                      "block_size_names": block_size_names, "grid_div_x": grid_div_x,
                      "grid_div_y": grid_div_y, "grid_div_z": grid_div_z, "lang": lang}
        self._arguments = list(arguments)
        self._inputs = inputs or [True] * len(arguments)
        self._outputs = outputs or [True] * len(arguments)

    def __call__(self, *arguments):
        given = [new if is_input else old for new, old, is_input in
                 zip(arguments, self._arguments, self._inputs)]
        left = run_kernel(arguments=given, **self._call)
        return [value for value, is_output in zip(left, self._outputs)
                if is_output and isinstance(value, numpy.ndarray) and value.ndim]
