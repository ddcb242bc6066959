#!/usr/bin/env python3
"""Prints a table of ablations and a leave-one-out check of the settings of the strategy `full`.

    search_leave_one_out.py ablation_*.json

Each file holds one line per recorded space (search-ablation --json). For each space, the script
chooses the setting that is best on the other spaces (by the mean fraction of the optimum over all
budgets), and evaluates this setting on the space that was left out.
"""
import json
import os
import sys

BUDGETS = ["25", "50", "100", "200", "400"]


def read(path):
    with open(path, encoding="utf-8") as lines:
        return {row["space"]: row for row in map(json.loads, lines)}


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def fractions(row):
    return [row["fraction"][budget]["mean"] for budget in BUDGETS]


def show(name, rows):
    columns = [mean(values) for values in zip(*map(fractions, rows))]
    score = mean(row["score"]["mean"] for row in rows)
    cells = " | ".join(f"{value:.3f}" for value in columns)
    print(f"| {name} | {cells} | {score:.3f} |")


def main():
    studies = {}
    for path in sys.argv[1:]:
        name = os.path.basename(path).removeprefix("ablation_").removesuffix(".json")
        studies[name] = read(path)
    spaces = sorted(next(iter(studies.values())))
    for name, study in studies.items():
        show(name.replace("_", " "), [study[space] for space in spaces])
    chosen = []
    for left_out in spaces:
        others = [space for space in spaces if space != left_out]
        best = max(studies, key=lambda name: mean(mean(fractions(studies[name][s])) for s in others))
        print(f"without {left_out}: chosen '{best.replace('_', ' ')}'")
        chosen.append(studies[best][left_out])
    show("left out, mean", chosen)


if __name__ == "__main__":
    main()
