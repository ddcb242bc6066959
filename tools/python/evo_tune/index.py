"""The index of a bundle, bundle.json (docs/bundle.md)."""

import hashlib
import json
import math

from . import arrays
from .errors import Error, reading
from .plan import NOT_GIVEN, check_tree

_FORMAT = "evo-tune bundle 3"


class Index:
    """The parsed index of a bundle. `arguments`: the plan's arguments that a caller passes. `uses`:
    pairs of an entry of "chosen_for" and its kernel. `damaged`: one line for each unreadable
    kernel, with the reason."""

    def __init__(self, text):
        index = json.loads(text)
        if index["format"] != _FORMAT:
            raise Error(f"format: allowed: \"{_FORMAT}\": export the bundle again")
        self.name, self.shape_variables = index["name"], index["shape_variables"]
        if not all(isinstance(its, str) for its in [self.name, *self.shape_variables]):
            raise Error("'name' or 'shape_variables' are damaged")
        self.uses, self.damaged, self.arguments = [], [], None
        for kernel in index["kernels"]:
            try:
                with reading("its part of the index"):
                    buffers, uses = _buffers_of(kernel), _uses_of(kernel, self.shape_variables)
            except Error as error:
                self.damaged.append(f"\n  not {str(kernel)[:80]}: {error}")
                continue
            self.arguments = self.arguments or buffers
            self.uses += [(use, kernel) for use in uses]
        if self.arguments is None:
            raise Error("no kernel can be read" + "".join(self.damaged))
        tuned = list(dict.fromkeys(tuple(use["sizes"]) for use, _ in self.uses if use["sizes"]))
        self.tuned_shapes = tuned  # sizes in the order of shape_variables
        # A caller may omit a variable that has one value in all tuned shapes, unless an input's
        # size depends on the variable.
        sizes_of_inputs = set().union(*(_names(its["elements"]["tree"]) for its in self.arguments
                                        if its["direction"] != "out"))
        self.defaults = {
            name: sizes[0] for name, sizes in zip(self.shape_variables, zip(*tuned))
            if len(set(sizes)) == 1 and name not in sizes_of_inputs}


def _names(tree):
    """The variables in the tree of an expression, except those that occur only in conditions of the
    operator "?"."""
    if isinstance(tree, str):
        return {tree}
    operands = tree[2 if tree[0] == "?" else 1:] if isinstance(tree, list) else []
    return set().union(*map(_names, operands))


def checked_text(file):
    """Reads the text of an index and checks it against the hash in its first line."""
    with open(file, "rb") as content:
        head, _, rest = content.read().partition(b"\n")
    if head != b'{"sha256": "%s",' % hashlib.sha256(rest).hexdigest().encode():
        raise Error("was damaged, changed by hand or written by another version: export it again")
    return head + rest


def _buffers_of(kernel):
    """The buffers that a caller passes, from the kernel's "plan". Raises Error or an exception of
    errors.DAMAGE if the plan is damaged."""
    buffers = [its for its in kernel["plan"]["arguments"]
               if its["direction"] not in NOT_GIVEN]
    for its in buffers:
        check_tree(its["elements"]["tree"])
        for tree in its.get("dimensions", []):
            check_tree(tree)
        if its["dtype"] not in arrays.DTYPES or not isinstance(its["name"], str):
            raise Error(f"{str(its['name'])[:80]}: '{str(its['dtype'])[:80]}' is no type")
    return buffers


def _uses_of(kernel, variables):
    """The devices and shapes for which a kernel may be chosen ("chosen_for"). Raises Error or an
    exception of errors.DAMAGE if the entry of the kernel is damaged."""
    for code in ("machine_code", "ptx"):
        _require_numbers(kernel["plan"][code]["from"], kernel["plan"][code]["to"])
    for code in ("cubin", "ptx"):
        if not isinstance(kernel[code], str) or not isinstance(kernel["sha256"][code], str):
            raise Error(f"'{code}' is no file")
    uses = kernel["plan"]["chosen_for"]
    for use in uses:
        _require_numbers(use["rank"], *use["sizes"])
        if use["sizes"] and len(use["sizes"]) != len(variables):
            raise Error("'sizes' are not those of the shape variables")
        if not isinstance(use["shape"] + use["device"] + kernel["name"], str):
            raise Error("'shape', 'device' or 'name' is no string")
    return uses


def _require_numbers(*values):
    for value in values:
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise Error(f"{str(value)[:80]} is no number")


def runs(kernel, code, device):
    its = kernel["plan"][code]
    return its["from"] <= device.compute_capability <= its["to"]
