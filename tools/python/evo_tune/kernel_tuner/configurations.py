"""The search space: parameters as macros, the allowed configurations, and macros that Python
computes."""

import itertools
import json

import numpy

from ..errors import Error
from . import restrictions as conditions
from .errors import NotSupported

_MOST_ROWS = 1_000_000  # limit of the table in a space file
_MOST_TRIED = 20_000_000  # limit of the combinations that Python enumerates
_MOST_THREADS = 1024


def plain(value):
    """Converts NumPy's scalars to Python's."""
    return value.item() if isinstance(value, numpy.generic) else value


def _is_number(value):
    return isinstance(value, (bool, int, float))


class Configurations:
    """The search space of a script. `params`: the list of values of each parameter, by the
    parameter's name. The name of a parameter's macro is `prefix` + the parameter's name. If the
    values are not numbers, the name is "kt_" + the parameter's name, and the macro holds the index
    of the value."""

    def __init__(self, tune_params, restrictions, block_names, prefix=""):
        if not isinstance(tune_params, dict) or not tune_params:
            raise TypeError("tune_params: allowed: a dict of lists of values, at least one")
        self.params = {}
        for name, values in tune_params.items():
            if isinstance(values, (str, bytes)) or not numpy.iterable(values):
                raise TypeError(f"tune_params['{name}']: allowed: a list of values")
            self.params[name] = list(dict.fromkeys(plain(value) for value in values))
            if not self.params[name]:
                raise TypeError(f"tune_params['{name}']: allowed: one or more values")
        self.numeric = {name for name, values in self.params.items()
                        if all(_is_number(value) for value in values)}
        self.macros = {name: prefix + name if name in self.numeric else "kt_" + name
                       for name in self.params}
        self.number_macros = {name: self.macros[name] for name in self.numeric}
        self.block_names = block_names
        self.restrictions = conditions.taken(restrictions, self.params, self.number_macros)
        self._limit_threads()
        self.columns = {}  # further macros by name: functions of a configuration

    def _limit_threads(self):
        names = [name for name in self.block_names if name in self.params]
        if not names:
            return
        product = " * ".join(self.macros[name] for name in names)
        self.restrictions.append(conditions.Restriction(
            lambda c: numpy.prod([int(c[name]) for name in names]) <= _MOST_THREADS,
            f"{product} <= {_MOST_THREADS}"))

    def add_column(self, macro, function):
        """Adds a macro whose value is the number `function(configuration)`."""
        self.columns[macro] = function

    def is_allowed(self, configuration):
        return all(one.holds(configuration) for one in self.restrictions)

    def all(self):
        """Every allowed configuration, in the order of the parameters."""
        names = list(self.params)
        for values in itertools.product(*self.params.values()):
            configuration = dict(zip(names, values))
            if self.is_allowed(configuration):
                yield configuration

    def default(self):
        """The first configuration that the restrictions allow. Raises Error if they allow no
        configuration."""
        tried = itertools.islice(self.all(), 1)
        for configuration in tried:
            return configuration
        raise Error("restrictions: no configuration satisfies them all")

    @property
    def size(self):
        """The number of combinations of parameter values, including those that restrictions
        forbid."""
        return int(numpy.prod([len(values) for values in self.params.values()], dtype=float))

    def needs_table(self):
        return bool(self.columns) or any(one.expression is None for one in self.restrictions)

    def rows(self, without=()):
        """The configurations in the space file's table: all allowed ones, except those whose
        key_of() is in `without`."""
        if self.size > _MOST_TRIED:
            raise NotSupported(
                f"tune_params: {self.size} combinations are too many for restrictions, sizes or "
                "sources that only Python can evaluate; write these as strings of numbers and "
                f"parameters, or reduce the combinations to {_MOST_TRIED}")
        left_out = set(without)
        rows = [one for one in self.all() if key_of(one) not in left_out]
        if len(rows) > _MOST_ROWS:
            raise NotSupported(f"tune_params: {len(rows)} allowed configurations are too many for "
                               f"a table; allowed: {_MOST_ROWS}")
        return rows

    def code(self, name, value):
        """The value of a macro for the value of a parameter."""
        return value if name in self.numeric else self.params[name].index(value)

    def row(self, configuration):
        return [self.code(name, configuration[name]) for name in self.params] + [
            plain(function(configuration)) for function in self.columns.values()]

    def of_macros(self, values):
        """The configuration for a dict of macro values."""
        return {name: (values[macro] if name in self.numeric
                       else self.params[name][int(values[macro])])
                for name, macro in self.macros.items()}

    def space(self, default, name, rows=None):
        """The space file's parameters, constraints and, if `rows` is given, its table of allowed
        configurations."""
        first = self.row(default)
        table = [self.row(one) for one in rows] if rows is not None else None
        macros = list(self.macros.values()) + list(self.columns)
        lists = [self._codes(name) for name in self.params]
        for place in range(len(self.params), len(macros)):
            lists.append(sorted({row[place] for row in (table or [first])} | {first[place]}))
        space = {"parameters": [{"macro": macro, "values": values, "default": value}
                                for macro, values, value in zip(macros, lists, first)],
                 "constraints": [{"expression": one.expression}
                                 for one in self.restrictions if one.expression is not None]}
        if table is not None:
            space["allowed"] = table if first in table else [first] + table
        return space

    def _codes(self, name):
        values = self.params[name]
        return values if name in self.numeric else list(range(len(values)))


def key_of(configuration):
    """The name of a configuration in a cache file."""
    return ",".join(str(value) for value in configuration.values())


def text_of(configuration):
    return ", ".join(f"{name}={json.dumps(plain(value), default=str)}"
                     for name, value in configuration.items())
