"""Tests the parts of tools/bench/compare_pytorch.py that need neither PyTorch nor a GPU.

    contenders_test.py PROJECT    # the folder of the project
"""

import sys
import types
import unittest
from unittest import mock

sys.path[:0] = [sys.argv.pop(1) + "/tools/bench"]
import fp8_libraries  # noqa: E402
import interleaved  # noqa: E402


class Made(interleaved.Contender):
    """A made-up contender. A sample takes `time_us` per launch and adds `name` to `order`."""

    def __init__(self, name, time_us, launches, order):
        super().__init__(name, "fp8", [], "made")
        self.graph, self.launches, self.time_us, self.order = object(), launches, time_us, order

    def sample(self, torch):
        self.order.append(self.name)
        return self.time_us


class Interleaved(unittest.TestCase):
    def measured(self, *contenders, samples=12):
        interleaved.measure(None, contenders, 2, samples)

    def test_every_second_turn_is_in_reverse_order(self):
        order = []
        self.measured(Made("a", 10, 4, order), Made("b", 20, 4, order), samples=2)
        # Each contender is sampled once, then in two warm-up turns, then in two measured turns.
        self.assertEqual("".join(order), "ab" + "abba" + "abba")

    def test_contenders_with_long_samples_skip_turns_in_both_orders(self):
        slow = Made("slow", 2 * interleaved.LONG_SAMPLE_US, 2, [])
        self.measured(Made("a", 10, 4, []), slow, samples=100)
        self.assertGreaterEqual(len(slow.samples), interleaved.LEAST_SAMPLES)
        self.assertLess(len(slow.samples), 40)
        self.assertEqual({turn % 2 for turn in slow.samples}, {0, 1})

    def test_ratios_are_those_of_the_same_turns(self):
        ours, other = Made("ours", 0, 1, []), Made("other", 0, 1, [])
        ours.samples = {0: 10.0, 1: 20.0, 2: 30.0}
        other.samples = {0: 20.0, 2: 60.0}
        row = interleaved.row_of(other, ours)
        self.assertEqual((row["ratio"], row["samples"], row["library"]), (2.0, 2, "made"))

    def test_what_has_no_graph_says_why(self):
        other = interleaved.Contender("other", "fp8", [], "made")
        other.why_not = "no kernel"
        self.assertEqual(interleaved.row_of(other, None)["not_available"], "no kernel")


class Libraries(unittest.TestCase):
    def test_a_missing_package_is_named_in_one_line(self):
        told = []
        with mock.patch.object(fp8_libraries.importlib, "import_module",
                               side_effect=ModuleNotFoundError("No module named 'x'")):
            self.assertEqual(fp8_libraries.installed(None, told.append), [])
        self.assertEqual(len(told), 2)
        self.assertIn("nvidia-cudnn-frontend", told[0])
        self.assertIn("flash-attn-3", told[1])
        self.assertNotIn("\n", "".join(told))

    def test_shapes_without_a_kernel_are_refused_with_a_reason(self):
        library = fp8_libraries.FlashAttention3Fp8(None, None)
        sizes = {"LQ": 16, "LKV": 32, "H": 4, "HKV": 2, "CAUSAL": 1, "PER_HEAD": 0}
        for changes, reason in (({}, "causal mask"),
                                ({"CAUSAL": 0, "PER_HEAD": 1}, "descale factor")):
            data = types.SimpleNamespace(sizes=sizes | changes)
            with self.assertRaisesRegex(fp8_libraries.Unsupported, reason):
                library.attention_of([data])

    def test_strides_are_those_of_a_dense_tensor(self):
        self.assertEqual(fp8_libraries.strides_of((2, 8, 5, 64)), (2560, 320, 64, 1))


if __name__ == "__main__":
    unittest.main()
