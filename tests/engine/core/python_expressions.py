#!/usr/bin/env python3
"""Prints random expressions with Python's results, for python_expressions.tsv:

    cd tests/engine/core
    python3 -W ignore python_expressions.py > python_expressions.tsv
"""
import random

NAMES = {"A": 5, "B": -3, "C": 0}
LEAVES = ["0", "1", "2", "3", "7", "64", "A", "B", "C", "True", "False"]
BINARY = ["+", "-", "*", "//", "%", "<", "<=", "==", "!=", "and", "or"]
LARGEST = 2**50  # whole numbers up to here are exact in a double


def expression(depth):
    if depth == 0 or random.random() < 0.2:
        return random.choice(LEAVES)
    part = lambda: expression(depth - 1)
    kind = random.choice(BINARY + ["not", "negative", "in", "chain", "power", "brackets"])
    if kind == "not":
        return "not " + part()
    if kind == "negative":
        return f"-({part()})"
    if kind == "brackets":
        return f"({part()})"
    if kind == "in":
        members = random.choice(["({}, {})", "[{}, {}]"]).format(part(), part())
        return f"({part()}) {random.choice(['in', 'not in'])} {members}"
    if kind == "chain":
        first, second = random.choice(["<", "<=", "=="]), random.choice(["<", ">=", "!="])
        return f"{part()} {first} {part()} {second} {part()}"
    if kind == "power":
        return f"{random.choice(['2', '-2', 'A'])} ** {random.choice('0123')}{random.choice(['', ' ** 2'])}"
    return f"{part()} {kind} {part()}"


def value(text):
    """The value of the expression `text`; None if Python reports an arithmetic or type error."""
    try:
        return eval(text, {}, dict(NAMES))
    except (ArithmeticError, TypeError):
        return None


def main():
    random.seed(1)
    lines = 0
    while lines < 1500:
        text = expression(4)
        try:
            number = value(text)
        except SyntaxError:  # for example `1 + not A`
            continue
        if len(text) > 120 or (number is not None and abs(number) > LARGEST):
            continue
        print(text, "none" if number is None else float(number), sep="\t")
        lines += 1


main()
