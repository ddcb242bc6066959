#!/usr/bin/env python3
"""Writes a synthetic recorded space in Kernel Tuner's format:

    search_made_space.py interactions|failures OUT

The space `interactions` has 8 parameters of 4 values and 53 248 valid configurations. A time is
exp(sum of the effects of all values and of all pairs of values); a third of the pairs have strong
effects. The space `interactions` is larger and less regular than measured spaces.
The space `failures` has 4096 configurations; 27 % of them fail. The best configurations are
neighbours of failing configurations.
"""
import gzip
import itertools
import json
import math
import random
import sys


def interactions():
    rng = random.Random(5)
    n, m = 8, 4
    single = [[0.25 * rng.random() for _ in range(m)] for _ in range(n)]
    pair = {}
    for p, q in itertools.combinations(range(n), 2):
        weight = 0.3 if rng.random() < 1 / 3 else 0.03
        pair[p, q] = [[weight * rng.random() for _ in range(m)] for _ in range(m)]
    for c in itertools.product(range(m), repeat=n):
        if c[0] + c[1] > 4:
            continue
        log_time = sum(single[p][c[p]] for p in range(n))
        log_time += sum(table[c[p]][c[q]] for (p, q), table in pair.items())
        yield c, round(math.exp(log_time), 6)


def failures():
    for c in itertools.product(range(8), range(8), range(8), range(4), range(2)):
        a, b, d, e, f = c
        if (a + 2) * (b + 1) * (e + 1) > 110 or d + 3 * f > 8:
            yield c, "RuntimeFailedConfig"
        else:
            time = 4 / (1 + a) + 3 / (1 + b) + 0.2 * abs(d - 4 - e) + (0 if f else 0.5)
            yield c, round(time, 6)


def main():
    kind, out = sys.argv[1:]
    entries = list({"interactions": interactions, "failures": failures}[kind]())
    names = [f"P{i}" for i in range(len(entries[0][0]))]
    cache = {
        ",".join(map(str, c)): {**dict(zip(names, c)), "time": time} for c, time in entries
    }
    document = {"tune_params_keys": names, "objective": "time", "cache": cache}
    with gzip.open(out, "wt", encoding="utf-8") as file:
        json.dump(document, file)
    failed = sum(isinstance(time, str) for _, time in entries)
    print(f"{out}: {len(entries)} configurations, {failed} fail")


if __name__ == "__main__":
    main()
