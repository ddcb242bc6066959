"""Tests tune_kernel() and run_kernel() on the virtual GPU: kernel_tuner_test.py PROGRAMS SOURCE.

PROGRAMS: the folder of the evo-tune programs. SOURCE: the folder that contains the
package evo_tune.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
import warnings
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
from evo_tune.kernel_tuner import (NotSupported, files, observers, run_kernel,  # noqa: E402
                                   tune_kernel)

ADD = """
__global__ void vector_add(float *c, float *a, float *b, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i < n) { c[i] = a[i] + b[i]; }
}
"""
N = 5000
BLOCKS = {"block_size_x": [32, 64, 128, 256]}
DRAWN = numpy.random.default_rng(7)


def data():
    a = DRAWN.standard_normal(N).astype(numpy.float32)
    b = DRAWN.standard_normal(N).astype(numpy.float32)
    return [numpy.zeros_like(a), a, b, numpy.int32(N)]


def tuned(source=ADD, params=None, name="vector_add", arguments=None, size=N, **options):
    """The results and environment of tune_kernel(), and in environment["said"] its printed text."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        results, environment = tune_kernel(name, source, size, arguments or data(),
                                           params or BLOCKS, **options)
    environment["said"] = said.getvalue()
    return results, environment


def blocks(results):
    return sorted(one["block_size_x"] for one in results)


class TuneKernel(unittest.TestCase):
    def test_all_configurations_have_a_time_and_the_best_is_the_fastest(self):
        results, environment = tuned()
        self.assertEqual(blocks(results), BLOCKS["block_size_x"])
        self.assertEqual(environment["best_config"], min(results, key=lambda one: one["time"]))
        self.assertIn("block_size_x=32 is the reference", environment["said"])
        self.assertIn("PREDICTED", environment["said"])
        self.assertEqual(environment["evo_tune"]["time_kind"], "predicted")

    def test_an_answer_finds_what_is_wrong_in_all_configurations(self):
        arguments = data()
        answer = [arguments[1] + arguments[2], None, None, None]
        self.assertEqual(len(tuned(arguments=arguments, answer=answer)[0]), 4)
        results, environment = tuned(ADD.replace("a[i] + b[i]", "a[i] - b[i]"),
                                     arguments=arguments, answer=answer)
        self.assertEqual(results, [])
        self.assertEqual(len(environment["failed"]), 4)
        self.assertIn("no configuration is correct", environment["said"])

    def test_an_element_of_one_configuration_that_is_wrong_is_found(self):
        arguments = data()
        source = ADD.replace("c[i] = a[i] + b[i];",
                             "c[i] = a[i] + b[i] + (block_size_x == 64 && i == 4321);")
        results, environment = tuned(source, arguments=arguments,
                                     answer=[arguments[1] + arguments[2], None, None, None])
        self.assertEqual(blocks(results), [32, 128, 256])
        self.assertEqual(environment["failed"][0]["block_size_x"], 64)
        self.assertEqual(blocks(tuned(source)[0]), [32, 128, 256])  # the default is the reference

    def test_restrictions_of_each_kind(self):
        for restriction in ("block_size_x > 64", ["block_size_x > 64"],
                            lambda block_size_x: block_size_x > 64,
                            [lambda p: p["block_size_x"] > 64],
                            [(lambda x: x > 64, ["block_size_x"])],
                            ["str(block_size_x) in ('128', '256')"]):
            results, _ = tuned(restrictions=restriction)
            self.assertEqual(blocks(results), [128, 256], restriction)

    def test_sources_by_configuration_and_by_file(self):
        arguments = data()
        answer = [arguments[1] + arguments[2], None, None, None]

        def generate(params):
            wrong = " + 1" if params["block_size_x"] == 128 else ""
            return ADD.replace("block_size_x", str(params["block_size_x"])).replace(
                "b[i];", "b[i]" + wrong + ";")

        self.assertEqual(blocks(tuned(generate, arguments=arguments, answer=answer)[0]),
                         [32, 64, 256])
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "plus.h").write_text("#define PLUS +\n")
            path = Path(folder, "add.cu")
            path.write_text('#include "plus.h"\n' + ADD.replace("+ b", "PLUS b"))
            self.assertEqual(len(tuned(str(path), arguments=arguments, answer=answer)[0]), 4)

    def test_types_as_parameters_and_templates(self):
        source = ADD.replace("__global__", "template <typename T> __global__").replace(
            "float", "T").replace("c[i] = a[i] + b[i]", "real s = a[i]; c[i] = s + b[i]")
        results, _ = tuned(source, {**BLOCKS, "real": ["float", "double"]},
                           "vector_add<float>")
        self.assertEqual(len(results), 8)
        self.assertEqual({one["real"] for one in results}, {"float", "double"})

    def test_verify_decides(self):
        arguments = data()
        seen = []

        def verify(answer, result, atol=None):
            seen.append(atol)
            self.assertIsNone(result[1])
            return numpy.allclose(answer[0], result[0], atol=atol)

        options = {"arguments": arguments, "verify": verify, "atol": 1e-5,
                   "answer": [arguments[1] + arguments[2], None, None, None]}
        self.assertEqual(len(tuned(**options)[0]), 4)
        self.assertEqual(set(seen), {1e-5})
        # verify() is called four times: with zeros, with noise, with the right output and with a
        # changed output. All configurations give the same output, which is judged once.
        self.assertEqual(len(seen), 4)
        self.assertEqual(tuned(ADD.replace("+ b", "- b"), **options)[0], [])

    def test_verify_does_not_warn_about_noise(self):
        arguments = data()
        total = numpy.sum(arguments[1] + arguments[2])

        def verify(answer, result, atol=None):
            return numpy.isclose(answer[0], numpy.sum(result[0]), rtol=1e-3)

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found, _ = tuned(arguments=arguments, answer=[total, None, None, None], verify=verify)
        self.assertEqual(len(found), 4)

    def test_a_verify_that_throws_or_accepts_all_is_an_error(self):
        arguments = data()
        answer = [arguments[1] + arguments[2], None, None, None]
        with self.assertRaisesRegex(evo_tune.Error, "accepts outputs that hold zeros only"):
            tuned(arguments=arguments, answer=answer, verify=lambda a, r, atol: True)
        with self.assertRaisesRegex(evo_tune.Error, "KeyError"):
            tuned(arguments=arguments, answer=answer, verify=lambda a, r, atol: {}["x"])

    def test_metrics_objectives_and_defines(self):
        results, environment = tuned(
            ADD.replace("block_size_x", "BLOCK"), defines={"BLOCK": "block_size_x"},
            metrics={"rate": lambda p: N / p["time"], "double": "rate * 2"}, objective="rate",
            objective_higher_is_better=True)
        self.assertEqual(environment["best_config"], max(results, key=lambda one: one["rate"]))
        self.assertAlmostEqual(results[0]["double"], 2 * results[0]["rate"])
        with self.assertRaisesRegex(NotSupported, "objective_higher_is_better"):
            tuned(objective="something")

    def test_constants_and_dynamic_shared_memory(self):
        source = """
        __constant__ float factors[2];
        __global__ void scale(float *c, float *a, float *b, int n) {
            extern __shared__ float tile[];
            int i = blockIdx.x * block_size_x + threadIdx.x;
            tile[threadIdx.x] = i < n ? a[i] : 0;
            __syncthreads();
            if (i < n) c[i] = factors[i % 2] * tile[threadIdx.x] + b[i];
        }"""
        arguments = data()
        factors = numpy.float32([2, 3])
        expected = arguments[1] * numpy.tile(factors, N // 2) + arguments[2]
        for size in ("4*block_size_x", lambda p: 4 * p["block_size_x"]):
            results, _ = tuned(source, name="scale", arguments=arguments,
                               answer=[expected, None, None, None],
                               cmem_args={"factors": factors}, smem_args={"size": size})
            self.assertEqual(len(results), 4)

    def test_strategies_by_name(self):
        results, environment = tuned(params={"block_size_x": list(range(32, 1025, 32))},
                                     strategy="genetic_algorithm",
                                     strategy_options={"max_fevals": 8}, seed=3)
        self.assertIn("'genetic' replaces it", environment["said"])
        self.assertTrue(1 <= len(results) <= 9, results)
        with self.assertRaisesRegex(NotSupported, "allowed: brute_force"):
            tuned(strategy="no_such")

    def test_a_cache_is_read_and_written(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = os.path.join(folder, "known")
            first, _ = tuned(cache=cache, restrictions="block_size_x > 64")
            document = json.loads(Path(cache + ".json").read_text())
            self.assertEqual(sorted(document["cache"]), ["128", "256"])
            document["cache"]["128"]["time"] = 77.0
            Path(cache + ".json").write_text(json.dumps(document))
            results, _ = tuned(cache=cache)
            self.assertEqual(blocks(results), BLOCKS["block_size_x"])
            self.assertEqual([one["time"] for one in results if one["block_size_x"] == 128], [77.0])
            simulated, _ = tuned(cache=cache, simulation_mode=True)
            self.assertEqual(blocks(simulated), BLOCKS["block_size_x"])
            with self.assertRaisesRegex(NotSupported, "lacks 1 conf"):
                tuned(cache=cache, params={"block_size_x": [32, 64, 96]}, simulation_mode=True)
            self.assertEqual(len(first), 2)

    def test_a_cache_of_another_device_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = os.path.join(folder, "known.json")
            document = {"device_name": "NVIDIA L4", "kernel_name": "vector_add",
                        "tune_params_keys": ["block_size_x"], "tune_params": BLOCKS,
                        "cache": {"64": {"block_size_x": 64, "time": 0.01}}}
            for device, message in (("NVIDIA L4", "times of 'NVIDIA L4', and the device is 'virt"),
                                    ("virtual NVIDIA T4", "and the device is 'virtual NVIDIA L4'")):
                document["device_name"] = device
                Path(cache).write_text(json.dumps(document))
                with self.assertRaisesRegex(NotSupported, message):
                    tuned(cache=cache)
            simulated, environment = tuned(cache=cache, params={"block_size_x": [64]},
                                           simulation_mode=True)
            self.assertEqual(blocks(simulated), [64])
            self.assertEqual(environment["device_name"], "virtual NVIDIA T4")

    def test_an_answer_of_one_value_is_taken_and_named(self):
        zero = numpy.zeros(N, numpy.float32)
        results, environment = tuned(arguments=[zero + 1, zero, zero, numpy.int32(N)],
                                     answer=[zero, None, None, None])
        self.assertEqual(len(results), 4)
        self.assertIn("answer[0] (c) has the same value everywhere", environment["said"])

    def test_arrays_on_a_gpu_are_written(self):
        class OnGpu:
            __module__ = "cupy"

            def __init__(self, array):
                self.array = array

            def get(self):
                return self.array

            def set(self, array):
                self.array = array

        c, a, b, n = data()
        given = OnGpu(c)
        run_kernel("vector_add", ADD, N, [given, a, b, n], {"block_size_x": 64})
        numpy.testing.assert_allclose(given.array, a + b)

    def test_a_header_has_the_best_configuration_of_each_device(self):
        with tempfile.TemporaryDirectory() as folder:
            stored, header = Path(folder, "stored.json"), Path(folder, "best.h")
            for device, best in (("A 1", 64), ("B", 128)):
                files.store_results(
                    stored, "add", ADD, BLOCKS, N, [{"block_size_x": its, "time": 1 + (its != best)}
                                                    for its in (64, 128)],
                    {"device_name": device}, top=100)
            files.create_device_targets(header, stored)
            self.assertIn("#if defined(TARGET_A_1)\n#define block_size_x 64\n"
                          "#elif defined(TARGET_B)\n#define block_size_x 128\n#else\n",
                          header.read_text())

    def test_stored_results_replace_those_of_the_same_device_and_size(self):
        with tempfile.TemporaryDirectory() as folder:
            stored = Path(folder, "stored.json")
            for device, times in (("A", (9, 9)), ("B", (7, 7)), ("A", (1, 1.02)), ("A", (2, 2.1))):
                files.store_results(
                    stored, "add", ADD, BLOCKS, N,
                    [{"block_size_x": 64, "time": times[0]}, {"block_size_x": 128, "time": times[1]},
                     {"block_size_x": 256, "time": "CompilationFailedConfig"}],
                    {"device_name": device})
            entries = json.loads(stored.read_text())["data"]
            self.assertEqual([(one["device_name"], one["tunable_parameters"]["block_size_x"])
                              for one in entries],
                             [("B", 64), ("B", 128), ("A", 64)])

    def test_textures_are_read_by_references_and_objects(self):
        image = DRAWN.integers(0, 256, (20, 30)).astype(numpy.uint8)
        line = DRAWN.standard_normal(30).astype(numpy.float32)
        read = """
__global__ void look(float *y, int shift{parameters}) {{
    int i = threadIdx.x, j = blockIdx.x;
    y[j * 30 + i] = {pixel}i + shift + 0.5f, j + 0.5f) + {texel}i);
}}"""
        source = ("texture<unsigned char, cudaTextureType2D, cudaReadModeNormalizedFloat> image;\n"
                  "texture<float> line;" +
                  read.format(parameters="", pixel="tex2D(image, ", texel="tex1Dfetch( line, "))
        given = {"image": {"array": image, "address_mode": "border"}, "line": line}
        y = numpy.zeros((20, 30), numpy.float32)
        expected = numpy.zeros_like(y)
        expected[:, :-3] = image[:, 3:] / 255
        left = run_kernel("look", source, (20,), [y, numpy.int32(3)], {"block_size_x": 30},
                          grid_div_x=[], texmem_args=given)
        numpy.testing.assert_allclose(left[0], expected + line, rtol=1e-5, atol=1e-6)

        source = read.format(parameters=", cudaTextureObject_t plane",
                             pixel="tex2D<float>(plane, ", texel="0 * (")
        plane = {"array": image.astype(numpy.float32), "address_mode": ["border", "clamp"],
                 "filter_mode": "linear"}
        left = run_kernel("look", source, (20,), [y, numpy.int32(3)], {"block_size_x": 30},
                          grid_div_x=[], texmem_args={"plane": plane})
        numpy.testing.assert_allclose(left[0], 255 * expected, rtol=1e-5, atol=1e-4)

    def test_textures_that_do_not_fit_are_refused_by_name(self):
        kernel = "texture<float, 2> t;\n__global__ void f(float *y) { y[0] = tex2D(t, 0, 0); }"
        plane = numpy.ones((4, 4), numpy.float32)
        for source, given, said in [
                (kernel, plane.astype(numpy.int32), "texels of type float from an array of int32"),
                (kernel, {"array": plane, "mode": 1}, "allowed: an array, or a dict"),
                (kernel, {"array": plane, "filter_mode": "cubic"}, "'cubic'; allowed: point, lin"),
                (kernel, numpy.ones((2, 4, 4), numpy.float32), "3 dimensions; allowed: 1 and 2"),
                (kernel + "\n__device__ float g() { return tex2D(t, 1, 1); }", plane,
                 "read outside of f"),
                ("__global__ void f(float *y) { y[0] = 1; }", plane, "neither a texture")]:
            with self.assertRaisesRegex(NotSupported, r"texmem_args\['t'\]: .*" + said):
                tuned(source, {"block_size_x": [1]}, "f", [plane], 1, texmem_args={"t": given})

    def test_without_an_answer_what_the_reference_hides_is_said(self):
        zero = numpy.zeros(N, numpy.float32)
        results, environment = tuned(arguments=[zero, zero, zero, numpy.int32(N)],
                                     params={"block_size_x": [32, 64]})
        self.assertEqual(len(results), 2)
        self.assertIn("'c'): the reference gives 0 for all 5000 elements", environment["said"])
        self.assertIn("kernels that compute nothing may pass; give an answer", environment["said"])
        results, environment = tuned(ADD.replace("= a[i]", "= block_size_x * a[i]"))
        self.assertEqual(len(results), 1)
        self.assertIn("3 configurations fail or give another result than the reference",
                      environment["said"])

    def test_what_is_not_carried_is_refused_by_name(self):
        for option, message in (({"lang": "OpenCL"}, "lang: 'OpenCL'"),
                                ({"texmem_args": {"t": 1}}, "texmem_args"),
                                ({"observers": [object()]}, "observers: object")):
            with self.assertRaisesRegex(NotSupported, message):
                tuned(**option)
        with self.assertRaisesRegex(NotSupported, "NVMLObserver: clocks is not supported; allowed"):
            observers.NVMLObserver(["clocks"])
        with self.assertRaisesRegex(TypeError, r"arguments\[3\]: int"):
            tuned(arguments=data()[:3] + [N])
        with self.assertRaisesRegex(evo_tune.Error, "takes 4 parameters, 3 arguments"):
            tuned(arguments=data()[:3])

    def test_a_default_that_does_not_compile_is_no_reference(self):
        source = ADD.replace("int i", "static_assert(block_size_x > 64); int i")
        results, environment = tuned(source)
        self.assertEqual(blocks(results), [128, 256])
        self.assertEqual(blocks(environment["failed"]), [32, 64])
        self.assertIn("block_size_x=128 is the reference", environment["said"])

    def test_a_default_that_fails_when_it_runs_is_no_reference(self):
        source = ADD.replace("if (i < n)", "if (block_size_x == 32 || i < n)")
        results, environment = tuned(source)
        self.assertEqual(blocks(results), [64, 128, 256])
        self.assertIn("block_size_x=32 cannot be the reference", environment["said"])

    def test_a_parameter_that_nothing_reads_is_carried(self):
        results, _ = tuned(params={**BLOCKS, "block_sise_y": [1, 2]})
        self.assertEqual(len(results), 8)


class RunKernel(unittest.TestCase):
    def test_outputs_come_back_and_inputs_stay(self):
        c, a, b, n = arguments = data()
        left = run_kernel("vector_add", ADD, N, arguments, {"block_size_x": 96})
        numpy.testing.assert_array_equal(left[0], a + b)
        numpy.testing.assert_array_equal(left[1], a)
        self.assertFalse(c.any())
        self.assertEqual(left[3], n)

    def test_a_kernel_that_fails_says_why(self):
        with self.assertRaisesRegex(evo_tune.Error, "identifier .nowhere. is undefined"):
            run_kernel("vector_add", ADD.replace("b[i];", "nowhere;"), N, data(),
                       {"block_size_x": 96})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
