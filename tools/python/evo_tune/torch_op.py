"""A bundle as a custom operator of PyTorch."""

from . import arrays, shapes
from .bundle import Bundle
from .errors import Error


def torch_op(bundle, name=None):
    """Registers `bundle` (or the one in this folder) as the operator `name`, "evo_tune::" and its
    own name by default. Call it with the inputs in their order and shape variables by keyword; it
    returns the outputs. It works under torch.compile and in CUDA graphs, and has no backward."""
    import torch

    kernel = bundle if isinstance(bundle, Bundle) else Bundle(bundle)
    name = name or f"evo_tune::{kernel.name}"
    buffers = {its["name"]: its for its in kernel._index.arguments}
    if not kernel.outputs and all(buffers[its]["direction"] == "in" for its in kernel.inputs):
        raise Error(f"{kernel.name} has no output")
    written = [its for its in kernel.inputs if buffers[its]["direction"] == "inout"]
    keywords = {name: keyword for keyword, name in kernel._keywords.items()}

    def launch(*inputs, **sizes):
        results = kernel(*inputs, **sizes)
        return results if kernel.outputs else None

    operator = torch.library.custom_op(
        name, launch, mutates_args=[keywords[its] for its in written],
        schema=_schema(kernel, buffers, keywords))

    @operator.register_fake
    def _fake(*inputs, **sizes):
        known = {}
        for its, tensor in zip(kernel.inputs, inputs):
            arrays.check_dtype(its, buffers[its]["dtype"], str(tensor.dtype).replace("torch.", ""))
            known[its] = tensor.shape
        given = {kernel._keywords[its]: size for its, size in sizes.items() if size is not None}
        values = shapes.infer(kernel._index.arguments, known, given, kernel.shape_variables,
                              kernel.defaults)
        results = tuple(
            inputs[0].new_empty(shapes.shape_of(buffers[its], values),
                                dtype=getattr(torch, arrays.DTYPES[buffers[its]["dtype"]]))
            for its in kernel.outputs)
        return results[0] if len(results) == 1 else results or None

    def backward(context, *gradients):
        raise Error(f"{name} has no backward: call it under torch.no_grad(), or detach its inputs")

    if not written:  # PyTorch has no formula for operators that write to their inputs
        operator.register_autograd(backward)
    return operator


def _schema(kernel, buffers, keywords):
    tensors = []
    for position, its in enumerate(kernel.inputs):
        alias = f"(a{position}!)" if buffers[its]["direction"] == "inout" else ""
        tensors.append(f"Tensor{alias} {keywords[its]}")
    sizes = [f"{_size_type(kernel, its)}? {keywords[its]}=None" for its in kernel.shape_variables]
    results = ", ".join(["Tensor"] * len(kernel.outputs))
    return f"({', '.join([*tensors, '*', *sizes])}) -> ({results})"


def _size_type(kernel, variable):
    position = kernel.shape_variables.index(variable)
    tuned = [use["sizes"][position] for use, _ in kernel._index.uses if use["sizes"]]
    return "SymInt" if all(isinstance(size, int) for size in tuned) else "float"
