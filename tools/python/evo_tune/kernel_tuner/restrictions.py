"""Converts Kernel Tuner's restrictions of a search space (strings and functions) to conditions."""

import inspect

from .errors import NotSupported
from .expressions import engine_expression, function_of


class Restriction:
    """A condition on a configuration, as a function and as an expression of the space file.
    `expression` is None if the condition cannot be translated."""

    def __init__(self, holds, expression=None):
        self._holds = holds
        self.expression = expression

    def holds(self, configuration):
        return bool(self._holds(configuration))


def taken(restrictions, params, macros):
    """A list of Restriction. `macros`: see engine_expression(). Raises NotSupported for a
    restriction that is neither a string, a function, nor a tuple of a function, the names of its
    parameters and perhaps a third item, which is ignored."""
    return [_taken(number, one, params, macros)
            for number, one in enumerate(listed(restrictions))]


def listed(restrictions):
    """The restrictions as a list. A script may give none, a single restriction, or a list."""
    if restrictions is None:
        return []
    is_one = isinstance(restrictions, str) or callable(restrictions) or (
        isinstance(restrictions, tuple) and restrictions and callable(restrictions[0]))
    return [restrictions] if is_one else list(restrictions)


def _taken(number, restriction, params, macros):
    if isinstance(restriction, str):
        return Restriction(function_of(restriction),
                           engine_expression(restriction, macros))
    if callable(restriction):
        return Restriction(_by_signature(restriction, params))
    if isinstance(restriction, (tuple, list)) and len(restriction) in (2, 3) and callable(
            restriction[0]):
        function, names = restriction[0], list(restriction[1])
        return Restriction(lambda c: function(*[c[name] for name in names]))
    raise NotSupported(f"restrictions[{number}]: {type(restriction).__name__} is not supported; "
                       "allowed: strings, functions, and pairs of a function and the names of its "
                       "parameters")


def _by_signature(function, params):
    """A function of a configuration that calls `function` with the tuned parameters that its
    signature names, or else with the whole configuration."""
    try:
        expected = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return function
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in expected):
        return lambda c: function(**c)
    names = [one.name for one in expected]
    if names and all(name in params for name in names):
        return lambda c: function(**{name: c[name] for name in names})
    return function
