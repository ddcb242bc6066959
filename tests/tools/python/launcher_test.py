"""Tests that the C++ extension of evo_tune launches kernels like the Python code. The extension
leaves new, unusual and wrong calls to the Python code."""

import contextlib
import ctypes
import os
import subprocess
import sys
import threading
import unittest

import fake_torch
from bundles import CONTEXT, DRIVER, INSTALLED, Array, BundleTest, evo_tune, fake, launches, log, main
from evo_tune import fast

SCALE = Array(0x500, (1,), "<f4")


@contextlib.contextmanager
def no_python(bundle):
    """A context in which a call of the bundle fails unless the extension alone launches it."""
    def fails(*_):
        raise AssertionError("the call used the Python code")
    before, bundle._readied = bundle._readied, fails
    try:
        yield
    finally:
        bundle._readied = before


def message(action):
    """The text of the evo_tune.Error that `action` raises, or None if it raises no error."""
    try:
        action()
    except evo_tune.Error as error:
        return str(error)
    return None


class Launcher(BundleTest):
    def both(self, **more):
        """Two bundles with the same content: one uses the extension, the other only Python code."""
        bundle = self.load(**more)
        pure = self.load(**more)
        pure._fast = None
        return bundle, pure

    def pure_call(self, pure, *inputs, **keywords):
        os.environ["EVO_TUNE_LAUNCHER"] = "python"
        try:
            return pure(*inputs, **keywords)
        finally:
            del os.environ["EVO_TUNE_LAUNCHER"]

    def test_a_shape_seen_before_is_launched_without_python_code(self):
        bundle = self.load()
        y = Array(0x2000, (3, 64), "<f4")
        for stream in (7, 0, 7):
            bundle(Array(0x1000, (3, 64)), SCALE, y=y, s=None, stream=stream)
        first = launches()
        with no_python(bundle):
            other = Array(0x4000, (3, 64), "<f4")
            self.assertIs(bundle(Array(0x3000, (3, 64)), SCALE, y=other, s=None, stream=7)[0], other)
        (line,) = log()
        self.assertEqual(line, first[0].replace("4096 1280 8192", "12288 1280 16384"))
        # The extension leaves only the first call with a new combination of argument types and
        # shapes to the Python code.
        for action in (lambda: bundle(Array(0x1000, (5, 64)), SCALE, y=0x2000, s=0),
                       lambda: bundle(Array(0x1000, (3, 64)), SCALE, y=0x2000, s=0),
                       lambda: bundle(0x1000, SCALE, y=0x2000, s=0, B=3, S=64)):
            with no_python(bundle), self.assertRaises(AssertionError):
                action()
            action()
            with no_python(bundle):
                action()

    def test_says_what_the_python_code_says(self):
        bundle, pure = self.both()
        x, y = Array(0x1000, (2, 64)), Array(0x2000, (2, 64), "<f4")
        read_only = Array(0x2000, (2, 64), "<f4")
        read_only.__cuda_array_interface__["data"] = (0x2000, True)
        masked = Array(0x1000, (2, 64), mask=x)
        right = [((x, SCALE), {"y": y, "s": 0}), ((0x1000, 0x500), {"y": 0x2000, "s": 0, "B": 2,
                                                                    "S": 64})]
        for inputs, keywords in right:
            bundle(*inputs, **keywords)
            self.pure_call(pure, *inputs, **keywords)
        wrong = [((x, SCALE, 3), {}), ((x,), {}), ((x, SCALE), {"T": 1}), ((x, SCALE), {"x": x}),
                 ((Array(0x1000, (2, 64), "<f2"), SCALE), {}), ((x, SCALE), {"y": read_only}),
                 ((Array(0x1000, (2, 64), strides=(128, 1)), SCALE), {}), ((masked, SCALE), {}),
                 ((x, Array(0x500, (2,), "<f4")), {}), ((x, SCALE), {"y": None}),
                 (("x", SCALE), {}), ((x, Array(0x1000000, (1,), "<f4")), {}),
                 ((x, SCALE), {"y": 0x1000}), ((x, SCALE), {"y": 0x2004}), ((x, SCALE), {"y": -256}),
                 ((x, SCALE), {"y": 2**64}), ((x, SCALE), {"S": 32}), ((x, SCALE), {"stream": "x"}),
                 ((Array(0, (2, 64)), SCALE), {}), ((x, SCALE), {"S": float("nan")})]
        for inputs, keywords in wrong:
            keywords = {"y": y, "s": 0, **keywords}
            said = message(lambda: bundle(*inputs, **keywords))
            self.assertIsNotNone(said, (inputs, keywords))
            self.assertEqual(said, message(lambda: self.pure_call(pure, *inputs, **keywords)))
        self.assertEqual(len(launches()), 4)
        fake.fake_fail(b"launch", 1)
        for inputs, keywords in right:
            with no_python(bundle):
                said = message(lambda: bundle(*inputs, **keywords))
            self.assertIn("copy: cuLaunchKernel: CUDA_ERROR_OF_THE_FAKE", said)
            self.assertEqual(said, message(lambda: self.pure_call(pure, *inputs, **keywords)))

    def test_each_context_and_capture_is_prepared_by_itself(self):
        bundle = self.load()

        def call():
            bundle(Array(0x1000000, (2, 64)), Array(0x1000100, (1,), "<f4"),
                   y=Array(0x1000200, (2, 64), "<f4"), s=0, stream=0x100)
            return log()
        call()  # in the context of device 1, which is not current
        with no_python(bundle):
            (line,) = call()
        current = ctypes.c_void_p()
        fake.cuCtxGetCurrent(ctypes.byref(current))
        self.assertEqual(current.value, ctypes.addressof(CONTEXT))
        fake.fake_context(None)
        self.assertEqual(call()[-1], line)
        fake.fake_capture(5)
        self.assertIn("allocate 8", call())
        with no_python(bundle):
            self.assertEqual(len(call()), 1)

    def test_producers_that_name_their_stream_are_waited_for(self):
        bundle = self.load()
        for _ in range(3):
            bundle(Array(0x1000, (2, 64), stream=9), SCALE, y=0x2000, s=0, stream=7)
            self.assertIn("wait on 0x7", log())
        with no_python(bundle):
            bundle(Array(0x1000, (2, 64), stream=7), SCALE, y=0x2000, s=0, stream=7)

    def test_a_plan_takes_buffers_alone(self):
        for is_fast in (True, False):
            if not is_fast:
                os.environ["EVO_TUNE_LAUNCHER"] = "python"
                self.addCleanup(os.environ.pop, "EVO_TUNE_LAUNCHER")
            bundle = self.load()
            x, y = Array(0x1000, (2, 64)), Array(0x2000, (2, 64), "<f4")
            plan = bundle.plan(x, SCALE, y=y, s=0, stream=7)
            self.assertEqual(launches(), [])
            with no_python(bundle) if is_fast else contextlib.nullcontext():
                plan(Array(0x3000, (2, 64)), SCALE, Array(0x5000, (2, 64), "<f4"), 0)
            self.assertIn("on 0x7: 12288 1280 20480 0 64", launches()[0])
            plan(0x3000, 0x500, 0x5000, 0)  # addresses that the plan has not seen before
            self.assertIn("on 0x7: 12288 1280 20480 0 64", launches()[0])
            self.assert_error("the plan takes 4 buffers (x, scale, y, s), got 3",
                              lambda: plan(x, SCALE, y))
            self.assert_error("expected x to have size 64 at dimension 1 (S, as given), but got 32",
                              lambda: plan(Array(0x1000, (2, 32)), SCALE, y, 0))
            self.assert_error("expected x to have dtype float8_e4m3fn, but got float16",
                              lambda: plan(Array(0x1000, (2, 64), "<f2"), SCALE, y, 0))
            self.assert_error("not to overlap x", lambda: plan(x, SCALE, 0x1000, 0))

    def test_threads_share_it(self):
        bundle = self.load()

        def work(number):
            fake.fake_context(ctypes.addressof(CONTEXT))
            for i in range(200):
                bundle(Array(0x1000, (2, 32 * (1 + i % 5))), SCALE, y=0x2000, s=0, stream=number + 3)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lines = log()
        self.assertEqual(sum(line.startswith("launch") for line in lines), 800)
        self.assertEqual(sum(line.startswith("allocate") for line in lines), 20)

    def test_threads_on_one_stream_share_its_workspaces(self):
        bundle = self.load()
        at_once = threading.Barrier(4)
        shapes = range(32, 32 * 41, 32)

        def work():
            fake.fake_context(ctypes.addressof(CONTEXT))
            for size in shapes:
                at_once.wait()
                for _ in range(3):
                    bundle(Array(0x1000, (2, size)), SCALE, y=0x2000, s=0, stream=9)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lines = log()
        self.assertEqual(sum(line.startswith("launch") for line in lines), 12 * len(shapes))
        self.assertEqual(sum(line.startswith("allocate") for line in lines), len(shapes))


class Tensors(BundleTest):
    """Tests tensors of a fake PyTorch. torch_test.py tests the real PyTorch."""

    def call_twice(self, torch):
        self.addCleanup(sys.modules.pop, "torch")
        bundle = self.load()
        x, scale = torch.Tensor(0x1000, (2, 64), "float8_e4m3fn"), torch.Tensor(0x500, (1,))
        fake.fake_current_stream(0x31)
        bundle(x, scale)
        first = launches()
        with no_python(bundle):
            y, s = bundle(x, scale)
        self.assertEqual((y.shape, str(y.dtype), s.shape), ((2, 64), "torch.float32", (0, 2)))
        self.assertEqual(torch.allocated[:2], torch.allocated[2:])
        self.assertIn("on 0x31: 4096 1280 ", first[0])
        self.assertEqual(first[0].replace(f"{0x110000} {0x120000}", f"{0x130000} {0x140000}"),
                         launches()[0])
        with no_python(bundle):
            fake.fake_current_stream(0x32)
            bundle(x, scale)
        return bundle, x, scale

    def test_are_read_by_the_exchange_of_dlpack(self):
        torch = fake_torch.install(fake)
        bundle, x, scale = self.call_twice(torch)
        self.assertIn("on 0x32: ", launches()[0])
        strided = torch.Tensor(0x1000, (2, 64), "float8_e4m3fn", strides=(128, 1))
        self.assert_error("expected x to be contiguous", lambda: bundle(strided, scale))
        wrong = torch.Tensor(0x1000, (2, 64))
        self.assert_error("dtype float8_e4m3fn, but got float32", lambda: bundle(wrong, scale))
        far = torch.Tensor(0x1000000, (1,), device=1)
        self.assert_error("found at least two devices, cuda:0 and cuda:1", lambda: bundle(x, far))

    def test_are_read_by_their_attributes_where_there_is_no_exchange(self):
        torch = fake_torch.install()
        bundle, x, scale = self.call_twice(torch)
        strided = torch.Tensor(0x1000, (2, 64), "float8_e4m3fn", strides=(128, 1))
        self.assert_error("expected x to be contiguous", lambda: bundle(strided, scale))
        scale.requires_grad = True
        self.assert_error("copy has no backward, but scale requires a gradient",
                          lambda: bundle(x, scale))
        torch.is_enabled = False
        with no_python(bundle):
            bundle(x, scale)


class Fallback(unittest.TestCase):
    def test_says_once_that_the_extension_is_missing(self):
        program = f"""
import sys, warnings
sys.path.insert(0, {os.path.join(INSTALLED, "lib")!r})
sys.modules["evo_tune._launcher"] = None
from evo_tune import fast
class Bundle:
    _fast = None
class Call:
    class prepared:
        arguments = ()
for _ in range(3):
    fast.learn(Bundle, (), {{}}, Call)
print(fast.is_there())
"""
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                             check=True)
        self.assertEqual(ran.stdout, "False\n")
        self.assertEqual(ran.stderr.count("bundles are launched by Python code alone"), 1)


if __name__ == "__main__":
    if not fast.is_there():
        sys.exit("the extension is not installed: " + fast._why)
    main()
