"""The Python loader on a driver that writes down what it is asked for: loader_test.py DRIVER ROOT"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
DRIVER, ROOT = sys.argv[1:3]
sys.path.insert(0, os.path.join(ROOT, "tools/python"))
import evo_tune  # noqa: E402
from evo_tune.expression import evaluate  # noqa: E402

fake = ctypes.CDLL(DRIVER)
fake.fake_context.argtypes = [ctypes.c_void_p]
fake.fake_log.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
CONTEXT = ctypes.c_int()


def log():
    text = ctypes.create_string_buffer(1 << 20)
    fake.fake_log(text, len(text))
    return text.value.decode().splitlines()


def expression(text):
    return {"expression": text}


def kernel(name, arch, tile):
    return {
        "name": name, "cubin": name + ".cubin", "ptx": name + ".ptx", "arch": arch,
        "entry": "copy", "macros": {"TILE": tile},
        "valid": [{"expression": "S % TILE == 0", "why": "whole tiles"}],
        "resources": {"static_shared_bytes": 100},
        "arguments": [
            {"name": "x", "direction": "in", "dtype": "f32", "extent": expression("S")},
            {"name": "y", "direction": "out", "dtype": "f32", "extent": expression("S")},
            {"name": "n", "direction": "scalar", "dtype": "i32", "value": expression("S")},
            {"name": "w", "direction": "workspace", "dtype": "u32",
             "extent": expression("S / TILE")}],
        "launch": {"grid": [expression("S / TILE"), expression("SM_COUNT")],
                   "block": [expression("TILE")],
                   "dynamic_shared_bytes": expression("2 * TILE + S")}}


class Array:
    """What has __cuda_array_interface__."""

    def __init__(self, address, count):
        self.__cuda_array_interface__ = {"data": (address, False), "shape": (count,),
                                         "typestr": "<f4", "version": 3}


class PythonLoader(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.index = {
            "format": "evo-tune bundle 1", "name": "copy", "shape_variables": ["S"],
            "kernels": [kernel("small", "sm_90", 32), kernel("large", "sm_90a", 256),
                        kernel("plain", "sm_90", 1)],
            "targets": [{"device": "Fake 90", "kind": "measured", "defaults": ["plain"],
                         "serves": [
                             {"shape": "s64", "variables": {"S": 64}, "kernel": "small"},
                             {"shape": "s4096", "variables": {"S": 4096}, "kernel": "large"}]}]}
        for name in ("small", "large", "plain"):
            for ending in ("cubin", "ptx"):
                with open(os.path.join(self.folder.name, f"{name}.{ending}"), "w") as file:
                    file.write(f"{ending} {name}")
        fake.fake_reset(b"Fake 90", 90, 4)
        fake.fake_context(ctypes.addressof(CONTEXT))

    def tearDown(self):
        self.folder.cleanup()

    def load(self):
        with open(os.path.join(self.folder.name, "bundle.json"), "w") as file:
            json.dump(self.index, file)
        return evo_tune.load(self.folder.name, DRIVER)

    def test_chooses_as_the_loader_in_cpp(self):
        bundle = self.load()
        self.assertEqual(bundle.choose(S=64).why, "tuned for this shape: s64, on Fake 90")
        self.assertIn("nearest shape", bundle.choose(S=1024).why)
        self.assertIn("not large: 'S % TILE == 0' does not hold: whole tiles",
                      bundle.choose(S=2080).why)
        self.assertIn("the configuration of defaults", bundle.choose(S=33).why)
        newer = evo_tune.Device("Fake 100", 100, 4, 9999)
        self.assertTrue(bundle.choose(newer, S=4096).from_ptx)
        older = evo_tune.Device("Fake 80", 80, 4, 9999)
        with self.assertRaisesRegex(evo_tune.Error, "no kernel for S=64 on Fake 80"):
            bundle.choose(older, S=64)

    def test_launches_with_what_follows_from_the_shape(self):
        bundle = self.load()
        bundle(Array(1000, 64), 2000, stream=7, S=64)
        lines = log()
        self.assertEqual(lines[:4], ["load cubin sm", "function copy", "attribute 8=128",
                                     "allocate 8"])
        self.assertTrue(lines[-1].startswith("launch copy 2,4,1 32,1,1 128 on 0x7: 1000 2000 64"))
        bundle(1000, 2000, stream=7, S=64)
        self.assertEqual(len(log()), 1)
        # What another shape needs less of stays allowed.
        bundle(1000, 2000, stream=7, S=32)
        self.assertIn("attribute 8=128", log())

    def test_threads_share_it(self):
        bundle = self.load()

        def work(number):
            fake.fake_context(ctypes.addressof(CONTEXT))
            for i in range(50):
                bundle(1000, 2000, stream=number + 3, S=32 * (1 + i % 5))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lines = log()
        self.assertEqual(sum(line.startswith("launch") for line in lines), 150)
        self.assertEqual(sum(line.startswith("allocate") for line in lines), 15)

    def test_says_what_is_wrong(self):
        bundle = self.load()
        for arguments, sizes, message in [
                ((1000,), {"S": 64}, r"takes 2 buffers \(x, y\), got 1"),
                ((1000, 2000), {"T": 64}, "takes the shape variables S, got T"),
                ((Array(1000, 63), 2000), {"S": 64}, "'x': expected 64 elements of 4 bytes, got 252"),
                ((1000, None), {"S": 64}, "argument 'y' is null"),
                ((1000, "y"), {"S": 64}, "'y': expected an address, .*, not str"),
                ((1000, 2000), {"S": float("nan")}, "S is nan")]:
            with self.assertRaisesRegex(evo_tune.Error, message):
                bundle(*arguments, **sizes)
        fake.fake_context(None)
        with self.assertRaisesRegex(evo_tune.Error, "no CUDA context is current"):
            bundle(1000, 2000, S=64)
        with self.assertRaisesRegex(evo_tune.Error, "nowhere/bundle.json"):
            evo_tune.load("/nowhere")
        self.index["format"] = "another"
        with self.assertRaisesRegex(evo_tune.Error, "format: allowed is"):
            self.load()

    def test_expressions_mean_what_they_mean_elsewhere(self):
        count = 0
        with open(os.path.join(ROOT, "tests/engine/core/python_expressions.tsv")) as table:
            for line in table:
                text, expected = line.rstrip("\n").split("\t")
                try:
                    value = evaluate(text, {"A": 5, "B": -3, "C": 0})
                except evo_tune.Error:
                    value = None
                if value is None and " in " in text:
                    continue  # lists are only known behind `in`
                self.assertEqual(value, None if expected == "none" else float(expected), text)
                count += 1
        self.assertGreater(count, 1200)
        for text, expected in [("round(-2.5)", -3), ("-7 // 2", -4), ("A ? 1 / C : 2", None),
                               ("C ? 1 / C : 2", 2), ("7 && 2", 1), ("7 and 2", 2), ("!A == 0", 1),
                               ("2 ^ -1", 0.5), ("align_up(33, 32)", 64), ("is_pow2(64)", 1),
                               ("sqrt(-1)", None), ("min(3, 1, 2)", 1), ("10 ** 400", None)]:
            try:
                value = evaluate(text, {"A": 5, "C": 0})
            except evo_tune.Error:
                value = None
            self.assertEqual(value, expected, text)

    def test_pip_installs_it(self):
        tools = subprocess.run([sys.executable, "-c", "import pip, setuptools"],
                               capture_output=True)
        if tools.returncode != 0:
            self.skipTest("pip or setuptools is missing")
        with tempfile.TemporaryDirectory() as target:
            source = os.path.join(target, "source")
            subprocess.run(["cp", "-r", os.path.join(ROOT, "tools/python"), source], check=True)
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
                            "--no-index", "--no-build-isolation", "--target",
                            os.path.join(target, "lib"), source], check=True, capture_output=True)
            found = subprocess.run([sys.executable, "-c", "import evo_tune; print(evo_tune.load)"],
                                   env={"PYTHONPATH": os.path.join(target, "lib")}, cwd=target,
                                   capture_output=True, text=True)
            self.assertIn("function load", found.stdout, found.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
