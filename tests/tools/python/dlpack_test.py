"""Tests reading tensors from DLPack capsules: made-up GPU tensors, and arrays of NumPy."""

import ctypes
import sys

from bundles import Array, BundleTest, evo_tune, launches, main
from evo_tune import dlpack

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Producer:
    """A made-up GPU tensor with the DLPack methods.

    `version`: of DLPack, or None for versions before 1.
    """

    def __init__(self, shape, code=2, bits=32, version=(1, 1), device=(2, 0), address=0x1000,
                 strides=None, offset=0, flags=0, lanes=1):
        self.deleted, self.streams, self.version, self.device = 0, [], version, device
        structure = dlpack._Managed if version is None else dlpack._Versioned
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._strides = (ctypes.c_int64 * len(shape))(*strides) if strides else None
        tensor = dlpack._Tensor(address, *device, len(shape), code, bits, lanes, self._shape,
                                self._strides, offset)
        self._deleter = _DELETER(self._delete)
        deleter = ctypes.cast(self._deleter, ctypes.c_void_p)
        if version is None:
            self._managed = structure(tensor, None, deleter)
        else:
            self._managed = structure(*version, None, deleter, flags, tensor)

    def _delete(self, managed):
        assert managed == ctypes.addressof(self._managed)
        self.deleted += 1

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None, **more):
        if self.version is None and more:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.streams.append(stream)
        name = b"dltensor" if self.version is None else b"dltensor_versioned"
        self.capsule = _new(ctypes.addressof(self._managed), name, None)
        return self.capsule


class Dlpack(BundleTest):
    def launch(self, bundle, x, **more):
        return bundle(x, Producer((1,), address=0x500), **{
            "y": Producer((2, 64), address=0x2000), "s": 0, **more})

    def test_capsules_are_consumed_and_given_back(self):
        bundle = self.load()
        for version, used in (((1, 1), b"used_dltensor_versioned"), (None, b"used_dltensor")):
            x = Producer((2, 64), code=10, bits=8, version=version, offset=256)
            self.launch(bundle, x, stream=7)
            self.assertIn("on 0x7: 4352 1280 8192 0 64", launches()[-1])
            self.assertEqual(x.deleted, 1)
            self.assertEqual(_name(x.capsule), used)
            self.assertEqual(x.streams, [7])
            self.launch(bundle, x)
            self.assertEqual(x.streams, [7, 1])  # 1: DLPack's number of the default stream
            self.assertEqual(x.deleted, 2)

    def test_what_is_wrong_is_said_and_given_back(self):
        bundle = self.load()
        for message, more in [
                ("expected x to have dtype float8_e4m3fn, but got float8_e5m2",
                 {"code": 12, "bits": 8}),
                ("expected x to have dtype float8_e4m3fn, but got bfloat16",
                 {"code": 4, "bits": 16}),
                ("but got float32 x 4", {"lanes": 4}),
                ("expected x to be contiguous", {"code": 1, "bits": 8, "strides": (1, 2)}),
                ("not supported: DLPack 2.0", {"version": (2, 0)})]:
            x = Producer((2, 64), **more)
            self.assert_error(message, lambda: self.launch(bundle, x))
            self.assertEqual(x.deleted, 1, message)
        x = Producer((2, 64), code=1, bits=8)
        y = Producer((2, 64), flags=1)
        self.assert_error("expected y to be writable", lambda: self.launch(bundle, x, y=y))
        self.assertEqual((x.deleted, y.deleted), (1, 1))
        self.assert_error("expected x to be on a CUDA device, but got cpu",
                          lambda: bundle(Producer((2, 64), device=(1, 0)), 2, y=1, s=0))
        self.assert_error(
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 "
            "and cpu!", lambda: self.launch(bundle, x, y=Producer((2, 64), device=(1, 0))))
        self.assertEqual(len(launches()), 0)

    def test_strides_of_what_is_contiguous(self):
        bundle = self.load()
        self.launch(bundle, Producer((2, 64), code=1, bits=8, strides=(64, 1)))
        self.launch(bundle, Producer((1, 64), code=1, bits=8, strides=(1, 1)),
                    y=Array(0x2000, (1, 64), "<f4", strides=(7, 4)), B=1)
        self.assertEqual(len(launches()), 2)

    def test_reads_what_numpy_makes(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is missing")

        class Wrapped:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, stream=None, **more):
                return self.array.__dlpack__(**more)
        exports_bool = numpy.lib.NumpyVersion(numpy.__version__) >= "1.25.0"
        for dtype in ("float32", "float64", "int8", "uint16", "int64", *["bool"] * exports_bool):
            array = numpy.zeros((3, 4), dtype)
            before = sys.getrefcount(array)
            export = dlpack.Export(Wrapped(array), 0)
            self.assertEqual((export.shape, export.address, export.device),
                             ((3, 4), array.ctypes.data, (1, 0)))
            self.assertEqual(export.dtype, dtype if dtype != "bool" else "bool8")
            self.assertGreater(sys.getrefcount(array), before)
            export.release()
            self.assertEqual(sys.getrefcount(array), before)
        self.assert_error("expected x to be on a CUDA device, but got cpu",
                          lambda: self.load()(numpy.zeros((2, 64), "uint8"), 2, y=1, s=0))


if __name__ == "__main__":
    main()
