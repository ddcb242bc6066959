#!/usr/bin/env python3
"""Launches a kernel that evo-export wrote, by its manifest alone, on PyTorch tensors.

    run_cubin.py out/sdpa_fp8_wmma_h200_mission.json [--launches 1000]

Needs PyTorch with CUDA and either cuda-python (cuda.bindings.driver) or CuPy.
Exit codes: 0 it ran (and its result is right, for a problem this program can check), 1 the result
is wrong, 2 bad usage or files, 3 a package or a GPU is missing.
"""

import argparse
import ctypes
import json
import pathlib
import re
import sys

SCALAR_TYPES = {
    "i8": ctypes.c_int8, "u8": ctypes.c_uint8, "i32": ctypes.c_int32, "u32": ctypes.c_uint32,
    "i64": ctypes.c_int64, "u64": ctypes.c_uint64, "f32": ctypes.c_float, "f64": ctypes.c_double,
}


def torch_type(torch, dtype):
    """The element type of a tensor; unsigned integers travel as the signed type of their size."""
    return {
        "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "f16": torch.float16,
        "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "i8": torch.int8,
        "u8": torch.uint8, "i32": torch.int32, "u32": torch.int32, "i64": torch.int64,
        "u64": torch.int64,
    }[dtype]


def dimensions(values):
    """Grid or block of a manifest as three numbers."""
    return tuple(([entry["value"] for entry in values] + [1, 1, 1])[:3])


class DriverModule:
    """A cubin loaded through cuda.bindings.driver."""

    def __init__(self, cubin):
        from cuda.bindings import driver
        self.driver = driver
        self.module = self.call(driver.cuModuleLoadData, cubin)

    def kernel(self, entry, shared_bytes):
        function = self.call(self.driver.cuModuleGetFunction, self.module, entry.encode())
        # More than 48 KiB of dynamic shared memory must be asked for.
        attribute = self.driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self.call(self.driver.cuFuncSetAttribute, function, attribute, shared_bytes)
        return function

    def call(self, function, *arguments):
        error, *results = function(*arguments)
        if error != self.driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(f"{function.__name__}: {error.name}")
        return results[0] if results else None

    def launch(self, function, grid, block, shared_bytes, parameters, stream):
        values = tuple(value for value, _ in parameters)
        types = tuple(ctype for _, ctype in parameters)
        self.call(self.driver.cuLaunchKernel, function, *grid, *block, shared_bytes, stream,
                  (values, types), 0)


class CupyModule:
    """A cubin loaded through CuPy."""

    def __init__(self, cubin):
        import cupy
        self.cupy = cupy
        self.module = cupy.cuda.function.Module()
        self.module.load(cubin)

    def kernel(self, entry, shared_bytes):
        function = self.module.get_function(entry)
        attribute = self.cupy.cuda.driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self.cupy.cuda.driver.funcSetAttribute(function.ptr, attribute, shared_bytes)
        return function

    def launch(self, function, grid, block, shared_bytes, parameters, stream):
        import numpy
        arguments = tuple(numpy.frombuffer(bytes(ctype(value)), numpy.dtype(ctype))[0]
                          for value, ctype in parameters)
        with self.cupy.cuda.ExternalStream(stream):
            function(grid, block, arguments, shared_mem=shared_bytes)


def load_module(cubin):
    """Through cuda-python where it is installed, else through CuPy."""
    try:
        return DriverModule(cubin)
    except ImportError:
        return CupyModule(cubin)


def steps_of(manifest):
    """The kernels of a launch that run, each with the positions of its arguments: one, or several
    that run one after the other."""
    names = [argument["name"] for argument in manifest["arguments"]]
    if "steps" not in manifest:
        return [(manifest["entry"], manifest["launch"], range(len(names)))]
    return [(step["entry"], step["launch"], [names.index(name) for name in step["arguments"]])
            for step in manifest["steps"] if step["runs"]]


def draw(torch, generator, count, dtype):
    """An input as the manifest's generator describes it."""
    kind = generator["distribution"]
    if kind == "normal":
        values = torch.randn(count, device="cuda") * generator["std"] + generator["mean"]
    elif kind == "uniform":
        low, high = generator["low"], generator["high"]
        values = torch.rand(count, device="cuda") * (high - low) + low
    elif kind == "integers":
        values = torch.randint(generator["low"], generator["high"] + 1, (count,), device="cuda")
    elif kind == "constant":
        values = torch.full((count,), float(generator["value"]), device="cuda")
    else:
        raise ValueError(f"unknown distribution {kind}")
    if dtype == torch.float8_e4m3fn:
        values = values.clamp(-448, 448)  # the largest e4m3 number; the conversion gives NaN beyond
    return values.to(dtype)


def make_arguments(torch, manifest):
    """Tensors by name (inputs drawn, outputs NaN bytes, workspaces zero) and all parameters."""
    tensors, parameters = {}, []
    for argument in manifest["arguments"]:
        if ("kind" in argument or "fields" in argument
                or "distribution" not in argument.get("generator", {"distribution": None})):
            sys.exit(f"argument '{argument['name']}': not supported by this example: __constant__ "
                     "variables, textures, structures, inputs from formulas and files")
        name, direction, dtype = argument["name"], argument["direction"], argument["dtype"]
        if direction == "scalar":
            value = argument["value"]["value"]
            if dtype in SCALAR_TYPES:
                ctype = SCALAR_TYPES[dtype]
                value = float(value) if dtype in ("f32", "f64") else int(value)
            else:  # a small float: its bits
                bits = torch.tensor([float(value)]).to(torch_type(torch, dtype))
                size = bits.element_size()
                ctype = ctypes.c_uint8 if size == 1 else ctypes.c_uint16
                value = int.from_bytes(bytes(bits.view(torch.uint8).tolist()), "little")
        else:
            count = int(argument["extent"]["value"])
            element = torch_type(torch, dtype)
            if direction in ("in", "inout"):
                tensor = draw(torch, argument["generator"], count, element)
            else:
                poison = 0xFF if direction == "out" else 0
                size = torch.empty(0, dtype=element).element_size()
                tensor = torch.full((count * size,), poison, dtype=torch.uint8,
                                    device="cuda").view(element)
            tensors[name] = tensor
            value, ctype = tensor.data_ptr(), ctypes.c_uint64
        parameters.append((value, ctype))
    return tensors, parameters


def check_sdpa_fp8(torch, manifest, tensors):
    """Compares the output with PyTorch's attention on the dequantised inputs; True when right."""
    sizes = {name: int(value) for name, value in manifest["shape"]["variables"].items()}
    scalars = {argument["name"]: argument["value"]["value"]
               for argument in manifest["arguments"] if argument["direction"] == "scalar"}

    def dequantised(name, heads, length):
        scale = tensors[f"{name}_scale"].double().view(-1, heads if sizes["PER_HEAD"] else 1, 1, 1)
        return tensors[name].view(sizes["B"], heads, length, sizes["D"]).double() * scale

    q = dequantised("q", sizes["H"], sizes["LQ"])
    k, v = (dequantised(name, sizes["HKV"], sizes["LKV"]) for name in "kv")
    reference = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, scale=scalars["softmax_scale"], is_causal=bool(sizes["CAUSAL"]),
        enable_gqa=sizes["H"] != sizes["HKV"])
    error = tensors["o"].view(q.shape).double() - reference
    max_abs_error = error.abs().max().item()
    relative_l2 = (error.norm() / reference.norm()).item()
    # The largest error relative to the rms of its row of the reference.
    row_error = (error.abs().amax(-1) / reference.square().mean(-1).sqrt()).max().item()
    tolerance = manifest["tolerance"]
    # NaN compares as false with everything, so that a NaN fails here.
    right = (max_abs_error <= tolerance["max_abs_error"]
             and relative_l2 <= tolerance["relative_l2"]
             and row_error <= tolerance.get("max_row_error", float("inf")))
    print(f"compared with PyTorch in double precision: max abs error {max_abs_error:.3g}, "
          f"relative L2 {relative_l2:.3g}, row error {row_error:.3g}: {'right' if right else 'WRONG'}")
    return right


def check_device(torch, arch):
    """Raises when the GPU cannot run code of `arch` (sm_90 or sm_90a)."""
    found = re.fullmatch(r"sm_(\d+)(\d)([a-z]?)", arch)
    wanted = (int(found[1]), int(found[2]))
    device = torch.cuda.get_device_capability()
    fits = device == wanted or (not found[3] and device[0] == wanted[0] and device >= wanted)
    if not fits:
        raise RuntimeError(f"the cubin is for {arch}, the GPU is sm_{device[0]}{device[1]}")


def time_launches(torch, launch, launches):
    """Mean microseconds of a launch, back to back, launch overhead included."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(launches):
        launch()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1000 / launches


def load_launch(manifest, folder):
    """The kernel of a manifest, loaded: a function of parameters (make_arguments) and a stream that
    launches it, in all its steps. PyTorch's context must be the current one."""
    module = load_module((folder / manifest["cubin"]).read_bytes())
    # One kernel may be launched by several steps: it is allowed the most that any of them needs.
    most_shared = {}
    for entry, geometry, _ in steps_of(manifest):
        shared_bytes = int(geometry["dynamic_shared_bytes"]["value"])
        most_shared[entry] = max(most_shared.get(entry, 0), shared_bytes)
    steps = [(module.kernel(entry, most_shared[entry]),
              dimensions(geometry["grid"]), dimensions(geometry["block"]),
              int(geometry["dynamic_shared_bytes"]["value"]), positions)
             for entry, geometry, positions in steps_of(manifest)]

    def launch(parameters, stream):
        for *kernel_and_geometry, positions in steps:
            module.launch(*kernel_and_geometry, [parameters[at] for at in positions], stream)

    return launch


def run(torch, manifest, folder, launches):
    check_device(torch, manifest["arch"])
    torch.manual_seed(1)
    torch.zeros(1, device="cuda")  # makes PyTorch's context the current one
    launch_with = load_launch(manifest, folder)
    tensors, parameters = make_arguments(torch, manifest)
    stream = torch.cuda.current_stream().cuda_stream

    def launch():
        launch_with(parameters, stream)

    launch()
    torch.cuda.synchronize()
    for entry, _, _ in steps_of(manifest):
        print(f"{entry} ran")
    right = True
    if manifest["problem"] == "sdpa_fp8":
        right = check_sdpa_fp8(torch, manifest, tensors)
    else:
        print("its result was not compared: this program only knows the problem sdpa_fp8")
    print(f"{time_launches(torch, launch, launches):.2f} us a launch, back to back from Python")
    return 0 if right else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("manifest", type=pathlib.Path, help="the .json that evo-export wrote")
    parser.add_argument("--launches", type=int, default=1000, help="timed launches")
    options = parser.parse_args()
    try:
        manifest = json.loads(options.manifest.read_text())
        if manifest.get("format") != "evo-tune kernel 1":
            raise ValueError("is not a kernel exported by evo-tune")
    except (OSError, ValueError) as error:
        print(f"run_cubin.py: {options.manifest}: {error}", file=sys.stderr)
        return 2
    try:
        import torch
        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch sees no CUDA GPU")
        return run(torch, manifest, options.manifest.parent, options.launches)
    except (ImportError, RuntimeError) as error:
        print(f"run_cubin.py: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
