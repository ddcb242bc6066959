"""Tests expressions and grids of Kernel Tuner scripts: kernel_tuner_parts_test.py PROGRAMS SOURCE

PROGRAMS is not used. SOURCE: the folder that contains the package evo_tune.
"""

import sys
import unittest

SOURCE = sys.argv[2]
try:
    import numpy  # noqa: F401
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(0)

sys.path.insert(0, SOURCE)
from evo_tune.kernel_tuner.configurations import Configurations  # noqa: E402
from evo_tune.kernel_tuner.expressions import engine_expression  # noqa: E402
from evo_tune.kernel_tuner.launch import BLOCK_NAMES, Grid  # noqa: E402
from evo_tune.kernel_tuner.results import pareto_front  # noqa: E402


class Expressions(unittest.TestCase):
    MACROS = {"x": "kt_x", "y": "y"}

    def test_texts_of_numbers_and_parameters_are_expressions(self):
        self.assertEqual(engine_expression("x*y <= 4 and not x == 2", self.MACROS),
                         "kt_x * y <= 4 and (not kt_x == 2)")
        self.assertEqual(engine_expression("min(x, 3)", self.MACROS), "min(kt_x, 3)")

    def test_what_only_python_knows_is_none(self):
        for text in ("z > 1", "x ^ y", "x if y else 1", "'a' == x", "f(x)", "x.y", "x[0]", "(", ""):
            self.assertIsNone(engine_expression(text, self.MACROS), text)


class Launches(unittest.TestCase):
    def grid(self, size, *divisors):
        configurations = Configurations({"block_size_x": [32, 48], "t": [2]}, None, BLOCK_NAMES)
        divisors = list(divisors) + [None] * (3 - len(divisors))
        grid = Grid(size, divisors, configurations)
        return grid.of({"block_size_x": 48, "t": 2}), grid.expressions(), configurations.columns

    def test_sizes_and_divisors_of_each_kind(self):
        self.assertEqual(self.grid(100)[:2], ((3, 1, 1), ["ceil((100) / (block_size_x))"]))
        self.assertEqual(self.grid((100, 7), ["block_size_x", "t"])[0], (2, 7, 1))
        self.assertEqual(self.grid("t*100", [])[:2], ((200, 1, 1), ["t * 100"]))
        self.assertEqual(self.grid(100, "block_size_x/t")[:2],
                         ((5, 1, 1), ["ceil((100) / (floor(block_size_x / t)))"]))
        got = self.grid(lambda p: (p["t"] * 48, 3), lambda p: p["block_size_x"])
        self.assertEqual(got[0], (2, 3, 1))
        self.assertEqual(got[1], ["kt_grid_x", "kt_grid_y", "kt_grid_z"])
        self.assertEqual(sorted(got[2]), ["kt_grid_x", "kt_grid_y", "kt_grid_z"])


class Results(unittest.TestCase):
    def test_the_pareto_front(self):
        points = [{"a": 1, "b": 1}, {"a": 2, "b": 3}, {"a": 3, "b": 2}]
        self.assertEqual(pareto_front(points, {"a": False, "b": True}), points[:2])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
