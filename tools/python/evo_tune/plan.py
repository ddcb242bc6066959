"""What a kernel is launched with on one shape, by the "plan" of the index (docs/bundle.md)."""

import math
import struct
from dataclasses import dataclass

from .errors import Error

_FORMATS = {"f32": "f", "f64": "d", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "f16": "e",
            "i16": "h", "u16": "H", "i8": "b", "u8": "B"}


@dataclass
class Argument:
    json: dict
    bytes: int
    value: bytes  # of a scalar


@dataclass
class Step:
    entry: str
    sizes: list  # grid, block, dynamic shared memory
    positions: list  # of arguments


def _rounded(x):
    """Halves away from zero, as in C."""
    whole = math.floor(abs(x))
    return math.copysign(whole + (abs(x) - whole >= 0.5), x)


def _modulo(a, b):
    if b == 0:
        raise Error("division by zero")
    return a % b


def _whole(x, least, most):
    if least <= x <= most and x == math.floor(x):
        return x
    raise Error(f"{x:.15g}; allowed is a whole number from {least:.15g} to {most:.15g}")


def _within(x, least, most):
    if least <= x <= most:
        return x
    raise Error(f"{x:.15g}; allowed is a number from {least:.15g} to {most:.15g}")


def _divided(a, b):
    if b == 0:
        raise Error("division by zero")
    return a / b


_OPERATIONS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": _divided, "%": _modulo, "^": lambda a, b: math.pow(a, b),
    "//": lambda a, b: _rounded(_divided(a - _modulo(a, b), b)),
    "==": lambda a, b: int(a == b), "<": lambda a, b: int(a < b),
    "min": lambda *x: min(x), "max": lambda *x: max(x), "floor": math.floor, "ceil": math.ceil,
    "round": _rounded, "exp": math.exp, "sqrt": math.sqrt, "ln": math.log, "log2": math.log2,
    "whole": _whole, "within": _within}


def evaluate(tree, values):
    """The value of an expression's tree. Of ? only the branch that is taken is evaluated."""
    if isinstance(tree, str):
        if tree not in values:
            raise Error(f"'{tree}' is unknown")
        return values[tree]
    if not isinstance(tree, list):
        return tree
    try:
        if tree[0] == "?":
            return evaluate(tree[2 if evaluate(tree[1], values) != 0 else 3], values)
        return _OPERATIONS[tree[0]](*[evaluate(operand, values) for operand in tree[1:]])
    except (ValueError, OverflowError):
        raise Error(f"{tree[0]}: no value") from None
    except (IndexError, KeyError, TypeError):
        raise Error(f"{str(tree)[:80]} is no expression") from None


def value_of(expression, values):
    """Of {"expression", "tree"}."""
    try:
        value = evaluate(expression["tree"], values)
        if not math.isfinite(value):
            raise Error("the value is not finite")
        return value
    except (Error, OverflowError) as error:
        raise Error(f"{expression['expression']}: {error}") from None


def _bf16(value):
    """Its bytes, rounded to the nearest, ties to even."""
    exponent = max(math.frexp(value)[1] - 1, -126) if value else -126
    steps = round(math.ldexp(abs(value), 7 - exponent))
    return struct.pack("<H", ((exponent + 126) << 7) + steps + (0x8000 if value < 0 else 0))


def _scalar_bytes(argument, values, count):
    data = bytearray(count)
    for field in argument["fields"]:
        value, dtype = value_of(field, values), field["dtype"]
        if dtype != "bf16" and dtype[0] in "iu":
            value = int(value)
        packed = _bf16(value) if dtype == "bf16" else struct.pack("<" + _FORMATS[dtype], value)
        data[field["offset"]:field["offset"] + len(packed)] = packed
    return bytes(data)


def planned(plan, shape, device):
    """Arguments and steps. Raises Error saying why the kernel is not valid for the shape."""
    values = {**shape, "SM_COUNT": device.sm_count, "SHARED_BYTES": device.shared_bytes}
    for condition in plan["valid"]:
        if value_of(condition, values) == 0:
            raise Error(f"'{condition['expression']}' does not hold: {condition['why']}")
    arguments = []
    for argument in plan["arguments"]:
        count = int(value_of(argument["bytes"], values))
        arguments.append(Argument(argument, count, _scalar_bytes(argument, values, count)
                                  if argument["direction"] == "scalar" else b""))
    names = [argument["name"] for argument in plan["arguments"]]
    steps = [Step(step["entry"], [int(value_of(size, values)) for size in step["sizes"]],
                  [names.index(name) for name in step["arguments"]])
             for step in plan["steps"] if value_of(step["when"], values) != 0]
    if not steps:
        raise Error("no step runs")
    return arguments, steps
