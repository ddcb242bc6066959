#!/usr/bin/env python3
"""Measures the CPU time of a call that launches a bundle's kernel from Python.

    launch_cost.py [--arguments 2,4,8,16] [--json FILE]
                   [--driver build/ci/tests/tools/libfake_driver.so]

The kernel copies its first buffer to its last buffer. The table has one column for each number of
buffers (--arguments). On a GPU with PyTorch, the kernel is called as a bundle (by Python code
alone, the C++ extension, a launch plan, torch_op, torch.compile, a CUDA graph) and compared with a
Triton kernel of the same arguments, torch.add and scaled_dot_product_attention. Without Triton, its
rows are left out. The script checks that the kernel's outputs are right.

--driver names a fake driver that executes no kernels, so no GPU is needed. With a fake driver,
buffers are addresses, objects with __cuda_array_interface__, and fake PyTorch tensors. If PyTorch
is installed, the script also prints the overhead of a custom operator.

Needs the Python package evo_tune; overrides the environment variable EVO_TUNE_LAUNCHER. Prints
microseconds per call: the minimum of several series of calls. A series has fewer calls than the
driver's queue holds, so no call waits for the GPU, and the time excludes the kernels' execution.
Only the time of a CUDA graph includes the execution. Exit codes: 0 all results are right, 1 a
result is wrong or missing, 3 a package or a GPU is missing.
"""

import argparse
import ctypes
import hashlib
import importlib.metadata
import importlib.util
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

N = 256
CALLS = 500  # fewer than the 1,024 launches that a stream queues, so no call waits for the GPU
GRAPH_CALLS = 100
ROUNDS = 9
PURE, GRAPH = "Python code alone", "CUDA graph of extension"


def ptx(buffers):
    parameters = ",\n".join(f"  .param .u64 p{i}" for i in range(buffers))
    return f""".version 7.0
.target sm_70
.address_size 64
.visible .entry touch(
{parameters})
{{
  .reg .b64 %rd<5>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p{buffers - 1}];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  ld.global.u32 %r2, [%rd1];
  st.global.u32 [%rd2], %r2;
  ret;
}}
"""


def value(tree):
    return {"expression": str(tree), "tree": tree}


def write_bundle(folder, buffers):
    """Writes a bundle in the form of evo-export, with PTX and without machine code."""
    names = [f"x{i}" for i in range(buffers - 1)] + ["y"]
    arguments = [{"name": name, "direction": "out" if name == "y" else "in", "dtype": "f32",
                  "bytes": value(["*", 4, "N"]), "element_bytes": 4, "alignment": 16,
                  "elements": value("N"), "dimensions": ["N"]} for name in names]
    step = {"entry": "touch", "when": value(1), "arguments": names,
            "sizes": [*[value(1)] * 3, value(N), *[value(1)] * 2, value(0)]}
    code = ptx(buffers).encode() + b"\0"
    folder.joinpath("touch.ptx").write_bytes(code)
    digest = hashlib.sha256(code).hexdigest()
    kernel = {"name": "touch", "cubin": "touch.cubin", "ptx": "touch.ptx",
              "sha256": {"cubin": digest, "ptx": digest},
              "plan": {"machine_code": {"from": 1, "to": 0}, "ptx": {"from": 70, "to": 999},
                       "valid": [], "arguments": arguments, "steps": [step],
                       "chosen_for": [{"device": "any", "rank": 0, "shape": "n", "sizes": [N]}]}}
    text = json.dumps({"format": "evo-tune bundle 3", "name": f"touch{buffers}",
                       "shape_variables": ["N"], "kernels": [kernel]})[1:].encode()
    head = b'{"sha256": "%s",\n' % hashlib.sha256(text).hexdigest().encode()
    folder.joinpath("bundle.json").write_bytes(head + text)


def one_round(call, calls=CALLS, finish=lambda: None, until_finished=False):
    """The microseconds per call of `call` over `calls` calls; with `until_finished`, until finish()
    has returned."""
    finish()
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    if until_finished:
        finish()
    return (time.perf_counter() - begin) / calls * 1e6


def microseconds(call):
    return min(one_round(call) for _ in range(ROUNDS))


class Table:
    """A table of times: a row for each way to call, a column for each number of buffers."""

    def __init__(self, counts):
        self.counts, self.rows = counts, {}

    def put(self, row, count, figure):
        self.rows.setdefault(row, {})[count] = figure

    def print(self):
        width = max(len(row) for row in self.rows)
        print(f"{'us a call, by buffers':{width}}" + "".join(f"{its:>9}" for its in self.counts))
        for row, figures in self.rows.items():
            cells = (f"{figures[its]:9.2f}" if its in figures else " " * 9 for its in self.counts)
            print(f"{row:{width}}" + "".join(cells))

    def write(self, file, about):
        """Writes the times of each row, and the facts `about` the machine, to a JSON file."""
        content = {**about, "python": platform.python_version(), "unit": "us a call",
                   "buffers": self.counts,
                   "rows": {row: [round(figures[its], 3) if its in figures else None
                                  for its in self.counts] for row, figures in self.rows.items()}}
        Path(file).write_text(json.dumps(content, indent=1) + "\n")


def loaded(folder, driver, is_pure):
    os.environ["EVO_TUNE_LAUNCHER"] = "python" if is_pure else ""
    import evo_tune
    return evo_tune.load(folder, driver)


class Interface:
    def __init__(self, address):
        self.__cuda_array_interface__ = {"data": (address, False), "shape": (N,), "typestr": "<f4",
                                         "strides": None, "version": 3}


def without_gpu(table, driver):
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests/tools/python"))
    import fake_torch
    fake, context = ctypes.CDLL(driver), ctypes.c_int()
    fake.fake_context.argtypes = [ctypes.c_void_p]
    fake.fake_reset(b"Fake 90", 90, 0)
    fake.fake_context(ctypes.addressof(context))
    fake.fake_quiet(1)
    torch = fake_torch.install(fake)
    kinds = {"addresses": int, "__cuda_array_interface__": Interface,
             "tensors": lambda address: torch.Tensor(address, (N,))}
    for count in table.counts:
        with tempfile.TemporaryDirectory() as folder:
            write_bundle(Path(folder), count)
            for kind, make in kinds.items():
                buffers = [make(0x10000 * (1 + i)) for i in range(count)]
                sizes = {"N": N} if kind == "addresses" else {}
                for way in (PURE, "extension", "plan"):
                    kernel = loaded(folder, driver, way == PURE)
                    *inputs, y = buffers
                    plan = kernel.plan(*inputs, y=y, **sizes)
                    call = (lambda: plan(*buffers)) if way == "plan" else (
                        lambda: kernel(*inputs, y=y, **sizes))
                    table.put(f"{way}, {kind}", count, microseconds(call))


def of_pytorch(counts):
    """Measures what a custom operator of the real PyTorch adds to a call, on the CPU. Runs in a
    separate process, because the fake PyTorch of without_gpu() has the module name torch, too."""
    import torch
    table = Table(counts)
    for count in counts:
        tensors = [torch.zeros(N) for _ in range(count)]
        library = torch.library.Library(f"launch_cost_{count}", "FRAGMENT")
        schema = ", ".join(f"Tensor x{i}" for i in range(count))
        library.define(f"touch({schema}) -> Tensor")
        library.impl("touch", lambda *its: its[-1].detach(), "CompositeExplicitAutograd")
        operator = getattr(torch.ops, f"launch_cost_{count}").touch.default
        with torch.no_grad():
            table.put("what a custom operator adds, on the CPU", count, microseconds(
                lambda: operator(*tensors)) - microseconds(lambda: tensors[-1].detach()))
    table.print()


_TRITON = """import triton
import triton.language as tl

@triton.jit
def touch({parameters}, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store({last} + i, tl.load(x0 + i))
"""


def triton_kernel(folder, count):
    """The Triton kernel; None if Triton is missing."""
    if importlib.util.find_spec("triton") is None:
        return None
    names = [f"x{i}" for i in range(count)]
    file = Path(folder, f"touch_{count}.py")
    file.write_text(_TRITON.format(parameters=", ".join(names), last=names[-1]))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.touch


def void(_):
    """Discards the result of a call whose output is in a buffer, and returns None."""


def triton_call(torch, touch, inputs):
    y = torch.empty_like(inputs[0])
    touch[(1,)](*inputs, y, N=N)
    return y


def graph_of(torch, call):
    call()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(GRAPH_CALLS):
            call()
    return graph


def ways_of(torch, folder, count, inputs, y):
    """The ways to launch the kernel, by name: functions that return the output, or None if they
    write the output to `y`."""
    import evo_tune
    pure, kernel = loaded(folder, None, True), loaded(folder, None, False)
    plan, operator = kernel.plan(*inputs, y=y), evo_tune.torch_op(kernel)
    compiled = torch.compile(lambda *its: operator(*its), fullgraph=True)
    ways = {PURE: lambda: pure(*inputs, y=y),
            "extension": lambda: kernel(*inputs, y=y),
            "extension, allocating its output": lambda: kernel(*inputs),
            "plan": lambda: plan(*inputs, y),
            "torch_op": lambda: operator(*inputs),
            GRAPH: lambda: kernel(*inputs, y=y)}
    touch = triton_kernel(folder, count)
    if touch is not None:
        ways["Triton"] = lambda: void(touch[(1,)](*inputs, y, N=N))
        ways["Triton, allocating its output"] = lambda: triton_call(torch, touch, inputs)
    ways["torch.compile of torch_op"] = lambda: compiled(*inputs)
    return ways


def checked(torch, way, call, y, expected):
    """The function to measure for one way to launch. Raises ValueError if the function gives a
    wrong output."""
    os.environ["EVO_TUNE_LAUNCHER"] = "python" if way == PURE else ""
    if way == GRAPH:
        graph = graph_of(torch, call)
        call = lambda: void(graph.replay())
    y.zero_()
    result = call()
    if not torch.equal(y if result is None else result, expected):
        raise ValueError("the output is wrong")
    return call


def measure(table, torch, count, calls):
    """Puts the functions' times into the table. The functions take turns, so that the state of the
    machine affects all alike."""
    least = dict.fromkeys(calls, math.inf)
    for _ in range(1 + ROUNDS):
        for way, call in calls.items():
            os.environ["EVO_TUNE_LAUNCHER"] = "python" if way == PURE else ""
            finish = torch.cuda.synchronize
            time_us = (one_round(call, 50, finish, True) / GRAPH_CALLS if way == GRAPH
                       else one_round(call, CALLS, finish))
            least[way] = min(least[way], time_us)
    for way, time_us in least.items():
        table.put(way, count, time_us)


def on_gpu(table, torch):
    """Measures all ways to launch. Returns False if a result is wrong or a way fails; the other
    ways are still measured."""
    is_right = True
    a, q = torch.randn(N, device="cuda"), torch.randn(1, 8, 128, 64, device="cuda").half()
    attention = torch.nn.functional.scaled_dot_product_attention
    for count in table.counts:
        with tempfile.TemporaryDirectory() as folder:
            write_bundle(Path(folder), count)
            inputs = [torch.randn(N, device="cuda") for _ in range(count - 1)]
            y = torch.empty(N, device="cuda")
            calls = {}
            for way, call in ways_of(torch, folder, count, inputs, y).items():
                try:
                    calls[way] = checked(torch, way, call, y, inputs[0])
                except Exception as error:  # pylint: disable=broad-exception-caught
                    is_right = False
                    print(f"launch_cost.py: {way}, {count} buffers: {type(error).__name__}: "
                          f"{error}", file=sys.stderr)
            if count == table.counts[0]:
                calls["torch.add(out=…)"] = lambda: torch.add(a, a, out=a)
                calls["scaled_dot_product_attention"] = lambda: attention(q, q, q)
            measure(table, torch, count, calls)
    return is_right


def about(torch):
    has_triton = importlib.util.find_spec("triton") is not None
    return {"device": torch.cuda.get_device_name(), "pytorch": torch.__version__,
            "triton": importlib.metadata.version("triton") if has_triton else ""}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--arguments", default="2,4,8,16")
    parser.add_argument("--driver", help="measure without a GPU, with a driver library that "
                                         "executes no kernels")
    parser.add_argument("--json", metavar="FILE", help="writes the figures to a file as well")
    parser.add_argument("--of-pytorch", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    counts = [int(count) for count in options.arguments.split(",")]
    try:
        from evo_tune import fast
    except ImportError as error:
        print(f"launch_cost.py: {error}", file=sys.stderr)
        return 3
    if not fast.is_there():
        print("launch_cost.py: the extension of evo_tune is missing", file=sys.stderr)
        return 3
    if options.of_pytorch:
        of_pytorch(counts)
        return 0
    table, is_right, facts = Table(counts), True, {"device": options.driver}
    has_torch = importlib.util.find_spec("torch") is not None
    if options.driver:
        without_gpu(table, os.path.abspath(options.driver))
    elif not has_torch:
        print("launch_cost.py: PyTorch is missing; --driver measures without it", file=sys.stderr)
        return 3
    else:
        import torch
        if not torch.cuda.is_available():
            print("launch_cost.py: there is no GPU; --driver measures without one",
                  file=sys.stderr)
            return 3
        is_right, facts = on_gpu(table, torch), about(torch)
        print(*facts.values())
    table.print()
    if options.json:
        table.write(options.json, facts)
    if options.driver and has_torch:
        subprocess.run([sys.executable, __file__, "--of-pytorch", "--arguments", options.arguments],
                       check=True)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
