"""Translates grid and block into expressions of macros. A grid dimension that only Python can
compute becomes a macro; the space file's table of allowed configurations holds its values."""

import math

import numpy

from .expressions import engine_expression, function_of

BLOCK_NAMES = ["block_size_x", "block_size_y", "block_size_z"]
_DEFAULT_BLOCK = (256, 1, 1)


def block_names(given):
    names = list(given or [])
    if any(not isinstance(name, str) for name in names) or len(names) > 3:
        raise TypeError("block_size_names: allowed: up to three names of parameters")
    return names + BLOCK_NAMES[len(names):]


def block_expressions(configurations):
    expressions = [configurations.number_macros.get(name, str(size))
                   for name, size in zip(configurations.block_names, _DEFAULT_BLOCK)]
    return _short(expressions)


def _short(expressions):
    while len(expressions) > 1 and str(expressions[-1]) == "1":
        expressions = expressions[:-1]
    return expressions


class Size:
    """The value and the expression of one size of the launch, which the script gives as a number, a
    string or a function of the configuration."""

    def __init__(self, given, macros, where):
        self._given = given
        if isinstance(given, (int, numpy.integer)):
            self.expression = str(int(given))
        elif isinstance(given, (float, numpy.floating)):
            self.expression = repr(float(given))
        elif isinstance(given, str):
            written = engine_expression(given, macros)
            may_be_broken = written is not None and ("/" in written or "." in written)
            self.expression = f"floor({written})" if may_be_broken else written
            self._given = lambda c, function=function_of(given): int(function(c))
        elif callable(given):
            self.expression = None
        else:
            raise TypeError(f"{where}: {type(given).__name__} is not supported; allowed: "
                            "numbers, strings and functions of a configuration")

    def value(self, configuration):
        return self._given(configuration) if callable(self._given) else self._given


class Grid:
    """The number of CTAs in each dimension, for a configuration."""

    def __init__(self, problem_size, divisors, configurations):
        self._configurations = configurations
        self._macros = configurations.number_macros
        self._sizes = None
        self._problem_size = problem_size
        if not callable(problem_size):
            self._sizes = self._sizes_of(problem_size)
        self._divisors = [self._divisor(axis, given) for axis, given in enumerate(divisors)]

    def _sizes_of(self, given):
        sizes = [given] if isinstance(given, (str, int, numpy.integer)) else list(given)
        if not 1 <= len(sizes) <= 3:
            raise TypeError("problem_size: allowed: one to three sizes")
        sizes += [1] * (3 - len(sizes))
        return [Size(size, self._macros, f"problem_size[{axis}]")
                for axis, size in enumerate(sizes)]

    def _divisor(self, axis, given):
        name = "grid_div_" + "xyz"[axis]
        if given is None:
            block = self._configurations.block_names[axis]
            given = [block] if block in self._configurations.params else []
        elif isinstance(given, (str, int, numpy.integer)) or callable(given):
            given = [given]
        return [Size(one, self._macros, name) for one in given]

    def of(self, configuration):
        sizes = self._sizes or self._sizes_of(self._problem_size(configuration))
        grid = []
        for size, divisors in zip(sizes, self._divisors):
            by = 1
            for divisor in divisors:
                by *= divisor.value(configuration)
            grid.append(math.ceil(float(size.value(configuration)) / float(by)))
        return tuple(grid)

    def expressions(self):
        """Returns one expression for each dimension. If only Python can compute a dimension, its
        expression is a new macro, whose values are in the space file's table."""
        grid = []
        for axis in range(3):
            size = self._sizes[axis].expression if self._sizes else None
            divisors = [one.expression for one in self._divisors[axis]]
            if size is None or None in divisors:
                macro = "kt_grid_" + "xyz"[axis]
                self._configurations.add_column(macro, lambda c, a=axis: self.of(c)[a])
                grid.append(macro)
            elif divisors:
                grid.append(f"ceil(({size}) / ({' * '.join(divisors)}))")
            else:
                grid.append(size)
        return _short(grid)
