"""Tests expressions and grids of Kernel Tuner scripts: kernel_tuner_parts_test.py PROGRAMS SOURCE

PROGRAMS is not used. SOURCE: the folder that contains the package evo_tune.
"""

import json
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = sys.argv[2]
try:
    import numpy  # noqa: F401
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(0)

sys.path.insert(0, SOURCE)
from evo_tune.kernel_tuner import NotSupported, files  # noqa: E402
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


class StoredResults(unittest.TestCase):
    PARAMETERS = {"block_size_x": [32, 64, 128]}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.stored, self.header = Path(folder.name, "stored.json"), Path(folder.name, "best.h")

    def store(self, device, size, values, objective="time"):
        """Stores `values`: the value of the objective by block_size_x."""
        results = [{"block_size_x": block, objective: value} for block, value in values.items()]
        files.store_results(self.stored, "add", "", self.PARAMETERS, size, results,
                            {"device_name": device}, top=100, objective=objective)

    def chosen(self):
        files.create_device_targets(self.header, self.stored)
        return [int(line.split()[2]) for line in self.header.read_text().splitlines()
                if line.startswith("#define")]

    def test_the_file_is_kernel_tuners(self):
        self.store(" NVIDIA A100-40GB ", (64, 32), {32: 1.5})
        self.assertEqual(json.loads(self.stored.read_text()), {
            "version_number": "1.0", "kernel_name": "add", "objective": "time",
            "objective_higher_is_better": False, "tunable_parameters": ["block_size_x"],
            "data": [{"device_name": "NVIDIA_A100_40GB", "problem_size": "64x32",
                      "tunable_parameters": {"block_size_x": 32}, "time": 1.5}]})

    def test_the_configuration_of_most_sizes_is_chosen(self):
        self.store("A", 1, {32: 1.9, 64: 1})
        self.store("A", 2, {32: 1.9, 64: 1})
        self.store("A", 3, {32: 1.9, 128: 1})
        self.assertEqual(self.chosen(), [32, 32])

    def test_from_several_the_best_sum_is_chosen(self):
        self.store("A", 1, {32: 100, 64: 102})
        self.store("A", 2, {32: 1.5, 64: 1})
        self.assertEqual(self.chosen(), [32, 32])

    def test_the_objective_is_the_files(self):
        self.store("A", 1, {32: 7, 64: 8}, "GFLOP/s")
        self.store("B", 1, {32: 9, 64: 8}, "GFLOP/s")
        self.assertEqual(self.chosen(), [64, 32, 32])
        with self.assertRaisesRegex(NotSupported, "stored.json is not 'time'"):
            self.store("A", 1, {32: 7})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
