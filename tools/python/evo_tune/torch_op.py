"""A bundle as a custom operator of PyTorch."""

from . import arrays, shapes
from .bundle import Bundle
from .errors import Error

# Keeps each operator's torch.library.Library alive, because an operator ends with its library.
_libraries = {}


def torch_op(bundle, name=None):
    """Registers `bundle`, a Bundle or its folder, as an operator of PyTorch. The default for `name`
    is "evo_tune::" and the name of the bundle. The operator takes the inputs in order and shape
    variables by keyword, and returns the outputs. The operator works under torch.compile and in
    CUDA graphs, and has no backward pass.
    """
    import torch

    kernel = bundle if isinstance(bundle, Bundle) else Bundle(bundle)
    name = name or f"evo_tune::{kernel.name}"
    buffers = {its["name"]: its for its in kernel._index.arguments}
    if not kernel.outputs and all(buffers[its]["direction"] == "in" for its in kernel.inputs):
        raise Error(f"{kernel.name} has no output")
    written = [i for i, its in enumerate(kernel.inputs) if buffers[its]["direction"] == "inout"]

    def launch(*inputs, **sizes):
        results = kernel(*inputs, **sizes)
        for position in written:
            torch.autograd.graph.increment_version(inputs[position])
        return results if kernel.outputs else None

    def fake(*inputs, **sizes):
        known = {}
        kernel._refuse_gradients(dict(zip(kernel.inputs, inputs)))
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

    return _registered(name, _schema(kernel, buffers), launch, fake)


def _registered(name, schema, launch, fake):
    """Registers the operator without torch.library.custom_op, whose Python code doubles the cost of
    a call."""
    import torch
    if name in _libraries:
        _libraries.pop(name)._destroy()
    namespace, own = name.split("::")
    library = _libraries[name] = torch.library.Library(namespace, "FRAGMENT")
    library.define(own + schema, tags=[torch.Tag.pt2_compliant_tag])
    # registered for all devices, so that launch() can report a wrong device
    library.impl(own, launch, "CompositeExplicitAutograd")
    torch.library.register_fake(name, fake, lib=library)
    return getattr(getattr(torch.ops, namespace), own).default


def _schema(kernel, buffers):
    keywords = {name: keyword for keyword, name in kernel._keywords.items()}
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
