"""Tests that scripts for Kernel Tuner run unchanged: kernel_tuner_scripts_test.py PROGRAMS SOURCE.

PROGRAMS: the folder of the evo-tune programs. SOURCE: the folder that contains the
package evo_tune. The kernels run on the virtual GPU.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAMS, SOURCE = sys.argv[1:3]
if importlib.util.find_spec("numpy") is None:
    print("skipped: NumPy is not installed")
    sys.exit(0)

os.environ["PATH"] = PROGRAMS + os.pathsep + os.environ["PATH"]
os.environ["EVO_DEVICE"] = "virtual:l4"

ADD = """
__global__ void vector_add(float *c, float *a, float *b, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i < n) { c[i] = a[i] + b[i]; }
}
"""
N = 5000


class Scripts(unittest.TestCase):
    def run_script(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "script.py")
            script.write_text(text)
            return subprocess.run([sys.executable, "-m", "evo_tune", "run", *options, str(script)],
                                  cwd=folder, capture_output=True, text=True, check=False,
                                  env={**os.environ, "PYTHONPATH": SOURCE})

    def test_a_script_of_kernel_tuner_runs_unchanged(self):
        done = self.run_script(f"""
import kernel_tuner, numpy
from kernel_tuner.file_utils import store_output_file
from kernel_tuner.util import get_best_config
SOURCE = '''{ADD}'''
a = numpy.random.randn({N}).astype(numpy.float32)
results, env = kernel_tuner.tune_kernel(
    "vector_add", SOURCE, {N}, [numpy.zeros_like(a), a, a * 2, numpy.int32({N})],
    dict(block_size_x=[64, 128]), strategy=kernel_tuner.strategies.minimize)
store_output_file("out.json", results, ["block_size_x"])
print("best", get_best_config(results, "time")["block_size_x"], len(results))
""")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"best (64|128) 2")

    def test_options_bound_and_choose_the_search_of_a_script_that_does_not(self):
        script = f"""
import kernel_tuner, numpy
SOURCE = '''{ADD}'''
a = numpy.random.randn({N}).astype(numpy.float32)
results, env = kernel_tuner.tune_kernel(
    "vector_add", SOURCE, {N}, [numpy.zeros_like(a), a, a * 2, numpy.int32({N})],
    dict(block_size_x=[32 * i for i in range(1, 33)], unused=list(range(2000))), seed=3)
print("found", len(results) > 0)
"""
        done = self.run_script(script, "--strategy", "random", "--max-seconds=1")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, "found True"),
                         done.stderr)
        self.assertIn("out of time", done.stderr)
        for options, said in {("--strategy", "magic"): "strategy: 'magic' is unknown; allowed: ",
                              ("--max-seconds", "soon"): "allowed: a positive number of seconds",
                              ("--speed", "1"): "unknown option --speed; allowed: "}.items():
            done = self.run_script(script, *options)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    def test_pinned_arrays_of_pycuda_are_arrays(self):
        done = self.run_script(f"""
import pycuda.driver as drv, kernel_tuner, numpy
drv.init()
context = drv.Device(0).make_context()
a = drv.pagelocked_empty({N}, numpy.float32, mem_flags=drv.host_alloc_flags.PORTABLE)
a[:] = 1
left = kernel_tuner.run_kernel("vector_add", '''{ADD}''', {N},
                               [numpy.zeros_like(a), a, a, numpy.int32({N})], dict(block_size_x=64))
context.pop()
print(left[0].min())
drv.mem_alloc(3)
""")
        self.assertEqual((done.returncode, done.stdout), (2, "2.0\n"), done.stderr)
        self.assertIn("pycuda.driver.mem_alloc: PyCUDA is not installed", done.stderr)

    def test_help_goes_to_standard_output(self):
        for options in (["--help"], ["run", "--help"], ["run", "-h"]):
            done = subprocess.run([sys.executable, "-m", "evo_tune", *options],
                                  capture_output=True, text=True, check=False,
                                  env={**os.environ, "PYTHONPATH": SOURCE})
            self.assertEqual((done.returncode, done.stderr), (0, ""), options)
            self.assertTrue(done.stdout.startswith("usage: python -m evo_tune run"), options)

    def test_one_line_says_what_is_not_carried(self):
        done = self.run_script("from kernel_tuner.hyper import tune_hyper_params\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn("kernel_tuner.hyper is not supported by evo-tune", done.stderr)
        self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
