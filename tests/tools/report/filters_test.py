"""Tests the filters of a report's candidates, set by its controls and by the mouse."""

from report_case import CANDIDATES, ReportCase


class FiltersTest(ReportCase):
    def shown(self):
        """How many candidates the status line, scatter plot and parallel coordinates show."""
        scatter = self.option("candidates", 0)
        lines = self.option("candidates", 1)[0]["data"]
        status = self.text("#candidates .status")
        return int(status.split()[0].replace(",", "")), len(scatter[0]["data"]), len(lines)

    def count(self, where):
        return tuple(self.one(f"SELECT count(*), count(CASE outcome WHEN 'green' THEN 1 END)"
                              f" FROM evaluation WHERE run = 1 AND ({where})"))

    def control(self, dimension, script):
        self.browser.run(f"""
            const field = document.querySelector(`[data-dimension="${{arguments[0]}}"]`);
            field.closest("details").open = true;
            {script}""", dimension)
        self.browser.settle()

    def test_filters_by_the_controls(self):
        self.assertEqual(self.shown(), (CANDIDATES, self.count("1")[1], CANDIDATES))
        self.control("knob WARP_M", "field.querySelectorAll('input')[0].click();")
        all32, green32 = self.count("config ->> '$.WARP_M' = 32")
        self.assertEqual(self.shown(), (all32, green32, all32))
        self.assertLess(all32, CANDIDATES)
        self.control("registers", """const [least, most] = field.querySelectorAll("input");
            most.value = "128"; most.dispatchEvent(new Event("change"));""")
        both = self.count("config ->> '$.WARP_M' = 32 AND registers <= 128")
        self.assertEqual(self.shown(), (both[0], both[1], both[0]))
        self.assertEqual(self.text(".filters summary"), "Filters: WARP_M, registers per thread")
        table = self.rows("candidates", "")
        self.assertEqual(len(table), min(100, both[0]))
        self.browser.run("document.querySelectorAll('.controls button')[1].click()")
        self.assertEqual(self.shown()[0], CANDIDATES)

    def test_only_this_value(self):
        self.control("knob WARP_M", "field.querySelectorAll('.only')[1].click();")
        word = self.browser.run("return document.querySelectorAll(`[data-dimension='knob WARP_M'] label`)[1].textContent")
        everything, green = self.count(f"config ->> '$.WARP_M' = {word}")
        self.assertEqual(self.shown(), (everything, green, everything))
        self.assertTrue(0 < everything < CANDIDATES)
        checked = self.browser.run("return [...document.querySelectorAll("
                                   "`[data-dimension='knob WARP_M'] input`)].map(box => box.checked)")
        self.assertEqual([i for i, box in enumerate(checked) if box], [1])

    def drag(self, box, start, end):
        left, top = self.browser.run(
            "const r = arguments[0].getBoundingClientRect(); return [r.left, r.top]", box)
        self.assertTrue(0 <= top <= 1000, "the plot is not in the window")

        def mouse(kind, share):
            x, y = (first + share * (last - first) for first, last in zip(start, end))
            self.browser.command("Input.dispatchMouseEvent", {
                "type": kind, "x": left + x, "y": top + y, "button": "left", "clickCount": 1,
                "buttons": 0 if kind == "mouseReleased" else 1})

        mouse("mouseMoved", 0)
        mouse("mousePressed", 0)
        for share in (0.3, 0.6, 1):
            mouse("mouseMoved", share)
        mouse("mouseReleased", 1)
        self.browser.settle()

    def test_a_box_in_the_scatter_plot_filters_the_lines(self):
        self.option("candidates", 0)
        box = self.browser.run("return document.querySelectorAll('#candidates .chart')[0]")
        low, high = self.one("SELECT min(p50_us), max(p50_us) FROM evaluation WHERE run = 1"
                             " AND outcome = 'green'")
        middle = (low + high) / 2
        start, end = self.browser.run(
            "const chart = echarts.getInstanceByDom(arguments[0]);"
            "return [[60, arguments[1]], [140, arguments[2]]].map("
            "point => chart.convertToPixel({xAxisIndex: 0, yAxisIndex: 0}, point));", box, low, middle)
        self.browser.run("document.querySelector('.controls button').click()")
        self.drag(box, start, end)
        passing, points, lines = self.shown()
        # The dragged selection may be off by one pixel at each edge.
        inner = self.count(f"outcome = 'green' AND registers BETWEEN 61 AND 139 AND p50_us BETWEEN"
                           f" {low + 0.05} AND {middle - 0.05}")[0]
        outer = self.count(f"outcome = 'green' AND registers BETWEEN 59 AND 141 AND p50_us BETWEEN"
                           f" {low - 0.05} AND {middle + 0.05}")[0]
        self.assertTrue(inner <= passing <= outer, f"{inner} {passing} {outer}")
        self.assertTrue(0 < passing < CANDIDATES)
        self.assertEqual((points, lines), (passing, passing))

    def test_an_area_of_an_axis_filters_the_points(self):
        self.option("candidates", 1)
        box = self.browser.run("return document.querySelectorAll('#candidates .chart')[1]")
        width, keys = self.browser.run(
            "return [arguments[0].clientWidth, echarts.getInstanceByDom(arguments[0]).getOption()"
            ".parallelAxis.map(axis => [axis.name, axis.data ?? null])]", box)
        place = next(i for i, (_, words) in enumerate(keys) if words and len(words) == 2)
        name, words = keys[place]
        x = 50 + place * (width - 120) / (len(keys) - 1)
        top, bottom = 84, 420 - 28
        self.drag(box, (x, top + 4), (x, (top + bottom) / 2 - 8))  # the half with the second word
        expected = self.count(f"CAST(config ->> '$.{name}' AS TEXT) = '{words[1]}'")
        self.assertEqual(self.shown(), (expected[0], expected[1], expected[0]))
        self.assertTrue(0 < expected[0] < CANDIDATES)
        checked = self.browser.run("return [...document.querySelectorAll("
                                   "`[data-dimension=\"knob ${arguments[0]}\"] input`)].map(b => b.checked)", name)
        self.assertEqual(checked, [False, True])

    def test_axes_and_colour_are_chosen(self):
        for place, key in enumerate(("shared_bytes", "registers", "outcome")):
            self.browser.run("const s = document.querySelectorAll('.controls select')[arguments[0]];"
                             "s.value = arguments[1]; s.dispatchEvent(new Event('change'));", place, key)
        rows = self.sql.execute("SELECT shared_bytes, registers FROM evaluation WHERE run = 1"
                                " ORDER BY generation, position").fetchall()
        points = self.option("candidates", 0)[0]["data"]
        self.assertEqual([point[:2] for point in points], [list(row) for row in rows])
