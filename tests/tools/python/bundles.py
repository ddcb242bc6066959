"""Fixtures for tests with a bundle of three made-up kernels and a fake CUDA driver that records its
calls. A test takes four arguments: the path of the fake driver, of the program make_plans, of the
source folder, and of the folder in which the package evo_tune is installed."""

import ctypes
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

DRIVER, MAKE_PLANS, ROOT, INSTALLED = sys.argv[1:5]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(INSTALLED, "lib"))
import evo_tune  # noqa: E402

assert evo_tune.__file__.startswith(INSTALLED), evo_tune.__file__
fake = ctypes.CDLL(DRIVER)
fake.fake_context.argtypes = [ctypes.c_void_p]
fake.fake_log.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
fake.fake_capture.argtypes = [ctypes.c_ulonglong]
CONTEXT = ctypes.c_int()


def log():
    text = ctypes.create_string_buffer(1 << 20)
    fake.fake_log(text, len(text))
    return text.value.decode().splitlines()


def launches():
    return [line for line in log() if line.startswith("launch")]


def expression(text):
    return {"expression": text}


def made(manifests=(), expressions=(), variables=("B", "S", "F")):
    """The launch plans of manifests, and expressions as JSON trees, as evo-export writes them."""
    text = json.dumps({"shape_variables": variables, "manifests": manifests,
                       "expressions": expressions})
    result = json.loads(subprocess.run([MAKE_PLANS], input=text, capture_output=True, text=True,
                                       check=True).stdout)
    return result["plans"], result["trees"]


def kernel(name, arch, tile):
    """The manifest of a kernel that reads x (B × S 8-bit floats) and a scale. The kernel writes y
    (B × S elements) and, if F is 1, s (B elements)."""
    def buffer(name, direction, dtype, extent, **more):
        return {"name": name, "direction": direction, "dtype": dtype,
                "extent": expression(extent), **more}
    return {
        "name": name, "cubin": name + ".cubin", "ptx": name + ".ptx", "arch": arch,
        "entry": "copy", "macros": {"TILE": tile},
        "valid": [{"expression": "S % TILE == 0", "why": "whole tiles"}],
        "resources": {"static_shared_bytes": 100},
        "arguments": [
            buffer("x", "in", "e4m3", "B*S"), buffer("scale", "in", "f32", "1"),
            buffer("y", "out", "f32", "B*S", row=expression("S")),
            buffer("s", "out", "f32", "F*B"),
            {"name": "n", "direction": "scalar", "dtype": "i32", "value": expression("S")},
            buffer("w", "workspace", "u32", "S / TILE")],
        "launch": {"grid": [expression("S / TILE"), expression("SM_COUNT")],
                   "block": [expression("TILE")],
                   "dynamic_shared_bytes": expression("2 * TILE + S")}}


class Array:
    """An array with __cuda_array_interface__."""

    def __init__(self, address, shape, typestr="|u1", **more):
        self.__cuda_array_interface__ = {"data": (address, False), "shape": shape,
                                         "typestr": typestr, "version": 3, **more}


class BundleTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        kernels = [kernel("small", "sm_90", 32), kernel("large", "sm_90a", 256),
                   kernel("plain", "sm_90", 1)]
        sizes = [[2, 64, 0], [2, 4096, 0], []]
        for its, plan, size, shape in zip(kernels, made(kernels)[0], sizes, ("s64", "s4096", "")):
            its["plan"] = plan
            plan["chosen_for"] = [{"device": "Fake 90", "rank": 0, "shape": shape, "sizes": size}]
            its["sha256"] = {}
            for ending in ("cubin", "ptx"):
                code = f"{ending} {its['name']}".encode()
                its["sha256"][ending] = hashlib.sha256(code).hexdigest()
                with open(os.path.join(self.folder.name, f"{its['name']}.{ending}"), "wb") as file:
                    file.write(code)
        self.index = {"format": "evo-tune bundle 3", "name": "copy",
                      "shape_variables": ["B", "S", "F"], "kernels": kernels}
        fake.fake_reset(b"Fake 90", 90, 5)
        fake.fake_capture(0)
        fake.fake_context(ctypes.addressof(CONTEXT))

    def write(self, text):
        """Writes the bundle's index: `text`, which may be invalid, after a valid header."""
        with open(os.path.join(self.folder.name, "bundle.json"), "wb") as file:
            file.write(b'{"sha256": "%s",\n' % hashlib.sha256(text).hexdigest().encode() + text)

    def load(self, **more):
        self.write(json.dumps(self.index)[1:].encode())
        return evo_tune.load(self.folder.name, DRIVER, **more)

    def assert_error(self, message, action):
        with self.assertRaises(evo_tune.Error) as raised:
            action()
        self.assertIn(message, str(raised.exception))


def main():
    unittest.main(argv=sys.argv[:1])
