"""Tests that reports of real runs (tests/recorded/report) show the content of their databases."""

import gzip
import json
import sqlite3
from pathlib import Path

from report_case import SOURCES, ReportCase, program

PREDICTED = "PREDICTED"


class RecordedTest(ReportCase):
    def setUp(self):
        self.browser.resize(1600)

    def test_every_recorded_run(self):
        packed = sorted((SOURCES / "tests" / "recorded" / "report").glob("*.db.gz"))
        self.assertGreater(len(packed), 0)
        for file in packed:
            with self.subTest(file.name):
                self.expect_report(file)

    def expect_report(self, packed):
        db = Path(self.folder.name) / packed.name.removesuffix(".gz")
        db.write_bytes(gzip.decompress(packed.read_bytes()))
        page = db.with_suffix(".html")
        program("evo-report", "--db", db, "--out", page)
        sql = sqlite3.connect(db)
        self.opened(page)
        self.browser.picture(page.with_suffix(".png"), 1600)
        self.assertEqual(self.browser.requests(), [])
        self.expect_sections(sql)
        for width in (400, 1600):
            self.browser.resize(width)
            self.browser.settle()
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)
        self.assertEqual(self.browser.console(), [])
        sql.close()

    def expect_sections(self, sql):
        run, winner, us, kind, registers = sql.execute(
            "SELECT run, candidate, p50_us, kind, registers FROM elite WHERE rank = 1"
            " ORDER BY run DESC").fetchone()
        seed, driver = sql.execute("SELECT seed, driver FROM run JOIN device ON device.id = device_id"
                                   " WHERE run.id = ?", (run,)).fetchone()
        word = PREDICTED if kind == "predicted" else "measured"
        self.assertEqual(self.text("h1"), f"{us:.2f} µs {word}")
        self.assertIn(f"{us:.2f} µs {word} (run {run})", self.browser.driver.title)
        self.assertIn(f"{registers} per thread", self.text("#winner .tiles"))
        self.assertIn(f"seed {seed}", self.text("#winner"))
        self.assertIn(f"driver {driver}", self.text("#winner"))
        self.assertRegex(self.text("#winner .tiles"), r"over the default[\d.]+×")

        rows = sql.execute("SELECT outcome, p50_us, registers, milestone, duplicate_of FROM evaluation WHERE run = ?"
                           " ORDER BY generation, position", (run,)).fetchall()
        green = [row for row in rows if row[0] == "green"]
        best = self.option("progress", 0)[0]["data"]
        self.assertEqual(best[-1], [len(rows), min(row[1] for row in green)])
        self.assertEqual(sum(sum(bar["data"]) for bar in self.option("progress", 1)), len(rows))
        self.assertEqual({row[0] for row in self.rows("milestones", "The milestones")},
                         {row[3] for row in rows if row[3]})
        self.expect_ways(sql, run, winner, us)
        self.assertGreater(len(self.option("knobs", 0)[0]["data"]), 3)
        self.assertGreater(len(self.rows("knobs", "Every value")), 10)
        points, winners = self.option("candidates", 0)
        self.assertEqual(sorted(point[:2] for point in points["data"]),
                         sorted([row[2], row[1]] for row in green))
        self.assertEqual([point[:2] for point in winners["data"]][0], [registers, us])
        self.assertEqual(len(self.option("candidates", 1)[0]["data"]), len(rows))
        self.assertIn("of it", self.text("#roofline"))
        self.assertIn("No known limit explains this time", self.text("#roofline .note"))
        if kind == "predicted":
            limits = {row[0]: row[2] for row in self.rows("roofline", "The winner's limits")}
            self.assertEqual(limits["MUFU and conversions"], "the time model, PREDICTED")
        self.assertEqual(len(self.option("resources", 0)[0]["data"]), len(green))
        # The database has no manifest of a duplicate, so the plot leaves out duplicates.
        self.assertEqual(len(self.option("resources", 2)[0]["data"]),
                         sum(row[4] is None for row in green))
        comparisons = sql.execute("SELECT count(*) FROM comparison WHERE run_id = ?", (run,)).fetchone()[0]
        if comparisons:
            self.assertEqual(len(self.rows("comparisons", "A/B comparisons")), comparisons)
        else:
            self.assertIn("There are no A/B comparisons", self.text("#comparisons"))
        shapes = sql.execute("SELECT count(DISTINCT shape) FROM check_result WHERE candidate_id = ?",
                             (winner,)).fetchone()[0]
        self.assertEqual(len(self.rows("errors", "The winner's largest")), shapes + 1)
        self.assertGreater(len(self.text("#source .diff")), 100)
        self.browser.run("document.querySelectorAll('#source details').forEach(b => { b.open = true })")
        self.browser.settle()
        self.assertIn("evo-tune kernel 1", self.text("#source"))
        # Hides an outcome. A duplicate has the outcome of the first candidate with the same kernel.
        self.browser.run("document.querySelector('[data-dimension=\"outcome\"] input').click()")
        self.browser.settle()
        first = rows[0][0]
        self.assertEqual(int(self.text("#candidates .status").split()[0].replace(",", "")),
                         sum(row[0] != first for row in rows))

    def expect_ways(self, sql, run, winner, us):
        starts = [row[0] for row in sql.execute(
            "SELECT DISTINCT start FROM winner_step WHERE run_id = ? ORDER BY start", (run,)).fetchall()]
        if not starts:
            self.assertIn("Not measured: evo-tune did not time the steps", self.text("#why"))
            return
        self.assertEqual(starts, ["default", "plain"])
        for start in starts:
            steps = sql.execute("SELECT ratio, changes, winner_id, config FROM winner_step WHERE run_id = ?"
                                " AND start = ? ORDER BY position", (run, start)).fetchall()
            self.assertEqual({step[2] for step in steps}, {winner})
            name = "the default configuration" if start == "default" else f"the milestone {start}"
            table = self.rows("why", f"From {name} to the winner")
            self.assertEqual(len(table), len(steps))
            self.assertEqual(table[-1][2], f"{us:.2f}")
            # The steps change each macro in which the start differs from the winner, once.
            first, last = (json.loads(steps[i][3]) for i in (0, -1))
            changed = [change["macro"] for step in steps for change in json.loads(step[1])]
            self.assertEqual(sorted(changed), sorted(m for m in last if first[m] != last[m]))
            self.assertEqual(last, json.loads(sql.execute(
                "SELECT config FROM candidate WHERE id = ?", (winner,)).fetchone()[0]))
