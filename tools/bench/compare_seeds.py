#!/usr/bin/env python3
"""Compares the winners of searches with different seeds.

    compare_seeds.py --space SPACE --shape SHAPE [--seeds N] [--also DATABASE]
                     [--device cuda:N] [--folder FOLDER]

Runs evo-tune with seeds 1 to N (default: 5), each into a database of its own in FOLDER (default:
build/seeds), in which databases of earlier searches with these seeds are deleted. Then evo-judge
times the winner of each seed in turn with the fastest of all winners, because times of different
runs differ by the GPU's clock. --also names a database whose winner is compared, too. Prints a row
for each winner: its time in its own run in µs, the best time divided by its time in A/B pairs (1 is
the best), and its macros.

Needs evo-tune, evo-elite and evo-judge in the PATH, and a GPU. Exit codes: 0 done, 1 a search found
no winner, 2 bad usage, 3 a program failed.
"""

import argparse
import json
import os
import subprocess
import sys


def run(*command):
    """Standard output of a program, which must end with exit code 0 or 1."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.stderr.write(f"compare_seeds.py: this command ended with exit code {done.returncode}: "
                         f"{' '.join(command)}\n")
        raise SystemExit(3)
    return done.stdout


def winner_of(name, database, shape):
    """The first of the elite: its macros, and its time in µs."""
    lines = run("evo-elite", "--db", database, "--shape", shape, "--json").splitlines()
    if not lines:
        sys.stderr.write(f"compare_seeds.py: {database} has no winner for the shape {shape}\n")
        raise SystemExit(1)
    first = json.loads(lines[0])
    return {"name": name, "database": database, "p50_us": first["p50_us"],
            "words": [f"{macro}={value}" for macro, value in first["config"].items()]}


def ratio_of(winner, other, options):
    """The time of `winner` divided by the time of `other`, in A/B pairs."""
    judged = json.loads(run("evo-judge", "--device", options.device, "--space", options.space,
                            "--shape", options.shape, "--json", "--baseline", other["database"],
                            "--set", *winner["words"]))
    return judged["against"].get("ratio", 1.0)  # the same machine code is not timed again


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--space", required=True)
    parser.add_argument("--shape", required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--also")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--folder", default="build/seeds")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    winners = []
    for seed in range(1, options.seeds + 1):
        database = os.path.join(options.folder, f"{seed}.db")
        if os.path.exists(database):
            os.remove(database)
        run("evo-tune", "--device", options.device, "--space", options.space, "--shape",
            options.shape, "--seed", str(seed), "--no-warm-start", "--interpret", "none",
            "--explain", "none", "--db", database, "--quiet")
        winners.append(winner_of(f"seed {seed}", database, options.shape))
    if options.also:
        winners.append(winner_of("also", options.also, options.shape))
    reference = min(winners, key=lambda winner: winner["p50_us"])
    ratios = [ratio_of(winner, reference, options) for winner in winners]
    best = min(ratios)
    for winner, ratio in zip(winners, ratios):
        print(f"{winner['name']:8} {winner['p50_us']:8.3f} us {best / ratio:7.4f}  "
              f"{' '.join(winner['words'])}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
