#!/usr/bin/env python3
"""Measures the time and the error of FP8 attention, by evo-tune's kernels and by FP8 libraries.

    attention_accuracy.py BUNDLE [more bundles ...] [--lengths 512,1024] [--max-seconds N]

Each bundle has kernels of the problem sdpa_fp8, with P (the softmax) in f16 or in e4m3. For each
head size and length (2 batches, 8 heads, as many queries as keys, no mask), the script takes the
kernel that each bundle chooses for the shape, if any, and times these kernels and the libraries of
fp8_libraries.py in turn, as compare_pytorch.py does. A row of the table has, for each type of P,
the fastest kernel whose error is within its tolerance, and the kernel of each library: the median
of µs per launch, and the relative L2 error against the attention in double precision. Q, K and V
are normal numbers in e4m3. The column "scores" is the standard deviation of the scaled scores:
where it is 1, a row of P has many large elements; where it is 3, few. The table has the values 2
and 3 only for 2,048 keys. The output of cuDNN is e4m3, that of FlashAttention-3 bf16, that of
evo-tune's kernels f16.

Needs PyTorch with CUDA. Exit codes: 0 done, 2 bad usage or files, 3 a package or a GPU is missing.
"""

import argparse
import sys
import time

import compare_pytorch
import fp8_libraries
from interleaved import capture_all, measure, quantile

import evo_tune

P_TYPES = {"f16": "P in f16", "fp8": "P in e4m3"}
SETS, WARMUPS, SAMPLES = 2, 5, 30
SHARPNESS, SHARP_LENGTH = (2, 3), 2048  # standard deviations of the scores; number of keys
# Sizes that may differ from those on which a kernel was checked, within the template's conditions.
SIZES = ("B", "H", "HKV", "LQ", "LKV", "D", "CAUSAL", "PER_HEAD", "LSE")


def contenders_of(torch, bundles, libraries, sets):
    """A contender for each bundle that can serve the shape, and for each library."""
    sizes, contenders = sets[0].sizes, []
    for bundle in bundles:
        try:
            kernel = bundle.choose(**sizes).kernel
        except evo_tune.Error:
            continue  # no kernel of this bundle serves the shape
        contender = compare_pytorch.kernel_contender(bundle, sets)
        contender.name = P_TYPES[kernel["config"]["PV_MODE"]]
        right, *_ = compare_pytorch.Tuned(bundle, "", kernel, sizes).check(torch, sets)
        contender.why_not = "" if right else "the error of a kernel exceeds its tolerance"
        contenders.append(contender)
    return contenders + [compare_pytorch.fp8_contender(library, sets) for library in libraries]


def fastest(torch, bundles, libraries, sizes, sharpness):
    """Maps each contender's name (type of P, or library) to (least median time in µs,
    contender)."""
    sets = [compare_pytorch.InputSet(torch, sizes, seed, sharpness) for seed in range(1, SETS + 1)]
    contenders = contenders_of(torch, bundles, libraries, sets)
    capture_all(torch, contenders, sets[0].relative_l2)
    measure(torch, contenders, WARMUPS, SAMPLES)
    best = {}
    for contender in contenders:
        if contender.graph is None:
            print(f"{contender.name} at {sizes['LKV']} keys, D = {sizes['D']}: "
                  f"{contender.why_not}", file=sys.stderr)
            continue
        time_us = quantile(contender.samples.values(), 0.5)
        if contender.name not in best or time_us < best[contender.name][0]:
            best[contender.name] = time_us, contender
    return best


def cell(best, name):
    if name not in best:
        return f"{'-':>9} {'-':>8}"
    time_us, contender = best[name]
    return f"{time_us:9.2f} {contender.relative_l2:8.2g}"


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundles", nargs="+", help="folders that evo-export --bundle wrote")
    parser.add_argument("--lengths", default="512,1024,2048,4096,8192,16384",
                        help="numbers of keys, with commas between them")
    parser.add_argument("--max-seconds", type=float, default=float("inf"),
                        help="start no further row after this time")
    options = parser.parse_args()
    try:
        options.lengths = [int(length) for length in options.lengths.split(",")]
    except ValueError:
        parser.error(f"--lengths: '{options.lengths}'; allowed: numbers with commas between them")
    return options


def main():
    options, begin = parse_options(), time.monotonic()
    try:
        torch = compare_pytorch.open_torch()
        bundles = [evo_tune.load(folder, allow=SIZES) for folder in options.bundles]
        libraries = fp8_libraries.installed(torch, lambda line: print(line, file=sys.stderr))
    except evo_tune.Error as error:
        print(f"attention_accuracy.py: {error}", file=sys.stderr)
        return 2
    except (ImportError, RuntimeError) as error:
        print(f"attention_accuracy.py: {error}", file=sys.stderr)
        return 3
    names = [*P_TYPES.values(), *(library.name for library in libraries)]
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}"
          + "".join(f", {library.library}" for library in libraries))
    print("2 batches, 8 heads; µs a launch and relative L2 error")
    print(f"{'D':>4} {'keys':>6} {'scores':>6}" + "".join(f"{name:>19}" for name in names))
    rows = [(length, 1) for length in options.lengths] + [(SHARP_LENGTH, s) for s in SHARPNESS]
    for head_size in (64, 128):
        for length, sharpness in rows:
            if time.monotonic() - begin > options.max_seconds:
                print(f"attention_accuracy.py: no time for {length} keys, D = {head_size}",
                      file=sys.stderr)
                continue
            sizes = {"B": 2, "H": 8, "HKV": 8, "LQ": length, "LKV": length, "D": head_size,
                     "CAUSAL": 0, "PER_HEAD": 0, "LSE": 0}
            best = fastest(torch, bundles, libraries, sizes, sharpness)
            print(f"{head_size:4} {length:6} {sharpness:6}"
                  + "".join(f" {cell(best, name)}" for name in names), flush=True)
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
