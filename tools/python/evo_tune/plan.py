"""Computes the launch arguments of a kernel on one shape from the kernel's "plan" in the index of a
bundle (docs/bundle.md)."""

import math
import struct
from dataclasses import dataclass

from .errors import Error, reading

_FORMATS = {"f32": "f", "f64": "d", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "f16": "e",
            "i16": "h", "u16": "H", "i8": "b", "u8": "B"}


_MOST_PARAMETER_BYTES = 32764
_LAUNCH_ATTRIBUTES = {"cooperative": 2, "programmatic_stream_serialization": 6}
_MOST_SIZE = 2**31 - 1  # limit of each size of a launch: grid, block, dynamic shared memory
_MOST_DIMENSIONS = 5  # dimensions of a tensor map
_TENSOR_MAP_BYTES = 128
_DIRECTIONS = ("in", "out", "inout", "workspace", "scalar", "tensor_map")
NOT_GIVEN = ("scalar", "workspace", "tensor_map")  # directions that no caller passes


@dataclass
class TensorMap:
    """Arguments of cuTensorMapEncodeTiled, without the address."""
    of: int  # position of the tensor map's buffer among the arguments
    type: int
    dims: list
    strides: list
    box: list
    element_strides: list
    swizzle: int  # CUtensorMapSwizzle
    promotion: int  # CUtensorMapL2promotion


@dataclass
class Argument:
    json: dict
    name: str
    direction: str
    bytes: int
    elements: int  # of a buffer
    alignment: int  # of the buffer's address, in bytes
    may_overlap: bool
    value: bytes  # of a scalar
    map: TensorMap = None


@dataclass
class Step:
    entry: str
    sizes: list  # grid, block, dynamic shared memory
    positions: list  # indices of the step's arguments
    attributes: list  # CUlaunchAttributeID of each launch attribute


def _rounded(x):
    """Rounds to a whole number, halves away from zero, like round() of C."""
    whole = math.floor(abs(x))
    return math.copysign(whole + (abs(x) - whole >= 0.5), x)


def _modulo(a, b):
    if b == 0:
        raise Error("division by zero")
    return a % b


def _whole(x, least, most):
    if least <= x <= most and x == math.floor(x):
        return x
    raise Error(f"{x:.15g}; allowed: a whole number from {least:.15g} to {most:.15g}")


def _within(x, least, most):
    if least <= x <= most:
        return x
    raise Error(f"{x:.15g}; allowed: a number from {least:.15g} to {most:.15g}")


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
    """The value of an expression, from its parsed form "tree" (docs/bundle.md). The operator ?
    evaluates only the branch taken."""
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


def check_tree(tree, depth=0):
    """Raises Error if evaluate() cannot read the tree."""
    is_number = isinstance(tree, (int, float)) and math.isfinite(tree)
    if is_number or isinstance(tree, str):
        return
    if not isinstance(tree, list) or not tree or depth > 100:
        raise Error(f"{str(tree)[:80]} is no expression")
    if tree[0] != "?" and tree[0] not in _OPERATIONS:
        raise Error(f"'{str(tree[0])[:80]}' is unknown")
    for operand in tree[1:]:
        check_tree(operand, depth + 1)


def value_of(expression, values):
    """The value of an expression of the index, {"expression", "tree"}."""
    try:
        value = evaluate(expression["tree"], values)
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise Error("the value is not finite")
        return value
    except (Error, OverflowError) as error:
        raise Error(f"{expression['expression']}: {error}") from None


def _bf16(value):
    """The bytes of `value` in bf16, rounded to nearest, ties to even."""
    exponent = max(math.frexp(value)[1] - 1, -126) if value else -126
    steps = round(math.ldexp(abs(value), 7 - exponent))
    return struct.pack("<H", ((exponent + 126) << 7) + steps + (0x8000 if value < 0 else 0))


def _count(value, most, what):
    if 0 <= value <= most and value == math.floor(value):
        return int(value)
    raise Error(f"{what} is {value:.15g}; allowed: a whole number from 0 to {most}")


def _scalar_bytes(argument, values, count):
    data = bytearray(count)
    for field in argument["fields"]:
        value, dtype = value_of(field, values), field["dtype"]
        if dtype != "bf16" and dtype[0] in "iu":
            value = int(value)
        packed = _bf16(value) if dtype == "bf16" else struct.pack("<" + _FORMATS[dtype], value)
        offset = _count(field["offset"], count - len(packed), "'offset'")
        data[offset:offset + len(packed)] = packed
    return bytes(data)


def _doublings(count, first, what):
    """The code of a number of bytes in a CUDA enumeration: 0 for 0, 1 for `first`, 2 for
    2 * `first`, 3 for 4 * `first`."""
    codes = {0: 0, first: 1, 2 * first: 2, 4 * first: 3}
    if count not in codes:
        raise Error(f"{what} is {count} bytes")
    return codes[count]


def _tensor_map(its, values):
    """Computes all fields of a tensor map except `of`, the position of the map's buffer. Checks
    only some of CUDA's limits, because the driver checks the rest."""
    name = its["name"]

    def number(expression):
        return _count(value_of(expression, values), 2**53, expression["expression"])

    lists = [[number(expression) for expression in its[key]]
             for key in ("dims", "strides", "box", "element_strides")]
    rank = len(lists[0])
    if not 1 <= rank <= _MOST_DIMENSIONS or [len(its) for its in lists[1:]] != [rank - 1, rank, rank]:
        raise Error(f"dims of {name}: the lists have the wrong numbers of entries")
    return TensorMap(-1, _count(its["type"], 100, "'type'"), *lists,
                     _doublings(number(its["swizzle"]), 32, f"the swizzle of {name}"),
                     _doublings(number(its["l2_promotion"]), 64, f"the l2_promotion of {name}"))


def _place_map(argument, arguments):
    """Sets TensorMap.of. Raises Error unless the tensor lies within its buffer."""
    its, of = argument.map, argument.json["of"]
    names = [argument.name for argument in arguments]
    if of not in names:
        raise Error(f"no argument '{str(of)[:80]}'")
    its.of = names.index(of)
    there = arguments[its.of].bytes
    reached = its.dims[0] * _count(argument.json["element_bytes"], 8, "'element_bytes'") + sum(
        (count - 1) * stride for count, stride in zip(its.dims[1:], its.strides))
    if reached > there:
        raise Error(f"tensor map '{argument.name}' reaches byte {reached} of '{of}', which has "
                    f"{there}")


def _argument(its, values, allowed):
    name, direction = its["name"], its["direction"]
    if not isinstance(name, str) or direction not in _DIRECTIONS:
        raise Error(f"{str(name)[:80]}: '{str(direction)[:80]}' is no direction")
    if direction == "scalar":
        count = _count(value_of(its["bytes"], values), _MOST_PARAMETER_BYTES, f"bytes of {name}")
        return Argument(its, name, direction, count, 0, 1, False,
                        _scalar_bytes(its, values, count))
    if direction == "tensor_map":
        return Argument(its, name, direction, _TENSOR_MAP_BYTES, 0, 1, False, b"",
                        _tensor_map(its, values))
    element_bytes = its["element_bytes"]
    count = _count(value_of(its["bytes"], values), 2**53, f"bytes of {name}")
    if not isinstance(element_bytes, int) or element_bytes < 1 or count % element_bytes:
        raise Error(f"'element_bytes' of {name} is {str(element_bytes)[:80]}")
    alignment = element_bytes if name in allowed else its["alignment"]
    return Argument(its, name, direction, count, count // element_bytes,
                    max(_count(alignment, 4096, f"'alignment' of {name}"), 1), name in allowed, b"")


def _require_valid(condition, values, allowed):
    """Raises Error if the condition fails, unless `allowed` permits the value of one variable."""
    variables = condition.get("variables", [])
    for name in variables:
        least, most = allowed.get(name, (math.inf, -math.inf))
        if least <= values[name] <= most:
            return
    if value_of(condition, values) != 0:
        return
    failed = f"'{condition['expression']}' does not hold: {condition['why']}"
    if not variables:
        raise Error(failed)
    sizes = ", ".join(f"{name} = {values[name]:.15g}" for name in variables)
    options = " or ".join(f'allow={{"{name}"}}' for name in variables)
    raise Error(f"{sizes} was not checked: {failed}; {options} of load() lets it be launched all "
                "the same")


def _sizes(step, values):
    sizes = [_count(value_of(size, values), _MOST_SIZE, size["expression"])
             for size in step["sizes"]]
    if len(sizes) != 7 or 0 in sizes[:6]:
        raise Error(f"'sizes' are {sizes}")
    return sizes


def _attributes(step):
    """The CUlaunchAttributeID of each launch attribute of a step; empty in older bundles."""
    try:
        return [_LAUNCH_ATTRIBUTES[name] for name in step.get("attributes", [])]
    except KeyError as error:
        raise Error(f"{error} is no launch attribute") from None


def planned(plan, shape, device, buffers, allowed):
    """Computes the arguments and steps of a launch. Raises Error with the reason if the kernel is
    not valid for the shape. `buffers`: names of the caller's buffers. `allowed`: the
    permitted range of each variable or buffer that the caller exempts from checks, by name."""
    values = {**shape, "SM_COUNT": device.sm_count, "SHARED_BYTES": device.shared_bytes}
    with reading("its part of the index"):
        for condition in plan["valid"]:
            _require_valid(condition, values, allowed)
        arguments = [_argument(its, values, allowed) for its in plan["arguments"]]
        names = [argument.name for argument in arguments]
        if [its.name for its in arguments if its.direction not in NOT_GIVEN] != list(buffers):
            raise Error("its buffers are not those of the bundle")
        for argument in arguments:
            if argument.map is not None:
                _place_map(argument, arguments)
        steps = [Step(str(step["entry"]), _sizes(step, values),
                      [names.index(name) for name in step["arguments"]],
                      _attributes(step))
                 for step in plan["steps"] if value_of(step["when"], values) != 0]
    if not steps:
        raise Error("'when' of every step is 0")
    return arguments, steps
