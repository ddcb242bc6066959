"""Uses the optional C++ extension _launcher, which repeats calls that bundle.py has prepared."""

import functools
import os
import warnings

from . import arrays

_why = ""  # why the extension is missing
try:
    from . import _launcher
except ImportError as error:
    _launcher, _why = None, str(error)

_has_said = False


def is_there():
    """Whether calls go through the C++ extension. EVO_TUNE_LAUNCHER=python turns the extension
    off."""
    return _launcher is not None and os.environ.get("EVO_TUNE_LAUNCHER") != "python"


def _say_that_it_is_missing():
    global _has_said  # pylint: disable=global-statement
    if _has_said or _launcher is not None:
        return
    _has_said = True
    warnings.warn(f"evo_tune: the C++ extension is missing ({_why}), so bundles are launched by "
                  "Python code alone, and a call takes several times as long; the wheel of "
                  "tools/python/build_wheel.sh has the extension (docs/python.md)", RuntimeWarning,
                  stacklevel=5)


def _calls_of(bundle):
    """The extension's object that repeats calls of a bundle; None without the extension."""
    if bundle._fast is None and is_there():
        number = {name: i for i, name in enumerate(bundle.buffers)}
        bundle._fast = _launcher.Calls(
            bundle._driver.file, bundle._folder, bundle.buffers,
            [number[name] for name in bundle.inputs], [number[name] for name in bundle.outputs],
            {keyword: i for i, keyword in enumerate(bundle._keywords)}, _stream_handle)
    if bundle._fast is None:
        _say_that_it_is_missing()
    return bundle._fast


def _stream_handle(stream, values, device):
    return arrays.stream_handle(stream, values, None if device < 0 else device)


def _prepared(bundle, call):
    """The data that the extension needs for a launch: context, arguments, steps, workspaces."""
    prepared = call.prepared
    arguments = [(its.direction, its.bytes, its.alignment, its.may_overlap, its.value)
                 for its in prepared.arguments]
    steps = [(step.entry, step.sizes, step.positions, function.value, step.attributes)
             for function, step in prepared.steps]
    # `workspaces` keeps `prepared`, not the bundle, to avoid a reference cycle through _launcher.
    workspaces = functools.partial(_workspaces, prepared, bundle._driver)
    return call.context, arguments, steps, workspaces


def _workspaces(prepared, driver, stream):
    return {position: its.value
            for position, its in prepared.workspaces_of(driver, stream).items()}


def _has_maps(call):
    """Whether a launch needs tensor maps. The extension cannot repeat launches with tensor maps,
    because these must be encoded for the buffers of each call."""
    return any(its.map is not None for its in call.prepared.arguments)


def learn(bundle, inputs, keywords, call):
    """Lets the extension handle later calls with arguments of the same types and shapes in the same
    context."""
    calls = None if _has_maps(call) else _calls_of(bundle)
    if calls is None:
        return
    allocations = [(bundle.buffers.index(name), tuple(call.given[name].shape),
                    call.given[name].dtype) for name in call.allocated]
    calls.learn(inputs, keywords, *_prepared(bundle, call), allocations)


def plan(bundle, call, stream, in_python):
    """A function of all buffers that launches the kernel by the extension, or by `in_python` if the
    extension is missing, or refuses the kernel (tensor maps) or the buffers."""
    calls = None if _has_maps(call) else _calls_of(bundle)
    if calls is None:
        return in_python
    buffers = tuple(call.given[name] for name in bundle.buffers)
    return calls.plan(buffers, stream, *_prepared(bundle, call), in_python) or in_python
