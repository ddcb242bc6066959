"""Tests evo_tune.tune() on the virtual GPU: tune_test.py PROGRAMS SOURCE.

PROGRAMS: the folder of the evo-tune programs. SOURCE: the folder that contains the
package evo_tune.
"""

import contextlib
import io
import os
import signal
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

PROGRAMS, SOURCE = sys.argv[1:3]
try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(0)

os.environ["PATH"] = PROGRAMS + os.pathsep + os.environ["PATH"]
os.environ["EVO_DEVICE"] = "virtual:l4"
sys.path.insert(0, SOURCE)
import evo_tune  # noqa: E402

SCALE = """
__global__ void scale(const float *x, float *y, float factor, int n) {
    int i = (blockIdx.x * BLOCK + threadIdx.x) * ITEMS;
    for (int k = 0; k < ITEMS; ++k, ++i) if (i < n) y[i] = factor * x[i];
}
"""
PARAMS = {"BLOCK": [64, 128], "ITEMS": [1, 2]}
SHAPES = {"ragged": {"N": 1001}, "even": {"N": 4096}}
DRAWN = numpy.random.default_rng(5)


def inputs(N):
    return {"x": DRAWN.standard_normal(N).astype(numpy.float32), "factor": numpy.float32(2.5),
            "n": numpy.int32(N)}


def tuned(source=SCALE, reference=lambda x, factor, n: factor * x, **options):
    with contextlib.redirect_stderr(io.StringIO()):
        return evo_tune.tune(source, options.pop("params", PARAMS), options.pop("inputs", inputs), reference, "scale",
                             grid="ceil_div(N, BLOCK * ITEMS)", block="BLOCK",
                             **{"generations": 2, "shapes": SHAPES, **options})


class Tune(unittest.TestCase):
    def test_the_reference_is_asked_for_every_shape_and_seed(self):
        asked = set()

        def reference(x, factor, n):
            asked.add((int(n), float(x[0])))
            assert n == x.size, (n, x.size)
            return factor * x

        result = tuned(reference=reference)
        self.assertEqual({n for n, _ in asked}, {1001, 4096})
        self.assertGreaterEqual(len(asked), 2 * 5, "five seeds for each shape")
        self.assertFalse(result.interrupted)
        self.assertEqual(result.best["rank"], 1)
        self.assertEqual(result.best["shape"], "even")
        self.assertEqual(len(result.candidates()), 4)

    def test_a_kernel_that_is_wrong_on_one_shape_is_not_green(self):
        result = tuned(SCALE.replace("i < n", "i < n - n % 2"))
        self.assertEqual(result.elite, [])
        self.assertIn("correctness", result.rejections())
        with self.assertRaisesRegex(evo_tune.Error, "no configuration is correct"):
            result.best

    def test_the_only_kernel_needs_no_name_and_expressions_know_whole_inputs(self):
        result = evo_tune.tune(SCALE, PARAMS, inputs(1001), lambda x, factor, n: factor * x,
                               grid="ceil_div(n, BLOCK * ITEMS)", block="BLOCK", generations=1,
                               quiet=True)
        self.assertEqual(result.best["rank"], 1)

    def test_the_reason_is_said_where_nothing_is_correct(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            evo_tune.tune(SCALE, {"BLOCK": [64]}, inputs(100), lambda x, factor, n: factor * x,
                          grid=2, block="BLOCK", generations=1)
        self.assertIn('the first failed by: kernel.cu(3): error: identifier "ITEMS" is undefined',
                      said.getvalue())

    def test_a_bundle_and_a_report_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            result = tuned()
            report = result.report(Path(folder, "report.html"))
            bundle = result.bundle(Path(folder, "bundle"))
            del result
            self.assertIn("<iframe", report._repr_html_())
            self.assertTrue((bundle / "bundle.json").is_file(), list(bundle.iterdir()))

    def test_names_that_do_not_fit_are_errors(self):
        with self.assertRaisesRegex(evo_tune.Error, "no parameter z; it has x, y, factor, n"):
            tuned(inputs=lambda N: {**inputs(N), "z": 1})
        with self.assertRaisesRegex(evo_tune.Error, "array x is missing"):
            tuned(inputs={"factor": numpy.float32(1), "n": numpy.int32(1)},
                  reference=lambda factor, n: numpy.zeros(1, numpy.float32),
                  shapes={"given": {"N": 1}})
        with self.assertRaisesRegex(evo_tune.Error, "returns 2 arrays; the kernel writes y"):
            tuned(reference=lambda x, factor, n: (x, x))

    def test_a_reference_that_throws_ends_the_run(self):
        calls = []

        def reference(x, factor, n):
            calls.append(n)
            if len(calls) > 2:
                raise ValueError("no more")
            return factor * x

        with self.assertRaisesRegex(evo_tune.Error, "ValueError: no more"):
            tuned(reference=reference)

    def test_a_strategy_of_ones_own_is_asked_and_told(self):
        told = []

        class Backwards:
            def __init__(self, space):
                self.left = [{"BLOCK": block, "ITEMS": items}
                             for block in space["parameters"][0]["values"]
                             for items in space["parameters"][1]["values"]]

            def propose(self, count):
                return [self.left.pop() for _ in range(min(count, len(self.left)))]

            def observe(self, outcomes):
                told.extend(one["config"]["BLOCK"] for one in outcomes if "time_us" in one)

        result = tuned(strategy=Backwards, generations=4)
        self.assertEqual(sorted(told), [64, 64, 128, 128])
        self.assertEqual(len(result.candidates()), 4)

    def test_an_exception_of_a_strategy_is_that_of_tune(self):
        class Broken:
            def __init__(self, space):
                pass

            def propose(self, count):
                raise ZeroDivisionError("in the strategy")

        with self.assertRaisesRegex(ZeroDivisionError, "in the strategy"):
            tuned(strategy=Broken)

    def test_an_interrupt_keeps_what_was_found(self):
        found = threading.Event()

        def interrupt():
            found.wait()
            time.sleep(1)
            # Sends SIGINT to the whole process group, as Ctrl-C in a terminal does.
            os.killpg(os.getpgrp(), signal.SIGINT)

        def reference(x, factor, n):
            found.set()
            return factor * x

        if os.getpgrp() != os.getpid():
            os.setpgrp()
        threading.Thread(target=interrupt, daemon=True).start()
        result = tuned(reference=reference, generations=100000, strategy="random",
                       params={"BLOCK": list(range(32, 1025)), "ITEMS": [1, 2, 3, 4]})
        self.assertTrue(result.interrupted)
        self.assertTrue((result.folder / "run.db").is_file())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
