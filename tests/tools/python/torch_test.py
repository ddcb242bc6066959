"""Tests the PyTorch operator of a bundle without a GPU: registration, shapes, tracing."""

import sys
import unittest.mock

from bundles import BundleTest, evo_tune, main

try:
    import torch
except ImportError:
    print("skipped: PyTorch is missing")
    sys.exit(0)
from torch._subclasses.fake_tensor import FakeTensorMode


def inputs(b=3, s=64, device="cpu", dtype=torch.float8_e4m3fn):
    return (torch.zeros(b, s, device=device).to(dtype), torch.ones(1, device=device))


class TorchOp(BundleTest):
    count = 0

    def operator(self):
        TorchOp.count += 1
        return evo_tune.torch_op(self.load(), f"evo_tune_test::copy{TorchOp.count}")

    def test_its_fake_has_the_shapes_of_its_outputs(self):
        operator = self.operator()
        with FakeTensorMode():
            y, s = operator(*inputs())
            self.assertEqual((tuple(y.shape), y.dtype), ((3, 64), torch.float32))
            self.assertEqual(tuple(s.shape), (0, 3))
            self.assertEqual(tuple(operator(*inputs(), F=1)[1].shape), (1, 3))
            self.assert_error("expected x to have dtype float8_e4m3fn, but got float16",
                              lambda: operator(*inputs(dtype=torch.float16)))

    def test_is_traced_as_one_call_with_symbolic_shapes(self):
        from torch.fx.experimental.proxy_tensor import make_fx
        operator = self.operator()
        graph = make_fx(lambda x, scale: operator(x, scale)[0] * 2,
                        tracing_mode="symbolic")(*inputs())
        calls = [node for node in graph.graph.nodes if "evo_tune_test" in str(node.target)]
        self.assertEqual(len(calls), 1)

    def test_compiles_as_a_whole(self):
        operator = self.operator()
        for dynamic in (False, True):
            torch._dynamo.reset()
            compiled = torch.compile(lambda x, scale: operator(x, scale)[0] + 1, fullgraph=True,
                                     backend="aot_eager", dynamic=dynamic)
            # PyTorch traces the operator; only the launch fails, because the tensors are on the
            # CPU.
            with self.assertRaisesRegex(RuntimeError, "expected x to be on a CUDA device, but got "
                                                      "cpu"):
                compiled(*inputs())

    def test_has_no_backward(self):
        x, scale = inputs()
        scale.requires_grad_()
        operator = self.operator()
        for call in (self.load(), operator):
            self.assert_error("copy has no backward, but scale requires a gradient",
                              lambda: call(x, scale))
        compiled = torch.compile(lambda *its: operator(*its)[0] + 1, fullgraph=True,
                                 backend="aot_eager")
        with self.assertRaisesRegex(Exception, "copy has no backward, but scale requires"):
            compiled(x, scale)
        with torch.no_grad(), self.assertRaisesRegex(RuntimeError, "expected x to be on a CUDA"):
            compiled(x, scale)

    def test_a_name_may_be_registered_again(self):
        for _ in range(2):
            operator = evo_tune.torch_op(self.load(), "evo_tune_test::again")
            with self.assertRaisesRegex(RuntimeError, "expected x to be on a CUDA device"):
                operator(*inputs())

    def test_what_it_writes_to_has_another_version(self):
        for its in self.index["kernels"]:
            its["plan"]["arguments"][0]["direction"] = "inout"
        bundle = self.load()
        with unittest.mock.patch.object(evo_tune.Bundle, "__call__", lambda *_, **__: (1, 2)):
            operator = evo_tune.torch_op(bundle, "evo_tune_test::written")
            x, scale = inputs()
            before = x._version
            with self.assertRaises(RuntimeError):  # 1 and 2 are no tensors
                operator(x, scale)
        self.assertGreater(x._version, before)
        self.assertTrue(operator._schema.arguments[0].alias_info.is_write)

    def test_says_what_devices_are_expected(self):
        x, scale = inputs()
        self.assert_error("expected x to be on a CUDA device, but got cpu",
                          lambda: self.load()(x, scale))


if __name__ == "__main__":
    main()
