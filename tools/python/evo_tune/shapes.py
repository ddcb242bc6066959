"""Infers shape variables from shapes of tensors, and shapes of tensors from shape variables."""

import math

from .errors import Error
from .plan import evaluate


def infer(arguments, shapes, given, variables, defaults):
    """The values of all shape variables in `variables`, in order. `arguments`: the arguments of a
    kernel in a bundle's index. `shapes`: the shapes of the known buffers, by name. `given`: values
    that the caller passed. `defaults`: values of variables that may be omitted. Sizes may be
    symbolic sizes of torch.compile. Raises Error for a conflict or a missing value."""
    values, origin = dict(given), {name: "as given" for name in given}
    known = [(argument, tuple(shapes[argument["name"]])) for argument in arguments
             if argument["name"] in shapes and "dimensions" in argument]
    for argument, shape in known:
        dimensions = argument["dimensions"]
        if len(dimensions) != len(shape):
            continue
        for i, (dimension, size) in enumerate(zip(dimensions, shape)):
            if not isinstance(dimension, str) or dimension not in variables:
                continue
            if dimension not in values:
                values[dimension] = size
                origin[dimension] = f"as {argument['name']} has"
            elif values[dimension] != size:
                raise Error(f"expected {argument['name']} to have size {values[dimension]} at "
                            f"dimension {i} ({dimension}, {origin[dimension]}), but got {size}")
    for argument, shape in known:
        unknown = [its for its in argument["dimensions"]
                   if isinstance(its, str) and its in variables and its not in values]
        rest = [its for its in argument["dimensions"] if its not in unknown]
        if len(unknown) != 1 or not _has_value(rest, values):
            continue
        others = math.prod(evaluate(its, values) for its in rest)
        count = math.prod(shape)
        if others != 0 and count % others == 0:
            values[unknown[0]] = count // others
            origin[unknown[0]] = f"as {argument['name']} has"
    missing = [name for name in variables if name not in values and name not in defaults]
    if missing:
        raise Error(f"cannot infer {', '.join(missing)} from the shapes of the tensors: pass "
                    f"{'it' if len(missing) == 1 else 'them'} by keyword, such as {missing[0]}=1")
    return {name: values.get(name, defaults.get(name)) for name in variables}


def _has_value(trees, values):
    try:
        for tree in trees:
            evaluate(tree, values)
    except Error:
        return False
    return True


def shape_of(argument, values):
    """The shape of a buffer's tensor: its dimensions, or else its number of elements."""
    trees = argument.get("dimensions") or [argument["elements"]["tree"]]
    sizes = [evaluate(tree, values) for tree in trees]
    return tuple(int(size) if isinstance(size, float) else size for size in sizes)
