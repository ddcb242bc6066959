#!/usr/bin/env python3
"""Compares attention by a bundle of sdpa_fp8 with PyTorch's scaled_dot_product_attention.

    use_bundle.py DIR [--shape 2,8,8,300,300,64,0,0,0 ...] [--allow VARIABLE ...] [--rounds N]

For each shape (by the bundle's variables B, H, HKV, LQ, LKV, D, CAUSAL, PER_HEAD, LSE; all tuned
shapes by default) the operator runs eagerly, under torch.compile and in a CUDA graph. Each result
is compared with scaled_dot_product_attention in double precision on the dequantised inputs by
relative L2; the three results must be equal bit for bit. Times are medians over rounds of 100 calls
between two events: 100 calls from Python (eager, compiled), whose time includes CPU time, or a
graph of 100 calls.

Needs PyTorch >= 2.4 with CUDA and the package evo-tune. Exit codes: 0 right, 1 wrong, 2 bad usage
or files, 3 a package or a GPU is missing.
"""

import argparse
import sys

CALLS = 100
BOUND = 0.04  # of the relative L2 error with P in e4m3; with P in f16, the error is below 0.002


def inputs_of(torch, sizes, seed=1):
    b, h, hkv, lq, lkv, d = (sizes[name] for name in ("B", "H", "HKV", "LQ", "LKV", "D"))
    torch.manual_seed(seed)
    q, k, v = (torch.randn(b, heads, length, d, device="cuda").to(torch.float8_e4m3fn)
               for heads, length in ((h, lq), (hkv, lkv), (hkv, lkv)))
    scales = [(torch.rand(b * heads if sizes["PER_HEAD"] else 1, device="cuda") * 0.3 + low)
              for heads, low in ((h, 1.1), (hkv, 0.7), (hkv, 1.05))]
    return q, k, v, *scales


def expected(torch, sizes, q, k, v, *scales):
    """Computes attention in double precision from the FP8 numbers that the kernel reads."""
    def wide(tensor, scale):
        factors = scale.view(sizes["B"], -1, 1, 1) if sizes["PER_HEAD"] else scale
        return tensor.to(torch.float64) * factors.to(torch.float64)
    q, k, v = (wide(tensor, scale) for tensor, scale in zip((q, k, v), scales))
    groups = sizes["H"] // sizes["HKV"]
    k, v = (tensor.repeat_interleave(groups, dim=1) for tensor in (k, v))
    attention = torch.nn.functional.scaled_dot_product_attention
    return attention(q, k, v, is_causal=bool(sizes["CAUSAL"]))


def median_us(torch, call, rounds):
    """The median time per call, over bursts of CALLS calls; `call` makes one burst."""
    times = []
    call()
    for _ in range(rounds):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / CALLS)
    return sorted(times)[len(times) // 2]


def repeated(call):
    def many():
        for _ in range(CALLS):
            call()
    return many


def graph_of(torch, call):
    """Captures CALLS calls in a CUDA graph, after a warm-up call on another stream, as PyTorch's
    documentation recommends. Returns the graph and the result of its last call."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            result = call()
    return graph, result


def run_shape(torch, kernel, operator, sizes, rounds):
    inputs = inputs_of(torch, sizes)
    flags = {name: sizes[name] for name in ("CAUSAL", "PER_HEAD", "LSE")}
    reference = expected(torch, sizes, *inputs)

    def eager():
        return operator(*inputs, **flags)[0]
    compiled = torch.compile(lambda *tensors: operator(*tensors, **flags)[0], fullgraph=True)
    graph, captured = graph_of(torch, eager)
    graph.replay()
    results = {"eager": eager(), "compiled": compiled(*inputs), "graph": captured}
    torch.cuda.synchronize()
    times = {"eager": median_us(torch, repeated(eager), rounds),
             "compiled": median_us(torch, repeated(lambda: compiled(*inputs)), rounds),
             "graph": median_us(torch, graph.replay, rounds)}
    print(",".join(str(size) for size in sizes.values()), kernel.choose(**sizes).why.split("\n")[0])
    is_right = True
    for way, result in results.items():
        error = ((result.double() - reference).norm() / reference.norm()).item()
        same = torch.equal(result, results["eager"])
        is_right = is_right and error <= BOUND and same
        print(f"  {way:9}{times[way]:8.2f} us   relative L2 {error:.2g}"
              f"{'' if same else '   DIFFERS from eager'}{'' if error <= BOUND else '   WRONG'}")
    return is_right


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("bundle")
    parser.add_argument("--shape", action="append")
    parser.add_argument("--allow", action="append", default=[],
                        help="a shape variable whose sizes need not be like those checked")
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    try:
        import evo_tune
        import torch
    except ImportError as error:
        print(f"use_bundle.py: {error}", file=sys.stderr)
        return 3
    if not torch.cuda.is_available():
        print("use_bundle.py: no GPU", file=sys.stderr)
        return 3
    try:
        kernel = evo_tune.load(options.bundle, allow=options.allow)
        names = kernel.shape_variables
        shapes = [[int(size) for size in text.split(",")] for text in options.shape or []]
        if any(len(shape) != len(names) for shape in shapes):
            raise ValueError(f"--shape: allowed: {len(names)} numbers ({','.join(names)})")
        operator = evo_tune.torch_op(kernel)
    except (evo_tune.Error, ValueError) as error:
        print(f"use_bundle.py: {error}", file=sys.stderr)
        return 2
    right = [run_shape(torch, kernel, operator, dict(zip(names, shape)), options.rounds)
             for shape in shapes or kernel.tuned_shapes]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
