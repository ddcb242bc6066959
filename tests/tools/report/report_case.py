"""The base class of tests that open reports of made-up runs in headless Chromium."""

import functools
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


# Adds data of a run on a GPU, which report-database does not make.
GPU = """
INSERT INTO gpu_state (candidate_id, looks, sm_clock_min_mhz, sm_clock_median_mhz,
  temperature_c, power_w, slowdowns, discarded, throttled, others)
SELECT candidate_id, 3, 1500, 1980, 40, 500, iif(candidate_id = 1, '["power cap"]', '[]'),
  iif(candidate_id = 1, 12, 0), candidate_id = 1, iif(candidate_id = 2, '["4711 (python3)"]', '[]')
FROM timing WHERE candidate_id <= 400;
INSERT INTO energy (candidate_id, complete, launch_mj, power_w, window_s, launches)
SELECT candidate_id, 0, 20 - p50_us + candidate_id % 3, 400, 0.2, 100 FROM timing
WHERE candidate_id <= 400;
INSERT INTO profile (candidate_id, kind, tool, require, passed)
VALUES (1, 'measured', 'ncu 2026', 'tensor >= 50', 1);
INSERT INTO profile_metric (candidate_id, name, metric, value, unit)
VALUES (1, 'tensor', 'sm__pipe_tensor', 61.25, '%');
INSERT INTO vendor_time (run_id, name, starts_from, p50_us, candidate_id,
  ratio, ratio_low, ratio_high)
SELECT run, 'PyTorch <b>2.11</b> cudnn', 'fp16', 2 * p50_us, candidate, 2, 1.9, 2.1 FROM elite
WHERE run = 1 AND rank = 1;
"""


class Stage:
    """A database of made-up runs, their reports and a browser, which all tests share."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        folder = Path(self.folder.name)
        self.db = folder / "evo.db"
        for seed in (1, 2):
            program("report-database", "--db", self.db, "--candidates", CANDIDATES,
                    "--generation", 20, "--seed", seed)
        self.sql = sqlite3.connect(self.db)
        self.sql.executescript(GPU)
        self.page = folder / "report.html"
        program("evo-report", "--db", self.db, "--run", 1, "--out", self.page)
        self.both = folder / "both.html"
        program("evo-report", "--db", self.db, "--run", 1, 2, "--out", self.both)
        self.browser = Browser()


@functools.cache
def stage():
    return Stage()


def close_all():
    stage().browser.driver.quit()
    stage().sql.close()
    stage().folder.cleanup()


class ReportCase(unittest.TestCase):
    fresh = True  # True: every test gets a freshly opened page

    @classmethod
    def setUpClass(cls):
        for name in ("folder", "db", "sql", "page", "both", "browser"):
            setattr(cls, name, getattr(stage(), name))

    def setUp(self):
        self.browser.resize(1600)
        self.browser.colours("light")
        if self.fresh or self.browser.driver.current_url != self.page.resolve().as_uri():
            self.browser.open(self.page)

    def opened(self, page):
        """Opens a page in the browser, after clearing its earlier console messages and requests."""
        self.browser.console()
        self.browser.requests()
        self.browser.open(page)
        return self.browser

    def altered(self, change, page=None):
        """Opens a copy of a report after `change` has changed the data of its first run."""
        text = (page or self.page).read_text()
        begin = text.index('id="data">') + len('id="data">')
        end = text.index("</script>", begin)
        data = json.loads(text[begin:end])
        change(data["runs"][0])
        made = Path(self.folder.name) / "altered.html"
        made.write_text(text[:begin] + json.dumps(data).replace("<", "\\u003c") + text[end:])
        browser = self.opened(made)
        self.assertEqual(browser.console(), [])
        return browser

    # Functions that read the content of the page ---------------------------------------------

    def one(self, query, *values):
        return self.sql.execute(query, values).fetchone()

    def text(self, selector):
        return self.browser.run("return document.querySelector(arguments[0]).textContent", selector)

    def rows(self, section, caption):
        """The texts in the body of the table in `section` whose caption begins with `caption`."""
        self.browser.run("document.getElementById(arguments[0]).querySelectorAll('details')"
                         ".forEach(box => { box.open = true; })", section)
        self.browser.wait("return [...document.getElementById(arguments[0]).querySelectorAll('details')]"
                          ".every(box => box.childElementCount > 1)", section)
        found = self.browser.run("""
            return [...document.getElementById(arguments[0]).querySelectorAll("table")]
              .filter(table => table.caption.textContent.startsWith(arguments[1]))
              .map(table => [...table.tBodies[0].rows].map(
                row => [...row.cells].map(cell => cell.textContent)));""", section, caption)
        self.assertEqual(len(found), 1, f"tables '{caption}' in {section}")
        return found[0]

    def option(self, section, place):
        """The data series of plot number `place` (from 0) of a section, as ECharts has them."""
        self.browser.run("document.getElementById(arguments[0]).querySelectorAll('.chart')"
                         "[arguments[1]].scrollIntoView({block: 'center', behavior: 'instant'})",
                         section, place)
        self.browser.wait("return !!echarts.getInstanceByDom(document.getElementById(arguments[0])"
                          ".querySelectorAll('.chart')[arguments[1]])", section, place)
        self.browser.settle()
        return self.browser.run("""
            const charts = document.getElementById(arguments[0]).querySelectorAll(".chart");
            const box = charts[arguments[1]];
            return JSON.parse(JSON.stringify(echarts.getInstanceByDom(box).getOption().series));""",
                                section, place)

    def drawn(self, section, place):
        """True if plot number `place` (from 0) of a section shows more than an empty area."""
        self.option(section, place)
        return self.browser.run("""
            const charts = document.getElementById(arguments[0]).querySelectorAll(".chart");
            const box = charts[arguments[1]];
            const svg = box.querySelector("svg");
            if (svg) return svg.querySelectorAll("path").length > 5;
            const canvas = box.querySelector("canvas");
            const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const colours = new Set();
            for (let i = 0; i < data.length; i += 4) {
              if (data[i + 3] > 0) colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
            }
            return colours.size > 5;""", section, place)
