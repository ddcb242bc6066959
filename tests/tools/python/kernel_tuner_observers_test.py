"""Tests observers in tune_kernel(), and kernel arguments that depend on parameters.

Usage: kernel_tuner_observers_test.py PROGRAMS SOURCE

PROGRAMS: the folder of the evo-tune programs. SOURCE: the folder that contains the
package evo_tune. The kernels run on the virtual GPU.
"""

import sys
import tempfile
import unittest
from pathlib import Path

from kernel_tuner_test import ADD, N, data, tuned

import numpy
from evo_tune.kernel_tuner import NotSupported, accuracy, choices, observers, run_kernel

ADD_ANY = """
#include <cuda_fp16.h>
using half = __half;
template <typename T>
__global__ void vector_add(T *c, const T *a, const T *b, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""


class Observers(unittest.TestCase):
    def test_observers_have_the_figures_that_evo_tune_has(self):
        dram = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
        alu = "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active"
        results, environment = tuned(
            params={"block_size_x": [64, 128]},
            observers=[observers.RegisterObserver(), observers.NVMLObserver(["nvml_energy", "core_freq"]),
                       observers.NCUObserver([alu, dram, "dram__bytes.sum"])],
            metrics={"per_watt": lambda p: 1 / p["nvml_energy"]})
        self.assertEqual(len(results), 2)
        for one in results:
            self.assertGreater(one["num_regs"], 0)
            self.assertTrue(0 < one[alu] < 100, one)
            self.assertEqual(one[dram], 0)  # the data fit into the L2 cache
            for name in ("nvml_energy", "core_freq", "per_watt", "dram__bytes.sum"):
                self.assertTrue(numpy.isnan(one[name]), name)
        self.assertIn("NVMLObserver: nvml_energy, core_freq: nan, because the driver does not report",
                      environment["said"])
        self.assertIn("NCUObserver: metrics are nan: the profile gate is skipped: the time model "
                      "does not predict the metric dram__bytes.sum", environment["said"])

    def test_energy_is_power_by_time(self):
        result, entry = {"time": 2.0}, {"evo_tune": {"gpu": {"power_w": 300, "temperature_c": 51}}}
        nvml = observers.NVMLObserver(["nvml_energy", "nvml_power", "temperature"])
        nvml.observe(observers.Judged(None, None, [(result, entry)]))
        self.assertEqual(result, {"time": 2.0, "nvml_energy": 0.6, "nvml_power": 300,
                                  "temperature": 51})

    def test_observers_of_other_meters_have_the_figures_of_the_gpu(self):
        gpu = {"power_w": 300, "sm_clock_mhz": 1700}
        result = {"time": 2.0}
        judged = observers.Judged(None, None, [(result, {"evo_tune": {"gpu": gpu}})])
        observers.TegraObserver(["core_freq", "tegra_energy"]).observe(judged)
        observers.PMTObserver([("nvidia", 0), "rapl"]).observe(judged)
        self.assertEqual(result.pop("core_freq"), 1.7e9)
        self.assertTrue(numpy.isnan(result.pop("rapl_power")))
        self.assertTrue(numpy.isnan(result.pop("rapl_energy")))
        self.assertEqual(result, {"time": 2.0, "tegra_energy": 0.6, "nvidia_energy": 0.6,
                                  "nvidia_power": 300})
        with self.assertRaisesRegex(NotSupported, "PMTObserver: sun_energy, sun_power is not"):
            observers.PMTObserver("sun")


class Choices(unittest.TestCase):
    def test_the_type_of_the_arguments_may_be_a_parameter(self):
        c, a, b, n = data()
        arguments = [choices.TunablePrecision("real", one) for one in (c, a, b)] + [n]
        results, environment = tuned(
            ADD_ANY, name="vector_add<real>", arguments=arguments,
            params={"block_size_x": [64, 128], "real": ["half", "float", "double"]},
            answer=[a.astype("f8") + b, None, None, None],
            observers=[accuracy.AccuracyObserver("RMSE", "rmse"),
                       accuracy.AccuracyObserver("max absolute error", "most")])
        self.assertEqual(len(results), 6, environment["failed"])
        for one in results:
            least, most = {"half": (1e-5, 1e-2), "float": (1e-9, 1e-6), "double": (0, 0)}[one["real"]]
            self.assertTrue(least <= one["rmse"] <= most, one)
            self.assertGreaterEqual(one["most"], one["rmse"])
        self.assertIn(environment["best_config"], results)

    def test_one_of_several_arrays_is_chosen(self):
        c, a, b, n = data()
        chosen = choices.Tunable("which", {1: a, 2: b})
        answer = choices.Tunable(lambda p: p["which"], {1: [a + b, None, None, None],
                                                        2: [b + b, None, None, None]})
        results, _ = tuned(arguments=[c, chosen, b, n], answer=answer,
                           params={"block_size_x": [64, 128], "which": [1, 2]},
                           restrictions="block_size_x > which")
        self.assertEqual(len(results), 4)
        left = run_kernel("vector_add", ADD, N, [c, chosen, b, n], {"block_size_x": 64, "which": 2})
        numpy.testing.assert_array_equal(left[0], b + b)
        with self.assertRaisesRegex(NotSupported, r"Tunable\('which'\): has no array for 3; allowed: 1"):
            tuned(arguments=[c, chosen, b, n], params={"block_size_x": [64], "which": [3]})

    def test_errors_by_name(self):
        right, given = numpy.array([1.0, 2.0, 4.0]), numpy.array([1.0, 2.5, 3.0])

        class Launching:
            @staticmethod
            def launch(*_):
                return [0, given]

        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder = scratch.name
        Path(folder, "search_spaces").mkdir()
        Path(folder, "search_spaces", "tuned.json").write_text('{"parameters": []}')
        for name, error in (("MAE", 0.5), ("mean absolute error", 0.5), ("maximum", 1),
                            ("max_rel", 0.25), ("MRE", 0.5 / 3), ("mean squared error", 1.25 / 3),
                            ("NRMSE", (1.25 / 21)**0.5), ("RMSRE", (0.125 / 3)**0.5),
                            (lambda *_: 7, 7)):
            result = {}
            judged = observers.Judged(Path(folder), None, [(result, {})], Launching, [None, right])
            accuracy.AccuracyObserver(name).observe(judged)
            judged.finish()
            self.assertAlmostEqual(result["error"], error, msg=name)
        with self.assertRaisesRegex(NotSupported, "unknown metric 'best'; allowed: mse, rmse"):
            accuracy.AccuracyObserver("best")
        with self.assertRaisesRegex(TypeError, "AccuracyObserver: needs an answer"):
            tuned(observers=[accuracy.AccuracyObserver()])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
