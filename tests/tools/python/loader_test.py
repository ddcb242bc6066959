"""Tests bundles in the installed package evo_tune with a fake CUDA driver."""

import ctypes
import os
import threading

from bundles import (CONTEXT, ROOT, Array, BundleTest, evo_tune, fake, launches, log, made, main)
from evo_tune.plan import planned, value_of

SCALE = Array(0x500, (1,), "<f4")


class Loader(BundleTest):
    def test_chooses_as_the_loader_in_cpp(self):
        bundle = self.load()
        self.assertEqual(bundle.choose(B=2, S=64, F=0).why,
                         "tuned for this shape: s64, on Fake 90")
        self.assertIn("nearest shape", bundle.choose(B=2, S=1024, F=0).why)
        self.assertIn("not large: 'S % TILE == 0' does not hold: whole tiles",
                      bundle.choose(B=2, S=2080, F=0).why)
        self.assertIn("the default configuration", bundle.choose(B=2, S=33, F=0).why)
        newer = evo_tune.Device("Fake 100", 100, 4, 9999)
        self.assertTrue(bundle.choose(newer, B=2, S=4096, F=0).from_ptx)
        little = evo_tune.Device("Fake 90", 90, 4, 200)
        self.assertIn("not small: dynamic shared bytes = 2 * TILE + S: 128; allowed: a whole "
                      "number from 0 to 100", bundle.choose(little, B=2, S=64, F=0).why)
        older = evo_tune.Device("Fake 80", 80, 4, 9999)
        self.assert_error("no kernel for B=2 S=64 F=0 on Fake 80 (sm_80)",
                          lambda: bundle.choose(older, B=2, S=64, F=0))

    def test_launches_with_what_follows_from_the_shapes(self):
        bundle = self.load()
        self.assertEqual((bundle.inputs, bundle.outputs), (["x", "scale"], ["y", "s"]))
        self.assertEqual(bundle.defaults, {"F": 0})  # the shapes of the inputs do not contain F
        y = Array(0x2000, (3, 64), "<f4")
        result = bundle(Array(0x1000, (3, 64)), SCALE, y=y, s=None, stream=7)
        self.assertIs(result[0], y)
        lines = [line for line in log() if not line.startswith("mode")]
        self.assertEqual(lines[:5], ["load cubin sm", "function copy", "attribute 8=128",
                                     "allocate 8", "fill 0 x 8 on 0x99"])
        self.assertTrue(lines[-1].startswith(
            "launch copy 2,4,1 32,1,1 128 on 0x7: 4096 1280 8192 0 64"))
        bundle(0x1000, 0x500, y=0x2000, s=0, stream=7, B=3, S=64)
        self.assertEqual(len(log()), 1)
        # The limit of dynamic shared memory stays unchanged for a shape that needs less.
        bundle(0x1000, 0x500, y=0x2000, s=0, stream=7, B=3, S=32)
        self.assertIn("attribute 8=128", log())

    def test_gives_the_driver_the_launch_attributes(self):
        step = self.index["kernels"][0]["plan"]["steps"][0]
        self.assertEqual(step["attributes"], [])
        step["attributes"] = ["cooperative", "programmatic_stream_serialization"]
        bundle = self.load()
        for _ in range(2):
            bundle(Array(0x1000, (3, 64)), SCALE, y=Array(0x2000, (3, 64), "<f4"), s=None, stream=7)
            lines = log()
            self.assertEqual(lines[-3:-1], ["with 2=1", "with 6=1"])
            self.assertTrue(lines[-1].startswith(
                "launch copy 2,4,1 32,1,1 128 on 0x7: 4096 1280 8192 0 64"), lines[-1])

    def test_encodes_tensor_maps_for_the_buffers_of_a_call(self):
        its = self.index["kernels"][0]
        its["arguments"].append({
            "name": "y_map", "direction": "tensor_map", "of": "y",
            "dims": [{"expression": "S"}, {"expression": "B"}],
            "box": [{"expression": "32"}, {"expression": "TILE"}],
            "swizzle": {"expression": "128"}, "l2_promotion": {"expression": "0"}})
        its["steps"] = [{"entry": "copy", "runs": True, "launch": its["launch"],
                         "arguments": ["x", "scale", "y_map", "n", "w"]}]
        its["plan"] = {**made([its])[0][0], "chosen_for": its["plan"]["chosen_for"]}
        bundle = self.load()
        self.assertEqual((bundle.inputs, bundle.outputs), (["x", "scale"], ["y", "s"]))
        for y in (0x2000, 0x4000):
            for _ in range(2):
                bundle(Array(0x1000, (3, 64)), SCALE, y=Array(y, (3, 64), "<f4"), s=None, stream=7)
                encoded, launched = log()[-2:]
                self.assertEqual(encoded, "encode type 7 64::32:1 3:256:32:1 interleave 0 "
                                          "swizzle 3 promotion 0 fill 0")
                self.assertTrue(launched.startswith(
                    f"launch copy 2,4,1 32,1,1 128 on 0x7: 4096 1280 {y} 64 "), launched)
        its["plan"]["arguments"][-1]["dims"][1]["tree"] = 4
        self.assertIn("not small: tensor map 'y_map' reaches byte 1024 of 'y', which has 768",
                      self.load().choose(B=3, S=64, F=0).why)

    def test_infers_shape_variables(self):
        bundle = self.load()

        def infer(x, **more):
            return bundle(Array(0x1000, x), SCALE, y=0x2000, **more)
        infer((5, 64), s=0)
        infer((320,), s=0, B=5)  # the other sizes determine S
        infer((5, 64), s=Array(0x900, (5,), "<f4"))  # the sizes determine F as well
        self.assertEqual(len(launches()), 3)
        self.assert_error("expected y to have size 64 at dimension 1 (S, as x has), but got 32",
                          lambda: bundle(Array(0x1000, (5, 64)), SCALE,
                                         y=Array(0x2000, (5, 32), "<f4"), s=0))
        self.assert_error("expected x to have size 32 at dimension 1 (S, as given), but got 64",
                          lambda: infer((5, 64), s=0, S=32))
        self.assert_error("cannot infer B, S from the shapes of the tensors: pass them by "
                          "keyword, such as B=1", lambda: bundle(0x1000, 0x500, y=0x2000, s=0))
        # Without the key "row" of an output, the order of its dimensions is unknown.
        for its in self.index["kernels"]:
            uses, its["plan"] = its["plan"]["chosen_for"], None
            del its["arguments"][2]["row"]
            its["plan"] = {**made([its])[0][0], "chosen_for": uses}
        plain = self.load()
        self.assert_error("cannot infer B, S", lambda: plain(Array(0x1000, (2, 64)), SCALE, y=1, s=0))

    def test_says_what_is_wrong_with_arguments(self):
        bundle = self.load()
        x, y = Array(0x1000, (2, 64)), Array(0x2000, (2, 64), "<f4")

        def says(message, *arguments, **more):
            self.assert_error(message, lambda: bundle(*arguments, **{"y": y, "s": 0, **more}))
        says("copy takes 2 inputs (x, scale), got 3; outputs are given by keyword", x, SCALE, y)
        says("copy is missing scale; it takes x, scale", x)
        says("copy got an unexpected keyword argument 'T'; allowed: x, scale, y, s, B, S, F, "
             "stream", x, SCALE, T=1)
        says("copy got multiple values for argument 'x'", x, SCALE, x=x)
        says("expected x to have dtype float8_e4m3fn, but got float16",
             Array(0x1000, (2, 64), "<f2"), SCALE)
        says("expected y to have dtype float32, but got int32", x, SCALE,
             y=Array(0x2000, (2, 64), "<i4"))
        says("expected x to be contiguous", Array(0x1000, (2, 64), strides=(128, 1)), SCALE)
        says("expected scale to have 1 elements, but got 2, of shape (2,)", x,
             Array(0x500, (2,), "<f4"))
        says("expected y to have 128 elements, but got a null pointer", x, SCALE, y=None)
        self.assert_error("expected s to be given: outputs are only allocated where inputs are "
                          "tensors of PyTorch", lambda: bundle(x, SCALE, y=y))
        says("argument 'x': expected an address, a PyTorch tensor or an object with "
             "__cuda_array_interface__ or __dlpack__, but got str", "x", SCALE)
        says("Expected all tensors to be on the same device, but found at least two devices, "
             "cuda:0 and cuda:1!", x, Array(0x1000000, (1,), "<f4"))
        says("S is nan", 1, 2, B=2, S=float("nan"), y=1)
        read_only = Array(0x2000, (2, 64), "<f4")
        read_only.__cuda_array_interface__["data"] = (0x2000, True)
        says("expected y to be writable: it is an output", x, SCALE, y=read_only)
        fake.fake_context(None)
        self.assert_error("no CUDA context is current", lambda: bundle(0x1000, 0x500, y=0x2000, s=0, B=2, S=64))

    def test_says_what_is_wrong_with_files(self):
        self.assert_error("/nowhere/bundle.json", lambda: evo_tune.load("/nowhere"))
        bundle = self.load()
        os.remove(os.path.join(self.folder.name, "small.cubin"))
        self.assert_error("small.cubin: No such file", lambda: bundle(0x1000, 0x500, y=0x2000, s=0, B=2, S=64))
        self.index["format"] = "evo-tune bundle 1"
        self.assert_error('format: allowed: "evo-tune bundle 3": export the bundle again',
                          self.load)
        self.assert_error("nolib.so", lambda: evo_tune.bundle.Driver("/nolib.so"))

    def test_the_context_is_that_of_the_arrays_device(self):
        bundle = self.load()
        x, scale, y = (Array(0x1000000, (2, 64)), Array(0x1000100, (1,), "<f4"),
                       Array(0x1000200, (2, 64), "<f4"))
        bundle(x, scale, y=y, s=0)
        self.assertIn("retain 1", log())
        current = ctypes.c_void_p()
        fake.cuCtxGetCurrent(ctypes.byref(current))
        self.assertEqual(current.value, ctypes.addressof(CONTEXT))
        # A thread without a current CUDA context gets one for the duration of the call.
        fake.fake_context(None)
        bundle(Array(0x1000, (2, 64)), SCALE, y=0x2000, s=0)
        lines = log()
        self.assertIn("retain 0", lines)
        self.assertIn("load cubin sm", lines)  # each context loads the code for itself

    def test_waits_for_the_stream_of_an_interface(self):
        bundle = self.load()
        y = Array(0x2000, (2, 64), "<f4")
        bundle(Array(0x1000, (2, 64), stream=9), SCALE, y=y, s=0, stream=7)
        lines = log()
        self.assertIn("record on 0x9", lines)
        self.assertIn("wait on 0x7", lines)
        bundle(Array(0x1000, (2, 64), stream=7), SCALE, y=y, s=0, stream=7)
        bundle(Array(0x1000, (2, 64), stream=1), SCALE, y=y, s=0)
        self.assertNotIn("record", " ".join(log()))

    def test_streams_are_what_libraries_call_so(self):
        bundle = self.load()

        class Protocol:
            def __cuda_stream__(self):
                return 0, 0x21

        class Handle:
            ptr = 0x22
        for stream, text in ((Protocol(), "on 0x21:"), (Handle(), "on 0x22:"), (5, "on 0x5:")):
            bundle(0x1000, 0x500, y=0x2000, s=0, B=2, S=64, stream=stream)
            self.assertIn(text, launches()[-1])
        self.assert_error("expected a stream, but got str",
                          lambda: bundle(0x1000, 0x500, y=0x2000, s=0, B=2, S=64, stream="x"))

    def test_a_capture_has_workspaces_of_its_own(self):
        bundle = self.load()

        def workspaces():
            bundle(0x1000, 0x500, y=0x2000, s=0, B=2, S=64, stream=0x100)
            lines = log()
            return sum(line.startswith("allocate") for line in lines), lines
        self.assertEqual(workspaces()[0], 1)
        self.assertEqual(workspaces()[0], 0)
        fake.fake_capture(1)
        count, lines = workspaces()
        self.assertEqual(count, 1)
        self.assertLess(lines.index("mode 2"), lines.index("allocate 8"))  # 2: relaxed capture
        self.assertIn("synchronize 0x99", lines)
        self.assertLess(lines.index("synchronize 0x99"), lines.index("mode 0"))
        self.assertEqual(workspaces()[0], 0)
        fake.fake_capture(2)
        self.assertEqual(workspaces()[0], 1)
        fake.fake_capture(0)
        self.assertEqual(workspaces()[0], 0)

    def test_threads_share_it(self):
        bundle = self.load()

        def work(number):
            fake.fake_context(ctypes.addressof(CONTEXT))
            for i in range(50):
                bundle(0x1000, 0x500, y=0x2000, s=0, stream=number + 3, B=2, S=32 * (1 + i % 5))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lines = log()
        self.assertEqual(sum(line.startswith("launch") for line in lines), 150)
        self.assertEqual(sum(line.startswith("allocate") for line in lines), 15)
        self.assertEqual(sum(line.startswith("load") for line in lines), 1)

    def test_a_buffer_named_like_a_parameter_has_another_name(self):
        for its in self.index["kernels"]:
            its["plan"]["arguments"][2]["name"] = "stream"
            its["plan"]["steps"][0]["arguments"][2] = "stream"
        bundle = self.load()
        bundle(0x1000, 0x500, stream_=0x2000, s=0, B=2, S=64, stream=7)
        self.assertIn("on 0x7: 4096 1280 8192 0 64", launches()[-1])


class Expressions(BundleTest):
    def test_mean_what_they_mean_elsewhere(self):
        with open(os.path.join(ROOT, "tests/engine/core/python_expressions.tsv")) as file:
            table = [line.rstrip("\n").split("\t") for line in file]
        table += [("round(-2.5)", -3), ("-7 // 2", -4), ("A ? 1 / C : 2", "none"),
                  ("C ? 1 / C : 2", 2), ("7 && 2", 1), ("7 and 2", 2), ("!A == 0", 1),
                  ("2 ^ -1", 0.5), ("align_up(33, 32)", 64), ("is_pow2(64)", 1),
                  ("is_pow2(63)", 0), ("abs(B)", 3), ("sqrt(-1)", "none"), ("min(3, 1, 2)", 1),
                  ("10 ** 400", "none"), ("B % A", 2), ("A in [1, 5]", 1)]
        count = 0
        for (text, expected), tree in zip(table, made(expressions=[t for t, _ in table])[1]):
            if tree is None:
                continue  # the engine allows lists only after `in`
            try:
                value = value_of(tree, {"A": 5, "B": -3, "C": 0})
            except evo_tune.Error:
                value = None
            self.assertEqual(value, None if expected == "none" else float(expected), text)
            count += 1
        self.assertGreater(count, 1200)

    def test_scalars_are_the_bytes_of_cpp(self):
        def field(dtype, value):
            return {"name": dtype, "dtype": dtype, "value": {"expression": value}}
        manifest = dict(self.index["kernels"][0], arguments=[
            {"name": "p", "direction": "scalar", "fields": [
                field("bf16", "1.00390625 + 1 / 1024"), field("f16", "0 - 2"), field("f64", "0.5"),
                field("i32", "0 - 1")]}])
        device = evo_tune.Device("Fake", 90, 4, 9999)
        plan = made([manifest])[0][0]
        (argument,), _ = planned(plan, {"B": 1, "S": 64, "F": 0}, device, [], {})
        self.assertEqual(argument.value.hex(), "813f" "00c0" "00000000" "000000000000e03f"
                         "ffffffff" "00000000")


if __name__ == "__main__":
    main()
