#!/usr/bin/env python3
"""Times exported FP8 attention kernels in turn with those of PyTorch and of FP8 libraries.

    compare_pytorch.py sdpa_fp8 [more bundles ...] [--json result.json]

Takes every kernel of the bundles of the problem sdpa_fp8 (evo-export --bundle), on the shape for
which it was tuned. Before and after timing, the script checks the kernel against
scaled_dot_product_attention in double precision on the dequantised inputs. For each shape, the
script times in one process:
- the kernels that were tuned for the shape;
- every backend that PyTorch has on this machine: flash, cuDNN, efficient and math, each from fp16
  tensors and from the same FP8 bytes (conversion and attention);
- FP8 attention of the libraries that are installed (fp8_libraries.py): cuDNN and FlashAttention-3.
A sample is one replay of a CUDA graph of many launches over rotating input sets. Samples of all
contenders alternate, with every second turn in reverse order, so that a drifting clock affects all
of them. Contenders other than evo-tune's kernels skip turns if their samples take long. The
relative L2 error of each contender is computed on one input set. With --db, the script stores the
times of PyTorch and of the libraries with the run of the kernel; evo-elite and evo-report show
these times. vendor_times.py can store them later or on another machine.

Needs PyTorch with CUDA. Exit codes: 0 all kernels are right, 1 a kernel is wrong, 2 bad usage or
files, 3 a package or a GPU is missing.
"""

import argparse
import json
import math
import pathlib
import sqlite3
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs" / "examples"), str(ROOT / "tools" / "python")]
import evo_tune  # noqa: E402
import fp8_libraries  # noqa: E402
from interleaved import Contender, capture_all, first_line, measure, row_of  # noqa: E402
import use_bundle  # noqa: E402  draws the inputs
import vendor_times  # noqa: E402

BACKENDS = ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION", "MATH")
SCORES_BYTES = 1 << 30  # limit for the bytes of attention scores in memory at a time


class InputSet:
    """One set of arguments, and PyTorch's tensors for the same computation."""

    INPUTS = ("q", "k", "v", "q_scale", "k_scale", "v_scale")

    def __init__(self, torch, sizes, seed, sharpness=1):
        """`sharpness`: factor of the scores, whose standard deviation is 1 without it."""
        self.torch, self.sizes = torch, sizes
        self.tensors = dict(zip(self.INPUTS, use_bundle.inputs_of(torch, sizes, seed)))
        self.tensors["q_scale"] *= sharpness
        self.tensors["o"] = torch.empty(self.tensors["q"].shape, dtype=torch.float16, device="cuda")
        self.softmax_scale = 1 / math.sqrt(sizes["D"])
        self.half = {name: self.dequantised(name, torch.float16) for name in "qkv"}
        self.expected = None
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
        """PyTorch's attention from FP8 bytes, in the cheapest way: one conversion per tensor. One
        descale factor per tensor is folded into the softmax scale (q, k) or multiplies the output
        (v). If each head has its own factors, they multiply q, k and v."""
        half = self.torch.float16
        q, k, v = (self.view(name).to(half) for name in "qkv")
        if self.sizes["PER_HEAD"]:
            q, k, v = (x * self.scale(name).to(half) for x, name in zip((q, k, v), "qkv"))
            return self.attention(q, k, v, self.softmax_scale)
        return self.attention(q, k, v, self.folded_scale) * self.scale("v").to(half)

    def reference(self):
        """The attention in double precision, computed at the first call. Computes at once as many
        heads of k, but at least one, as keep the attention scores within SCORES_BYTES bytes."""
        if self.expected is not None:
            return self.expected
        torch, sizes = self.torch, self.sizes
        q, k, v = (self.dequantised(name, torch.float64) for name in "qkv")
        self.expected = torch.empty_like(q)
        group = sizes["H"] // sizes["HKV"]
        heads = max(1, SCORES_BYTES // (8 * group * sizes["LQ"] * sizes["LKV"]))
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            for batch in range(sizes["B"]):
                for first in range(0, sizes["HKV"], heads):
                    of_k = slice(first, first + heads)
                    of_q = slice(first * group, (first + heads) * group)
                    self.expected[batch:batch + 1, of_q] = self.attention(
                        q[batch:batch + 1, of_q], k[batch:batch + 1, of_k],
                        v[batch:batch + 1, of_k], self.softmax_scale)
        return self.expected

    def relative_l2(self, output):
        return ((output - self.reference()).norm() / self.reference().norm()).item()

    def errors(self):
        """Errors of the kernel's output: (max abs error, relative L2, largest error relative to the
        rms of its row); NaN if the output has a NaN."""
        reference = self.reference()
        error = self.view("o").double() - reference
        row_error = error.abs().amax(-1) / reference.square().mean(-1).sqrt()
        return error.abs().max().item(), self.relative_l2(self.view("o")), row_error.max().item()


def kernel_contender(bundle, sets):
    def call_for(data):
        def call():
            bundle(**data.tensors, **data.sizes)  # on PyTorch's current stream
            return data.view("o")
        return call

    contender = Contender("evo-tune", "fp8", [call_for(data) for data in sets], "evo-tune")
    contender.in_every_turn = True
    return contender


def pytorch_contender(torch, backend, start, sets):
    def call_for(data):
        def call():
            with torch.nn.attention.sdpa_kernel(backend):
                return data.from_half() if start == "fp16" else data.from_bytes()
        return call

    name = backend.name.removesuffix("_ATTENTION").lower()
    contender = Contender(name, start, [call_for(data) for data in sets],
                          f"PyTorch {torch.__version__}")
    sizes = sets[0].sizes
    scores = 2 * sizes["B"] * sizes["H"] * sizes["LQ"] * sizes["LKV"]
    if name == "math" and scores > SCORES_BYTES:
        contender.why_not = f"would keep several copies of {scores / 2**30:.0f} GiB of scores"
    return contender


def pytorch_contenders(torch, sets):
    """Two contenders for each of BACKENDS that PyTorch has: from fp16 and from FP8 inputs. A
    contender that would need too much memory is not timed; its `why_not` has the reason."""
    known = torch.nn.attention.SDPBackend
    contenders = []
    for name in BACKENDS:
        if not hasattr(known, name):
            continue
        for start in ("fp16", "fp8"):
            contenders.append(pytorch_contender(torch, getattr(known, name), start, sets))
    return contenders


def fp8_contender(library, sets):
    try:
        made = library.attention_of(sets)
        return Contender(library.name, "fp8", [call for call, _ in made], library.library,
                         made[0][1])
    except Exception as error:  # a library may raise anything for a shape that it lacks
        contender = Contender(library.name, "fp8", [], library.library)
        contender.why_not = first_line(error)
        return contender


def check(sets, launch_all, tolerance):
    """Returns (whether all outputs are right, largest max abs error, largest relative L2 error)
    over all input sets. Fills the outputs with NaN before the launches."""
    row_bound = tolerance.get("max_row_error", math.inf)
    for data in sets:
        data.tensors["o"].fill_(math.nan)
    launch_all()
    errors = [data.errors() for data in sets]
    right = all(absolute <= tolerance["max_abs_error"] and relative <= tolerance["relative_l2"]
                and row <= row_bound for absolute, relative, row in errors)
    return right, max(e[0] for e in errors), max(e[1] for e in errors)


class Tuned:
    """A kernel of a bundle, to be checked on the shape with the sizes `sizes`."""

    def __init__(self, bundle, folder, kernel, sizes):
        self.bundle, self.folder, self.kernel, self.sizes = bundle, folder, kernel, sizes

    def check(self, torch, sets):
        calls = kernel_contender(self.bundle, sets).calls

        def launch_all():
            for call in calls:
                call()
            torch.cuda.synchronize()
        return check(sets, launch_all, self.kernel["tolerance"])


def tuned_kernels(folders):
    """The kernels of the bundles as a list of lists: the kernels of one list were tuned for the
    same shape and are compared with each other. Raises evo_tune.Error."""
    found = {}
    for folder in folders:
        bundle = evo_tune.load(folder)
        if set(bundle.inputs) != set(InputSet.INPUTS):
            raise evo_tune.Error(f"{folder}: is no bundle of the problem sdpa_fp8")
        for shape in bundle.tuned_shapes:
            sizes = dict(zip(bundle.shape_variables, shape))
            kernel = bundle.choose(**sizes).kernel
            if kernel["shape"]["variables"] == sizes:
                found.setdefault(tuple(shape), []).append(Tuned(bundle, folder, kernel, sizes))
            else:
                print(f"the shape {sizes} is left out: {kernel['name']} serves it, but was not "
                      "tuned for it")
    return list(found.values())


def compare(torch, kernels, libraries, options):
    """The result of each kernel in `kernels`, which were tuned for the same shape."""
    sets = [InputSet(torch, kernels[0].sizes, seed) for seed in range(1, options.sets + 1)]
    before = [tuned.check(torch, sets) for tuned in kernels]
    ours = [kernel_contender(tuned.bundle, sets) for tuned in kernels]
    others = pytorch_contenders(torch, sets)
    others += [fp8_contender(library, sets) for library in libraries]
    for contender, (right, *_) in zip(ours, before):
        contender.why_not = "" if right else "the output is wrong"
    if any(right for right, *_ in before):
        capture_all(torch, ours + others, sets[0].relative_l2)
        measure(torch, ours + others, options.warmups, options.samples)
    after = [tuned.check(torch, sets) for tuned in kernels]
    return [result_of(tuned, contender, others, checks)
            for tuned, contender, checks in zip(kernels, ours, zip(before, after))]


def result_of(tuned, ours, others, checks):
    kernel = tuned.kernel
    right = all(right for right, *_ in checks) and ours.graph is not None
    return {"manifest": f"{tuned.folder}/{kernel['name']}", "shape": kernel["shape"],
            "template": kernel["template"], "config": kernel.get("config"),
            "evo_tune": {name: kernel["evo_tune"][name]
                         for name in ("run", "candidate", "problem_key")},
            "right": right, "why_not": ours.why_not,
            "max_abs_error": max(absolute for _, absolute, _ in checks),
            "relative_l2": max(relative for *_, relative in checks),
            "rows": [row_of(contender, ours) for contender in [ours, *others]] if right else []}


def print_table(result):
    shape = result["shape"]
    sizes = ", ".join(f"{name} {value:g}" for name, value in shape["variables"].items())
    verdict = "right" if result["right"] else f"WRONG ({result['why_not']})"
    print(f"\n{shape['name']} ({sizes}): {verdict}, max abs error {result['max_abs_error']:.3g}, "
          f"relative L2 {result['relative_l2']:.3g}")
    if not result["rows"]:
        return
    print(f"{'contender':<12}{'starts from':<13}{'p50 us':>9}{'p90 us':>9}{'rel. L2':>10}"
          "   times as long as evo-tune")
    for row in result["rows"]:
        head = f"{row['name']:<12}{row['start']:<13}"
        if "not_available" in row:
            print(f"{head}{'-':>9}{'-':>9}{'-':>10}   {row['not_available'][:60]}")
            continue
        low, high = row["ratio_interval_95"]
        print(f"{head}{row['p50_us']:>9.2f}{row['p90_us']:>9.2f}{row['relative_l2']:>10.2g}   "
              f"{row['ratio']:.2f} ({low:.2f} to {high:.2f})")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundles", nargs="+", help="folders that evo-export --bundle wrote")
    parser.add_argument("--samples", type=int, default=100, help="samples of each contender")
    parser.add_argument("--warmups", type=int, default=20, help="samples that are thrown away")
    parser.add_argument("--sets", type=int, default=4, help="input sets that take turns")
    parser.add_argument("--max-seconds", type=float, default=math.inf,
                        help="start no further shape after this time")
    parser.add_argument("--json", type=pathlib.Path, help="also write the results to this file")
    parser.add_argument("--db", type=pathlib.Path,
                        help="also store the others' times in this database, beside the runs")
    options = parser.parse_args()
    for name in ("samples", "sets"):
        if getattr(options, name) < 1:
            parser.error(f"--{name}: allowed: at least 1")
    if options.warmups < 0:
        parser.error("--warmups: allowed: at least 0")
    return options


def write_json(options, everything):
    if options.json:
        options.json.write_text(json.dumps(everything, indent=2) + "\n")


def open_torch():
    """PyTorch with a current CUDA context; raises ImportError, or RuntimeError without a GPU."""
    import torch
    import torch.nn.attention
    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch sees no CUDA GPU")
    torch.zeros(1, device="cuda")  # makes PyTorch's context current
    return torch


def main():
    options, begin = parse_options(), time.monotonic()
    try:
        torch = open_torch()
        print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, "
              f"CUDA {torch.version.cuda}")
        libraries = fp8_libraries.installed(torch, print)
        results = []
        everything = {"device": torch.cuda.get_device_name(), "pytorch": torch.__version__,
                      "cuda": torch.version.cuda, "results": results}
        try:
            shapes = tuned_kernels(options.bundles)
        except evo_tune.Error as error:
            print(f"compare_pytorch.py: {error}", file=sys.stderr)
            return 2
        for kernels in shapes:
            if time.monotonic() - begin > options.max_seconds:
                print(f"no time is left for shape {kernels[0].kernel['shape']['name']}",
                      file=sys.stderr)
                continue
            results += compare(torch, kernels, libraries, options)
            for result in results[-len(kernels):]:
                print_table(result)
            write_json(options, everything)
        write_json(options, everything)
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
