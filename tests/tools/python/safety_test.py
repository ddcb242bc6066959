"""Tests that the Python loader refuses sizes, files, buffers and indexes that differ from those of
the checked kernel."""

import json
import os
import random

from bundles import DRIVER, Array, BundleTest, evo_tune, fake, launches, made, main

SCALE = Array(0x500, (1,), "<f4")
SAMPLE = 2  # number of wrong values tried at each place of an index
SHAPE = {"B": 2, "S": 64, "F": 0}


def damaged(text, rng):
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text))
        cut = 1 if rng.random() < 0.5 else rng.randrange(20)
        text = text[:at] + (bytes([rng.randrange(256)]) if cut == 1 else b"") + text[at + cut:]
    return text


def places(value):
    """Each place in nested lists and dictionaries: its list or dictionary, and the index or key."""
    if isinstance(value, (dict, list)):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


OTHERS = [None, True, -1, 0, 0.5, 1e300, -1e300, 10**400, 1e19, float("nan"), float("inf"), "", "S",
          "x", "\0", "\ud800", [], {}, [[]], ["?", 1], ["whole", "S"], {"expression": 1}]


class Safety(BundleTest):
    def launch(self, bundle, x=0x1000, y=0x2000, **more):
        return bundle(x, SCALE, y=y, s=0, **{**SHAPE, **more})

    def test_serves_what_was_checked_or_what_is_allowed_by_name(self):
        for its in self.index["kernels"]:
            its["valid"].append({"expression": "64 <= S <= 4096 && S % 1 == 0",
                                 "why": "the kernel was checked with S = 64, 4096",
                                 "variables": ["S"]})
            its["plan"] = {**made([its])[0][0], "chosen_for": its["plan"]["chosen_for"]}

        def chosen(size, **more):
            return self.load(**more).choose(B=2, S=size, F=0).why
        self.assertIn("nearest shape", chosen(96))
        self.assert_error("not small: S = 32 was not checked: '64 <= S <= 4096 && S % 1 == 0' does "
                          "not hold: the kernel was checked with S = 64, 4096; "
                          'allow={"S"} of load() lets it be launched all the same',
                          lambda: chosen(32))
        for allow in ({"S"}, "S", ["F", "S"], {"S": (32, 40)}):
            self.assertIn("nearest shape", chosen(32, allow=allow))
        for allow in ({"F"}, {"x"}, {"S": (33, 40)}, ()):
            self.assert_error("S = 32 was not checked", lambda: chosen(32, allow=allow))
        self.assert_error("allow: 'T' is neither a shape variable nor a buffer; allowed: B, S, F, "
                          "x, scale, y, s", lambda: chosen(32, allow={"T"}))
        for its in ((2, 1), (1, 2, 3)):
            self.assert_error("allow: the range of 'S'", lambda: chosen(32, allow={"S": its}))
        # A user can allow unchecked shapes, but no shape that violates a condition of the template.
        self.assertIn("not small: 'S % TILE == 0' does not hold", chosen(4095))

    def test_refuses_a_file_that_is_not_the_one_that_was_checked(self):
        bundle = self.load()
        for code in (b"cubin large", b"", b"cubin smalm"):
            with open(os.path.join(self.folder.name, "small.cubin"), "wb") as file:
                file.write(code)
            self.assert_error("small.cubin: is not the file that was checked: export the bundle "
                              "again", lambda: self.launch(bundle))
        self.assertEqual(launches(), [])
        with open(os.path.join(self.folder.name, "small.cubin"), "wb") as file:
            file.write(b"cubin small")
        self.launch(bundle)

    def test_buffers_are_apart_and_aligned_as_they_were_when_it_was_checked(self):
        bundle = self.load()  # x has 128 bytes, y 512
        for x, y in ((0x2200, 0x2000), (0x1f00, 0x2000)):
            self.launch(bundle, x, y)
        for x, y in ((0x2000, 0x2000), (0x2100, 0x2000)):
            self.assert_error("expected y, which is written, not to overlap x; allow={\"y\"}",
                              lambda: self.launch(bundle, x, y))
        self.assert_error("expected y, which is written, not to overlap x",
                          lambda: self.launch(bundle, 0x1f00, 0x2000, B=8))
        self.launch(self.load(allow={"y"}), 0x2000, 0x2000)
        self.launch(self.load(allow={"y"}), 0x2000, 0x2104)
        for name, x, y, step in (("x", 0x1001, 0x2000, 1), ("y", 0x1000, 0x2004, 4),
                                 ("x", 0x1080, 0x2000, 128)):
            self.assert_error(f"expected {name} to be aligned to 256 bytes, as it was when the "
                              f"kernel was checked, but got {step}; allow={{\"{name}\"}}",
                              lambda: self.launch(bundle, x, y))
        self.assert_error("expected y to be aligned to 4 bytes",
                          lambda: self.launch(self.load(allow={"y"}), 0x1000, 0x2002))
        for address in (-256, 2**64, 2**64 - 256):
            self.assert_error("expected y to have an address of 64 bits",
                              lambda: self.launch(bundle, 0x1000, address))
        # Two inputs may be the same buffer.
        bundle(0x500, Array(0x500, (1,), "<f4"), y=0x2000, s=0, **SHAPE)

    def test_arrays_are_plain(self):
        bundle = self.load()
        y = Array(0x2000, (2, 64), ">f4")
        self.assert_error("expected y to have dtype float32, but got float32 of the other byte "
                          "order", lambda: self.launch(bundle, y=y))
        masked = Array(0x1000, (2, 64), mask=Array(0x3000, (2, 64), "|b1"))
        self.assert_error("argument 'x': expected an array without a mask",
                          lambda: self.launch(bundle, masked))
        for strides in ((1, 2), (-64, 1), (0, 1), (128, 2)):
            self.assert_error("expected x to be contiguous", lambda: self.launch(
                bundle, Array(0x1000, (2, 64), strides=strides)))
        for interface in ({"typestr": "f"}, {"typestr": 4}, {"shape": None}, {"data": None},
                          {"strides": 4}):
            x = Array(0x1000, (2, 64))
            x.__cuda_array_interface__.update(interface)
            self.assert_error("argument 'x': ", lambda: self.launch(bundle, x))

    def test_sizes_that_no_launch_has_are_refused(self):
        plain = self.index["kernels"][2]["plan"]
        for position, tree in ((0, 2.0**32), (0, -1), (0, 0.5), (3, 0), (6, 2**40), (6, -4)):
            size = plain["steps"][0]["sizes"][position]
            before, size["tree"] = size["tree"], tree
            self.assert_error("not plain: ", lambda: self.load().choose(B=2, S=33, F=0))
            size["tree"] = before
        for size in (10**400, None, "64", 1j, float("inf")):
            self.assert_error("S is ", lambda: self.load().choose(B=2, S=size, F=0))

    def test_an_index_that_is_not_as_it_was_written_is_refused(self):
        self.load()
        file = os.path.join(self.folder.name, "bundle.json")
        with open(file, "rb") as content:
            good = content.read()
        rng = random.Random(3)
        for _ in range(200):
            text = damaged(good, rng)
            if text == good:
                continue
            with open(file, "wb") as content:
                content.write(text)
            self.assert_error("export it again", lambda: evo_tune.load(self.folder.name))

    def ends(self, text):
        """Launches from a bundle with the index `text`. Returns "launched" or the error."""
        self.write(text)
        fake.fake_reset(b"Fake 90", 90, 0)
        try:
            bundle = evo_tune.load(self.folder.name, DRIVER)
            bundle.choose(**SHAPE)
            self.launch(bundle, Array(0x1000, (2, 64)))
            return "launched"
        except evo_tune.Error as error:
            return str(error)

    def test_a_damaged_text_is_an_error_or_another_kernel(self):
        rng, text = random.Random(5), json.dumps(self.index)[1:].encode()
        ends = [self.ends(damaged(text, rng)) for _ in range(300)]
        self.assertGreater(ends.count("launched"), 10)
        self.assertLess(ends.count("launched"), 290)
        self.assertNotIn("", ends)

    def test_a_wrong_value_anywhere_is_an_error_or_another_kernel(self):
        rng, ends = random.Random(5), []
        read = {"name", "cubin", "ptx", "sha256", "plan"}
        self.index["kernels"] = [{key: its[key] for key in its if key in read}
                                 for its in self.index["kernels"][::2]]
        for container, key in list(places(self.index)):
            before = container[key]
            for other in rng.sample(OTHERS, SAMPLE):
                container[key] = other
                ends.append(self.ends(json.dumps(self.index)[1:].encode()))
            container[key] = before
        self.assertGreater(len(ends), 500)
        self.assertGreater(ends.count("launched"), len(ends) // 10)
        self.assertLess(ends.count("launched"), len(ends))
        self.assertNotIn("", ends)

    def test_a_damaged_kernel_is_not_chosen(self):
        plan = self.index["kernels"][0]["plan"]
        for container, key, other, why in [
                (plan, "valid", None, "its part of the index is damaged"),
                (plan, "chosen_for", None, "its part of the index is damaged"),
                (plan["arguments"][0], "name", "z", "its buffers are not those of the bundle"),
                (plan["chosen_for"][0], "rank", 10**400, "its part of the index is damaged"),
                (plan["chosen_for"][0], "rank", float("nan"), "nan is no number"),
                (plan["chosen_for"][0], "sizes", [2, 64], "'sizes' are not those of the shape"),
                (plan["arguments"][0]["elements"], "tree", [], "is no expression"),
                (plan["arguments"][1], "dimensions", [["sin", 1]], "'sin' is unknown"),
                (plan["steps"][0]["sizes"][0], "tree", 2.5, "2.5; allowed: a whole number")]:
            before, container[key] = container[key], other
            # Puts an undamaged kernel first, because the first kernel determines the buffers of
            # the bundle.
            self.index["kernels"].reverse()
            self.assertIn(why, self.load().choose(**SHAPE).why)
            self.index["kernels"].reverse()
            container[key] = before
        self.index["kernels"][0]["plan"]["steps"][0]["entry"] = "\ud800"
        self.assert_error("is damaged: UnicodeEncodeError", lambda: self.launch(self.load()))


if __name__ == "__main__":
    main()
