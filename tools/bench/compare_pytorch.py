#!/usr/bin/env python3
"""Times exported FP8 attention kernels against PyTorch's own, in one process, interleaved.

    compare_pytorch.py sdpa_fp8 [more bundles ...] [--json result.json]

Takes every kernel of a bundle of the problem sdpa_fp8 (evo-export --bundle), on the shape for which
it was tuned. Before and after timing it checks the kernel against scaled_dot_product_attention in
double precision on the dequantised inputs. It times the kernel and every backend that PyTorch has
on this machine: flash, cuDNN, efficient and math, each from fp16 tensors and from the same FP8
bytes (conversion and attention). A sample is one replay of a CUDA graph of many launches over
rotating input sets. Samples of all contenders alternate, with every second round in reverse order,
so that a drifting clock affects all of them. With --db it stores PyTorch's times with the run of
the kernel; evo-elite and evo-report show them. vendor_times.py stores them later, on another
machine.

Needs PyTorch with CUDA. Exit codes: 0 right, 1 a kernel is wrong, 2 bad usage or files, 3 a package
or a GPU is missing.
"""

import argparse
import json
import math
import pathlib
import sqlite3
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs" / "examples"), str(ROOT / "tools" / "python")]
import evo_tune  # noqa: E402
import use_bundle  # noqa: E402  draws the inputs
import vendor_times  # noqa: E402

BACKENDS = ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION", "MATH")
GRAPH_US = 400.0  # target time of one graph, so that the events around it are negligible


class InputSet:
    """One set of arguments, and PyTorch's tensors for the same computation."""

    INPUTS = ("q", "k", "v", "q_scale", "k_scale", "v_scale")

    def __init__(self, torch, sizes, seed):
        self.torch, self.sizes = torch, sizes
        self.tensors = dict(zip(self.INPUTS, use_bundle.inputs_of(torch, sizes, seed)))
        self.tensors["o"] = torch.empty(self.tensors["q"].shape, dtype=torch.float16, device="cuda")
        self.softmax_scale = 1 / math.sqrt(sizes["D"])
        self.half = {name: self.dequantised(name, torch.float16) for name in "qkv"}
        self.folded_scale = self.softmax_scale * math.prod(
            float(self.tensors[name][0]) for name in ("q_scale", "k_scale"))

    def view(self, name):
        heads = self.sizes["H" if name in "qo" else "HKV"]
        length = self.sizes["LQ" if name in "qo" else "LKV"]
        return self.tensors[name].view(self.sizes["B"], heads, length, self.sizes["D"])

    def scale(self, name):
        """Descale factors of q, k or v, shaped to multiply (B, H, L, D)."""
        factors = self.tensors[f"{name}_scale"]
        if not self.sizes["PER_HEAD"]:
            return factors.view(1, 1, 1, 1)
        return factors.view(self.sizes["B"], self.view(name).shape[1], 1, 1)

    def dequantised(self, name, dtype):
        wide = self.torch.float64 if dtype == self.torch.float64 else self.torch.float32
        return (self.view(name).to(wide) * self.scale(name).to(wide)).to(dtype)

    def attention(self, q, k, v, scale):
        return self.torch.nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=bool(self.sizes["CAUSAL"]), scale=scale,
            enable_gqa=self.sizes["H"] != self.sizes["HKV"])

    def from_half(self):
        """PyTorch's attention on fp16 tensors."""
        return self.attention(self.half["q"], self.half["k"], self.half["v"], self.softmax_scale)

    def from_bytes(self):
        """PyTorch's attention from FP8 bytes, in the cheapest way: one conversion per tensor. The
        descale factors are folded into the softmax scale and into one multiplication of the
        output."""
        half = self.torch.float16
        q, k, v = (self.view(name).to(half) for name in "qkv")
        if self.sizes["PER_HEAD"]:
            q, k, v = (x * self.scale(name).to(half) for x, name in zip((q, k, v), "qkv"))
            return self.attention(q, k, v, self.softmax_scale)
        return self.attention(q, k, v, self.folded_scale) * self.scale("v").to(half)

    def errors(self):
        """Errors of the kernel's output: (max abs error, relative L2, largest error relative to the
        rms of its row); NaN if the output has a NaN."""
        double = self.torch.float64
        with self.torch.nn.attention.sdpa_kernel(self.torch.nn.attention.SDPBackend.MATH):
            q, k, v = (self.dequantised(name, double) for name in "qkv")
            reference = self.attention(q, k, v, self.softmax_scale)
        error = self.view("o").double() - reference
        row_error = error.abs().amax(-1) / reference.square().mean(-1).sqrt()
        return (error.abs().max().item(), (error.norm() / reference.norm()).item(),
                row_error.max().item())


class Contender:
    """A contender: evo-tune's kernel or a backend of PyTorch, and its samples in microseconds per
    launch."""

    def __init__(self, name, start, calls):
        self.name, self.start, self.calls = name, start, calls
        self.graph, self.launches, self.samples, self.why_not = None, 0, [], ""

    def capture(self, torch):
        """Captures a graph that takes about GRAPH_US and launches the contender equally often for
        each input set."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for call in self.calls * 3:
                call()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for call in self.calls:
                call()
            end.record()
        end.synchronize()
        # This time is an upper bound, because it includes the CPU's overhead.
        per_round = begin.elapsed_time(end) * 1000
        rounds = max(1, min(50, round(GRAPH_US / per_round * 4)))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(rounds):
                for call in self.calls:
                    call()
        self.graph, self.launches = graph, rounds * len(self.calls)

    def sample(self, torch):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        self.graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1000 / self.launches


def quantile(values, share):
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def median_interval(values):
    """95 % confidence interval of the median by order statistics (normal approximation of the
    binomial: ranks n/2 -+ 1.96 sqrt(n)/2)."""
    ordered, count = sorted(values), len(values)
    reach = 1.96 * math.sqrt(count) / 2
    low = max(0, math.floor(count / 2 - reach))
    high = min(count - 1, math.ceil(count / 2 + reach))
    return ordered[low], ordered[high]


def kernel_contender(bundle, sets):
    def call_for(data):
        return lambda: bundle(**data.tensors, **data.sizes)  # on PyTorch's current stream

    return Contender("evo-tune", "fp8", [call_for(data) for data in sets])


def pytorch_contender(torch, backend, start, sets):
    def call_for(data):
        def call():
            with torch.nn.attention.sdpa_kernel(backend):
                return data.from_half() if start == "fp16" else data.from_bytes()
        return call

    name = backend.name.removesuffix("_ATTENTION").lower()
    return Contender(name, start, [call_for(data) for data in sets])


def pytorch_contenders(torch, sets):
    """Every backend with both kinds of input. An unavailable backend has the reason."""
    known = torch.nn.attention.SDPBackend
    contenders = []
    for name in BACKENDS:
        if not hasattr(known, name):
            continue
        for start in ("fp16", "fp8"):
            contenders.append(pytorch_contender(torch, getattr(known, name), start, sets))
    return contenders


def capture_all(torch, contenders):
    for contender in contenders:
        try:
            contender.capture(torch)
        except RuntimeError as error:  # PyTorch: "No available kernel" for this shape or type
            contender.why_not = str(error).splitlines()[0]
            torch.cuda.synchronize()


def measure(torch, contenders, warmups, samples):
    """Takes samples of the contenders in turn, every second round in reverse order."""
    ready = [contender for contender in contenders if contender.graph is not None]
    for turn in range(warmups + samples):
        for contender in ready if turn % 2 == 0 else reversed(ready):
            time_us = contender.sample(torch)
            if turn >= warmups:
                contender.samples.append(time_us)


def check(sets, launch_all, tolerance):
    """(right, worst max abs error, worst relative L2) over all input sets. Fills outputs with NaN
    first."""
    row_bound = tolerance.get("max_row_error", math.inf)
    for data in sets:
        data.tensors["o"].fill_(math.nan)
    launch_all()
    errors = [data.errors() for data in sets]
    right = all(absolute <= tolerance["max_abs_error"] and relative <= tolerance["relative_l2"]
                and row <= row_bound for absolute, relative, row in errors)
    return right, max(e[0] for e in errors), max(e[1] for e in errors)


def row_of(contender, ours):
    row = {"name": contender.name, "start": contender.start}
    if contender.graph is None:
        return row | {"not_available": contender.why_not}
    ratios = [other / own for other, own in zip(contender.samples, ours.samples)]
    return row | {
        "p50_us": quantile(contender.samples, 0.5), "p90_us": quantile(contender.samples, 0.9),
        "p99_us": quantile(contender.samples, 0.99), "samples": len(contender.samples),
        "launches_per_sample": contender.launches, "ratio": quantile(ratios, 0.5),
        "ratio_interval_95": median_interval(ratios)}


def compare(torch, bundle, folder, sizes, options):
    """The results for one shape; None if its kernel was tuned for another shape."""
    kernel = bundle.choose(**sizes).kernel
    if kernel["shape"]["variables"] != sizes:
        print(f"{kernel['name']} serves {sizes} as well, for which it was not tuned: left out")
        return None
    sets = [InputSet(torch, sizes, seed) for seed in range(1, options.sets + 1)]
    ours = kernel_contender(bundle, sets)

    def launch_all():
        for call in ours.calls:
            call()
        torch.cuda.synchronize()

    before = check(sets, launch_all, kernel["tolerance"])
    contenders = [ours] + pytorch_contenders(torch, sets)
    if before[0]:
        capture_all(torch, contenders)
        if ours.graph is None:
            raise RuntimeError(f"the kernel cannot be captured: {ours.why_not}")
        measure(torch, contenders, options.warmups, options.samples)
    after = check(sets, launch_all, kernel["tolerance"])
    return {"manifest": f"{folder}/{kernel['name']}", "shape": kernel["shape"],
            "config": kernel.get("config"),
            "evo_tune": {name: kernel["evo_tune"][name]
                         for name in ("run", "candidate", "problem_key")},
            "right": before[0] and after[0], "max_abs_error": max(before[1], after[1]),
            "relative_l2": max(before[2], after[2]),
            "rows": [row_of(contender, ours) for contender in contenders] if before[0] else []}


def print_table(result):
    shape = result["shape"]
    sizes = ", ".join(f"{name} {value:g}" for name, value in shape["variables"].items())
    verdict = "right" if result["right"] else "WRONG"
    print(f"\n{shape['name']} ({sizes}): {verdict}, max abs error {result['max_abs_error']:.3g}, "
          f"relative L2 {result['relative_l2']:.3g}")
    if not result["rows"]:
        return
    print(f"{'contender':<12}{'starts from':<13}{'p50 us':>9}{'p90 us':>9}   times as long as evo-tune")
    for row in result["rows"]:
        head = f"{row['name']:<12}{row['start']:<13}"
        if "not_available" in row:
            print(f"{head}{'-':>9}{'-':>9}   {row['not_available'][:60]}")
            continue
        low, high = row["ratio_interval_95"]
        print(f"{head}{row['p50_us']:>9.2f}{row['p90_us']:>9.2f}   "
              f"{row['ratio']:.2f} ({low:.2f} to {high:.2f})")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundles", nargs="+", help="folders that evo-export --bundle wrote")
    parser.add_argument("--samples", type=int, default=100, help="samples a contender")
    parser.add_argument("--warmups", type=int, default=20, help="samples that are thrown away")
    parser.add_argument("--sets", type=int, default=4, help="input sets that take turns")
    parser.add_argument("--json", type=pathlib.Path, help="also write the results here")
    parser.add_argument("--db", type=pathlib.Path,
                        help="also store PyTorch's times in this database, beside the runs")
    options = parser.parse_args()
    for name in ("samples", "sets"):
        if getattr(options, name) < 1:
            parser.error(f"--{name}: allowed: at least 1")
    if options.warmups < 0:
        parser.error("--warmups: allowed: at least 0")
    return options


def main():
    options = parse_options()
    try:
        import torch
        import torch.nn.attention
        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch sees no CUDA GPU")
        torch.zeros(1, device="cuda")  # makes PyTorch's context current
        print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, "
              f"CUDA {torch.version.cuda}")
        results = []
        for folder in options.bundles:
            try:
                bundle = evo_tune.load(folder)
                if set(bundle.inputs) != set(InputSet.INPUTS):
                    raise evo_tune.Error(f"{folder}: is no bundle of the problem sdpa_fp8")
            except evo_tune.Error as error:
                print(f"compare_pytorch.py: {error}", file=sys.stderr)
                return 2
            for shape in bundle.tuned_shapes:
                sizes = dict(zip(bundle.shape_variables, shape))
                result = compare(torch, bundle, folder, sizes, options)
                if result is not None:
                    results.append(result)
                    print_table(result)
        everything = {"device": torch.cuda.get_device_name(), "pytorch": torch.__version__,
                      "cuda": torch.version.cuda, "results": results}
        if options.json:
            options.json.write_text(json.dumps(everything, indent=2) + "\n")
        if options.db:
            try:
                print(f"{vendor_times.store(options.db, everything)} times stored in {options.db}")
            except (ValueError, sqlite3.Error) as error:
                print(f"compare_pytorch.py: {options.db}: {error}", file=sys.stderr)
                return 2
        return 0 if all(result["right"] for result in results) else 1
    except (ImportError, RuntimeError) as error:
        print(f"compare_pytorch.py: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
