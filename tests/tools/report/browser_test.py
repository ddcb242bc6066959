"""Opens reports in headless Chromium and holds what they show against the database.

    browser_test.py PROGRAMS SOURCES    # the folders of the programs and of the sources
"""

import json
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAMS, SOURCES = Path(sys.argv[1]), Path(sys.argv[2])
sys.path.insert(0, str(SOURCES / "tools" / "bench"))
from browser import Browser, use_python_with_selenium  # noqa: E402

use_python_with_selenium()

CANDIDATES = 400


def program(name, *arguments, expect=0):
    done = subprocess.run([PROGRAMS / name, *map(str, arguments)], cwd=SOURCES, text=True,
                          capture_output=True, check=False)
    if done.returncode != expect:
        raise AssertionError(f"{name} ended with {done.returncode}: {done.stderr}")
    return done.stdout


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = Path(cls.folder.name)
        cls.db = folder / "evo.db"
        for seed in (1, 2):
            program("report-database", "--db", cls.db, "--candidates", CANDIDATES,
                    "--generation", 20, "--seed", seed)
        cls.page = folder / "report.html"
        program("evo-report", "--db", cls.db, "--run", 1, "--out", cls.page)
        cls.both = folder / "both.html"
        program("evo-report", "--db", cls.db, "--run", 1, 2, "--out", cls.both)
        cls.sql = sqlite3.connect(cls.db)
        cls.browser = Browser()
        cls.browser.open(cls.page)
        cls.browser.settle()

    @classmethod
    def tearDownClass(cls):
        cls.browser.driver.quit()
        cls.folder.cleanup()

    def setUp(self):
        self.browser.resize(1600)
        self.browser.colours("light")
        self.browser.open(self.page)

    # What is there ------------------------------------------------------------------------

    def one(self, query, *values):
        return self.sql.execute(query, values).fetchone()

    def text(self, selector):
        return self.browser.run("return document.querySelector(arguments[0]).textContent", selector)

    def rows(self, section, caption):
        """The cells of the body of the table whose caption begins so; opens what hides it."""
        found = self.browser.run("""
            const section = document.getElementById(arguments[0]);
            section.querySelectorAll("details").forEach(box => { box.open = true; });
            return new Promise(done => setTimeout(() => done([...section.querySelectorAll("table")]
              .filter(table => table.caption.textContent.startsWith(arguments[1]))
              .map(table => [...table.tBodies[0].rows].map(
                row => [...row.cells].map(cell => cell.textContent)))), 60));""", section, caption)
        self.assertEqual(len(found), 1, f"tables '{caption}' in {section}")
        return found[0]

    def option(self, section, place):
        """What the plotting library was told to draw by the plot at that place of a section."""
        self.browser.run("document.getElementById(arguments[0]).querySelectorAll('.chart')"
                         "[arguments[1]].scrollIntoView({block: 'center', behavior: 'instant'})",
                         section, place)
        self.browser.settle()
        return self.browser.run("""
            const box = document.getElementById(arguments[0]).querySelectorAll(".chart")[arguments[1]];
            return JSON.parse(JSON.stringify(echarts.getInstanceByDom(box).getOption().series));""",
                                section, place)

    def drawn(self, section, place):
        """True when something of another colour than the page stands in the plot."""
        self.option(section, place)
        return self.browser.run("""
            const box = document.getElementById(arguments[0]).querySelectorAll(".chart")[arguments[1]];
            const svg = box.querySelector("svg");
            if (svg) return svg.querySelectorAll("path").length > 5;
            const canvas = box.querySelector("canvas");
            const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const colours = new Set();
            for (let i = 0; i < data.length; i += 4) {
              if (data[i + 3] > 0) colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
            }
            return colours.size > 5;""", section, place)

    # The page -----------------------------------------------------------------------------

    def test_1_asks_for_nothing_and_says_nothing(self):
        with Browser() as browser:
            browser.open(self.page)
            browser.picture(Path(self.folder.name) / "whole.png", 1600)
            self.assertEqual(browser.console(), [])
            self.assertEqual(browser.requests(), [])
            # Texts of the database that would be programs, had they become markup.
            self.assertIsNone(browser.run("return window.hacked ?? null"))
            self.assertEqual(browser.run("return document.querySelectorAll('main img').length"), 0)
            self.assertIn("<script>window.hacked", browser.run("return document.body.innerText"))

    def test_no_page_scrolls_sideways(self):
        for page in (self.page, self.both):
            self.browser.open(page)
            for width in (400, 800, 1600):
                self.browser.resize(width)
                self.browser.run("document.querySelectorAll('details').forEach(box => { box.open = true })")
                self.browser.settle()
                self.assertLessEqual(
                    self.browser.run("return document.documentElement.scrollWidth"), width,
                    f"{page.name} at {width}")

    def test_dark_and_light(self):
        colours = []
        for scheme in ("light", "dark"):
            self.browser.colours(scheme)
            self.browser.settle()
            colours.append(self.browser.run("return [getComputedStyle(document.body).backgroundColor,"
                                            " getComputedStyle(document.body).color]"))
        self.assertEqual(colours[0], ["rgb(251, 251, 250)", "rgb(27, 31, 36)"])
        self.assertEqual(colours[1], ["rgb(20, 23, 26)", "rgb(231, 234, 237)"])

    def test_every_plot_has_a_name_and_a_picture(self):
        charts = self.browser.run("""return [...document.querySelectorAll("main section")].map(
            section => [section.id, [...section.querySelectorAll(".chart")].map(
              box => [box.getAttribute("role"), box.getAttribute("aria-label")])]);""")
        self.assertEqual({name: len(plots) for name, plots in charts},
                         {"winner": 0, "progress": 2, "ladder": 1, "knobs": 3, "candidates": 2,
                          "roofline": 1, "resources": 3, "duels": 2, "errors": 1, "policy": 0,
                          "source": 0, "events": 0})
        for section, plots in charts:
            for place, (role, label) in enumerate(plots):
                self.assertEqual(role, "img")
                self.assertGreater(len(label), 15)
                self.assertTrue(self.drawn(section, place), f"{section} {place}")

    def test_a_keyboard_reaches_everything(self):
        unreachable = self.browser.run("""
            return [...document.querySelectorAll("a, button, select, input, summary, .scroll, pre")]
              .filter(one => one.tabIndex < 0).map(one => one.outerHTML.slice(0, 80));""")
        self.assertEqual(unreachable, [])
        unnamed = self.browser.run("""
            return [...document.querySelectorAll("select, input")].filter(one =>
              !one.closest("label") && !one.getAttribute("aria-label")).length;""")
        self.assertEqual(unnamed, 0)
        # Headings go down by one step at a time.
        levels = self.browser.run("return [...document.querySelectorAll('h1, h2, h3')].map(h => Number(h.tagName[1]))")
        self.assertEqual(levels[0], 1)
        self.assertTrue(all(after - before <= 1 for before, after in zip(levels, levels[1:])))

    def test_prints_with_plots_that_nobody_scrolled_to(self):
        with Browser() as browser:
            browser.open(self.page)
            before = browser.run("return document.querySelectorAll('.chart svg, .chart canvas').length")
            pdf = browser.command("Page.printToPDF", {})["data"]
            browser.settle()
            after = browser.run("return document.querySelectorAll('.chart svg, .chart canvas').length")
            self.assertLess(before, 15)
            self.assertEqual(after, 15)
            self.assertGreater(len(pdf), 100_000)
            self.assertEqual(browser.console(), [])

    # The sections -------------------------------------------------------------------------

    def test_winner(self):
        us, p90, tflops, registers, shared, candidate = self.one(
            "SELECT p50_us, p90_us, tflops, registers, shared_bytes, candidate FROM elite"
            " WHERE run = 1 AND rank = 1")
        default = self.one("SELECT p50_us FROM evaluation WHERE run = 1 AND position = 0"
                           " AND generation = 0")[0]
        rung = self.one("SELECT p50_us FROM evaluation WHERE run = 1 AND milestone IS NOT NULL"
                        " ORDER BY candidate LIMIT 1")[0]
        self.assertEqual(self.text("h1"), f"{us:.2f} µs measured")
        self.assertEqual(self.browser.driver.title,
                         f"sdpa_fp8_mma_h200 on made-up GPU, mission: {us:.2f} µs measured (run 1)")
        tiles = self.text("#winner .tiles")
        for part in (f"{default / us:.2f}×default: {default:.2f} µs", f"{rung / us:.2f}×plain: {rung:.2f} µs",
                     f"{tflops:,.1f} TFLOP/s", f"{p90:.2f} µs", f"{registers} per thread",
                     f"{shared:,} B per CTA"):
            self.assertIn(part, tiles)
        facts = self.text("#winner .facts")
        for part in ("made-up GPU, sm_90, driver made up", "seed 1, check seed 7", "400 evaluated"):
            self.assertIn(part, facts)
        self.assertEqual(self.text("#winner pre code"),
                         "evo-tune --space sdpa_fp8_mma_h200 --device cuda:0 --shape mission"
                         " --generations 100 --children 20 --elite 3 --strategy full --window 32"
                         " --seed 1 --check-seed 7")
        changes = self.rows("winner", "The macros")
        for macro, before, after, _ in changes:
            config = "SELECT config ->> ? FROM candidate WHERE id = ?"
            self.assertEqual(after, str(self.one(config, f"$.{macro}", candidate)[0]))
            self.assertEqual(before, str(self.one(config, f"$.{macro}", 1)[0]))
            self.assertNotEqual(before, after)
        self.assertGreater(len(changes), 3)

    def test_progress(self):
        best, expected = None, []
        query = ("SELECT row_number() OVER (ORDER BY generation, position), p50_us, outcome, candidate"
                 " FROM evaluation WHERE run = 1 ORDER BY generation, position")
        for count, us, outcome, candidate in self.sql.execute(query).fetchall():
            if outcome == "green" and (best is None or us < best):
                best = us
                expected.append([f"{count}", f"{us:.2f}", f"{candidate}"])
        table = self.rows("progress", "Whenever the best")
        self.assertEqual([[row[0], row[2], row[3]] for row in table], expected)
        steps = self.option("progress", 0)[0]["data"]
        self.assertEqual([step[0] for step in steps], [int(row[0]) for row in expected] + [CANDIDATES])
        self.browser.run("document.querySelector('#progress input[value=seconds]').click()")
        seconds = self.option("progress", 0)[0]["data"]
        self.assertEqual([f"{step[0]:.1f}" for step in seconds[:-1]], [row[1] for row in table])
        gates = dict(self.sql.execute(
            "SELECT gate, count(*) FROM evaluation WHERE run = 1 AND outcome = 'rejected'"
            " AND duplicate_of IS NULL GROUP BY gate").fetchall())
        bars = {series["name"]: sum(series["data"]) for series in self.option("progress", 1)}
        for gate, count in gates.items():
            self.assertEqual(bars[f"rejected: {gate}"], count)
        self.assertEqual(sum(bars.values()), CANDIDATES)
        self.assertEqual({row[0]: int(row[1]) for row in self.rows("progress", "Why candidates")}, gates)

    def test_ladder(self):
        stored = self.sql.execute(
            "SELECT CASE outcome WHEN 'green' THEN p50_us END, outcome FROM evaluation"
            " WHERE run = 1 AND milestone IS NOT NULL ORDER BY candidate").fetchall()
        table = self.rows("ladder", "The ladder")
        self.assertEqual([row[2] for row in table],
                         ["–" if us is None else f"{us:.2f}" for us, _ in stored])
        self.assertEqual([row[1] for row in table if row[2] == "–"], ["failed correctness"])
        times = [us for us, _ in stored if us is not None]
        slower = [after >= before for before, after in zip(times, times[1:])]
        self.assertEqual(["valid negative" in row[1] for row in table if row[2] != "–"][1:], slower)
        self.assertIn(True, slower)
        self.assertIn(False, slower)
        hidden, shown = (series["data"][::-1] for series in self.option("ladder", 0))
        bars = [(bar["value"], base) for (us, _), bar, base in zip(stored, shown, hidden) if us]
        for before, after, (bar, base) in zip(times, times[1:], bars[1:]):
            self.assertAlmostEqual(bar, abs(after - before))
            self.assertAlmostEqual(base, min(after, before))

    def test_knobs_are_those_of_evo_elite(self):
        insight = json.loads(program("evo-elite", "--db", self.db, "--run", 1, "insight", "--json"))
        order = [knob["macro"] for knob in insight["knobs"]]
        bars = self.option("knobs", 0)[0]["data"][::-1]
        for bar, knob in zip(bars, insight["knobs"]):
            self.assertAlmostEqual(bar, 100 * knob["importance"])
        table = self.rows("knobs", "Every value")
        self.assertEqual([row[0] for row in table],
                         [knob["macro"] for knob in insight["knobs"] for _ in knob["values"]])
        effects = {(row[0], row[1]): row[2] for row in table}
        value = next(v for v in insight["knobs"][0]["values"] if "effect_percent" in v)
        sign = "−" if value["effect_percent"] < 0 else "+"
        self.assertEqual(effects[(order[0], value["value"])],
                         f"{sign}{abs(value['effect_percent']):.1f} ± {value['half_width_percent']:.1f} %")
        self.assertEqual(len(self.rows("knobs", "Pairs")), len(insight["interactions"]))
        self.assertEqual(len(self.rows("ladder", "Values that ran")), len(insight["negatives"]))

    def test_roofline(self):
        table = dict(self.rows("roofline", "Roofline"))
        us = self.one("SELECT p50_us FROM elite WHERE run = 1 AND rank = 1")[0]
        self.assertEqual(table["FLOP per byte of the problem"], f"{1.07e9 / 2.6e6:.2f}")
        self.assertEqual(table["winner, TFLOP/s"], f"{1.07e9 / us / 1e6:.2f}")
        roof = min(1979, 1.07e9 / 2.6e6 * 4800 / 1e3)
        self.assertEqual(table["roof there, TFLOP/s"], f"{roof:,.2f}")
        points = {series["name"]: series["data"] for series in self.option("roofline", 0)}
        green = self.one("SELECT count(*) FROM evaluation WHERE run = 1 AND outcome = 'green'")[0]
        self.assertEqual(len(points["candidates"]), green)
        self.assertAlmostEqual(points["winner"][0][1], 1.07e9 / us / 1e6)

    def test_resources(self):
        rows = self.sql.execute("SELECT registers, shared_bytes, p50_us FROM evaluation"
                                " WHERE run = 1 AND outcome = 'green' ORDER BY candidate").fetchall()
        registers = self.option("resources", 0)[0]["data"]
        shared = self.option("resources", 1)[0]["data"]
        self.assertEqual([point[0] for point in registers], [row[0] for row in rows])
        self.assertEqual([point[0] for point in shared], [row[1] / 1024 for row in rows])
        self.assertEqual([point[1] for point in registers], [row[2] for row in rows])
        occupied = self.option("resources", 2)[0]["data"]
        self.assertTrue(all(0 <= point[0] <= 100 for point in occupied))
        limits = self.rows("resources", "What limits")
        self.assertEqual(sum(int(row[1]) for row in limits), len(occupied))

    def test_duels_and_drift(self):
        duels = self.sql.execute("SELECT challenger_id, incumbent_id, ratio, ratio_low, ratio_high, pairs"
                                 " FROM confirmation WHERE run_id = 1 ORDER BY id").fetchall()
        table = self.rows("duels", "Duels by")
        self.assertEqual([(int(row[1]), int(row[2]), row[3], row[4], int(row[5])) for row in table],
                         [(a, b, f"{r:.4f}", f"{low:.4f} to {high:.4f}", pairs)
                          for a, b, r, low, high, pairs in duels])
        boxes = [box["value"] for box in self.option("duels", 0)[0]["data"]]
        self.assertEqual(boxes, [[low, low, r, high, high] for _, _, r, low, high, _ in duels][-30:])
        drift = [100 * d for d, in self.sql.execute(
            "SELECT control_drift FROM generation WHERE run_id = 1 ORDER BY number")]
        for shown, stored in zip(self.option("duels", 1)[0]["data"], drift, strict=True):
            self.assertAlmostEqual(shown, stored)

    def test_errors(self):
        winner = self.one("SELECT candidate FROM elite WHERE run = 1 AND rank = 1")[0]
        checks = self.sql.execute("SELECT shape, max(max_abs_error), max(relative_l2) FROM check_result"
                                  " WHERE candidate_id = ? GROUP BY shape", (winner,)).fetchall()
        series = {one["name"]: one["data"] for one in self.option("errors", 0)}
        shapes = [row[0] for row in self.rows("errors", "The winner")]
        self.assertEqual(shapes, ["small", "ragged31", "mission", "allowed on the timed shape"])
        for shape, absolute, relative in checks:
            at = shapes.index(shape)
            self.assertAlmostEqual(series["largest absolute error"][at], 100 * absolute / 0.06)
            self.assertAlmostEqual(series["relative L2 norm"][at], 100 * relative / 0.002)

    def test_policy_source_and_events(self):
        policy = self.one("SELECT count(*) FROM evaluation WHERE run = 1 AND policy_only = 1"
                          " AND duplicate_of IS NULL")[0]
        text = self.text("#policy")
        self.assertIn(f"{policy} of 400 candidates were rejected only by this policy", text)
        self.assertIn("5.00 µs (best under policy) vs 4.80 µs", text)
        self.assertEqual([row[0] for row in self.rows("events", "Events")][-1][-3:], "UTC")
        removed, added = (self.browser.run(
            "return [...document.querySelectorAll(`#source .${arguments[0]}`)].map("
            "line => line.lastChild.previousSibling.textContent)", kind) for kind in ("removed", "added"))
        for macro, before, after, _ in self.rows("winner", "The macros"):
            if before.isdigit() and after.isdigit():
                self.assertIn(f"− #define {macro} {before}", removed)
                self.assertIn(f"+ #define {macro} {after}", added)
        self.assertEqual(len(removed), len(self.rows("winner", "The macros")))
        self.rows("winner", "The macros")
        self.browser.run("document.querySelectorAll('#source details').forEach(b => { b.open = true })")
        self.browser.settle()
        self.assertIn("__global__ void made_up", self.text("#source details pre"))
        self.assertIn('"format": "evo-tune kernel 1"', self.text("#source"))

    # Filters ------------------------------------------------------------------------------

    def shown(self):
        """What passes by the status line, the scatter plot, the lines and the table."""
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
        # A pixel to either side.
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
        self.drag(box, (x, top + 4), (x, (top + bottom) / 2 - 8))  # the upper half: the second word
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

    # Several runs, and runs that lack things --------------------------------------------------

    def test_several_runs_stand_side_by_side(self):
        self.browser.open(self.both)
        self.browser.settle()
        table = self.rows("compare", "sdpa_fp8, shape mission, measured")
        for row in table:
            us = self.one("SELECT p50_us FROM elite WHERE run = ? AND rank = 1", int(row[0]))[0]
            self.assertEqual(row[4], f"{us:.2f}")
        self.assertEqual([row[0] for row in table], ["1", "2"])
        curves = self.option("compare", 0)
        self.assertEqual([curve["name"] for curve in curves], ["run 1", "run 2"])
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('article')].map(a => a.id)"),
                         ["run1", "run2"])
        self.assertEqual(self.browser.console(), [])

    def test_what_a_run_lacks_is_said(self):
        page = Path(self.folder.name) / "red.html"
        red = Path(self.folder.name) / "red.db"
        program("report-database", "--db", red, "--candidates", 30, "--seed", 3)
        with sqlite3.connect(red) as sql:  # as from an earlier version, which stored no seals
            for statement in ("DELETE FROM seal", "DELETE FROM elite_member", "DELETE FROM confirmation",
                              "DELETE FROM timing", "DELETE FROM check_result", "DELETE FROM event",
                              "UPDATE generation SET control_p50_us = NULL, control_drift = NULL",
                              "UPDATE run SET flops_per_launch = 0",
                              "INSERT OR IGNORE INTO rejection SELECT id, 'correctness', 'wrong', '', 0"
                              " FROM candidate WHERE duplicate_of IS NULL"):
                sql.execute(statement)
        program("evo-report", "--db", red, "--out", page, expect=1)
        with Browser() as browser:
            browser.open(page)
            browser.settle()
            sections = browser.run("""return Object.fromEntries([...document.querySelectorAll("section")]
                .map(section => [section.id, section.textContent]));""")
            self.assertEqual(browser.console(), [])
            self.assertEqual(browser.run("return document.querySelector('h1').textContent"), "Nothing is green")
        for section, sentence in {
                "winner": "Nothing is green in this run", "progress": "No candidate was timed",
                "ladder": "valid negative", "knobs": "No candidate was timed", "candidates": "30 of 30",
                "roofline": "does not state the FLOPs", "resources": "No candidate has both",
                "duels": "There are no duels", "errors": "There is no winner",
                "policy": "was not timed", "source": "There is no winner",
                "events": "Nothing else happened"}.items():
            self.assertIn(sentence, sections[section], section)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
