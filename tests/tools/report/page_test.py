"""Tests a report's page as a whole: requests, widths, colours, keyboard, printing, several runs."""

import sqlite3
from pathlib import Path

from report_case import ReportCase, program


class PageTest(ReportCase):
    def test_1_asks_for_nothing_and_says_nothing(self):
        browser = self.opened(self.page)
        browser.picture(Path(self.folder.name) / "whole.png", 1600)
        self.assertEqual(browser.console(), [])
        self.assertEqual(browser.requests(), [])
        # The made-up database contains texts that would run as scripts if they became markup.
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
                         {"winner": 0, "why": 1, "progress": 2, "milestones": 1, "knobs": 2, "candidates": 2,
                          "roofline": 2, "resources": 3, "comparisons": 2, "gpu": 2, "profile": 0, "errors": 1, "policy": 0,
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
        # No level of headings is skipped: after h1 comes h2, not h3.
        levels = self.browser.run("return [...document.querySelectorAll('h1, h2, h3')].map(h => Number(h.tagName[1]))")
        self.assertEqual(levels[0], 1)
        self.assertTrue(all(after - before <= 1 for before, after in zip(levels, levels[1:])))

    def test_tables_sort_by_their_headings_also_by_keyboard(self):
        column = """const table = [...document.querySelectorAll("table")].find(
              one => one.caption.textContent.startsWith("The milestones"));
            return [...table.tBodies[0].rows].map(row => row.cells[arguments[0]].textContent);"""
        press = """const table = [...document.querySelectorAll("table")].find(
              one => one.caption.textContent.startsWith("The milestones"));
            const button = table.tHead.rows[0].cells[arguments[0]].querySelector("button");
            button.focus(); return button;"""
        from selenium.webdriver.common.keys import Keys
        names = self.browser.run(column, 0)
        for key, order in ((Keys.ENTER, "ascending"), (Keys.SPACE, "descending")):
            self.browser.run(press, 0).send_keys(key)
            self.assertEqual(self.browser.run(column, 0), sorted(names, key=str.lower, reverse=order == "descending"))
            self.assertEqual(self.browser.run("return [...document.querySelectorAll('#milestones [aria-sort]')]"
                                              ".map(head => [head.textContent, head.getAttribute('aria-sort')])"),
                             [["milestone", order]])
        self.browser.run(press, 2).send_keys(Keys.ENTER)
        times = [float(us) for us in self.browser.run(column, 2) if us != "–"]
        self.assertEqual(times, sorted(times))
        self.browser.run(press, 2).send_keys(Keys.ENTER)
        self.assertEqual(self.browser.run(column, 2), [f"{us:.2f}" for us in sorted(times, reverse=True)]
                         + ["–"] * (len(names) - len(times)), "missing times stay last")

    def test_nothing_of_a_plot_or_a_caption_is_cut_on_a_phone(self):
        self.browser.resize(390)
        self.browser.run("document.querySelectorAll('details').forEach(box => { box.open = true });"
                         "for (const chart of report.charts) chart.draw();")
        self.browser.settle()
        cut = self.browser.run("""
            const found = [];
            for (const text of document.querySelectorAll(".chart svg text")) {
              const inside = text.closest(".chart").getBoundingClientRect();
              const box = text.getBoundingClientRect();
              if (box.width > 0 && (box.left < inside.left - 1 || box.right > inside.right + 1)) {
                found.push([text.closest("section").id, text.textContent]);
              }
            }
            for (const caption of document.querySelectorAll("caption span")) {
              const box = caption.getBoundingClientRect();
              if (box.right > innerWidth) {
                found.push([caption.closest("section").id, caption.textContent]);
              }
            }
            return found;""")
        self.assertEqual(cut, [])

    def test_prints_with_plots_that_nobody_scrolled_to(self):
        browser = self.opened(self.page)
        before = browser.run("return document.querySelectorAll('.chart svg, .chart canvas').length")
        pdf = browser.command("Page.printToPDF", {})["data"]
        browser.settle()
        after = browser.run("return document.querySelectorAll('.chart svg, .chart canvas').length")
        self.assertLess(before, 18)
        self.assertEqual(after, 18)
        self.assertGreater(len(pdf), 100_000)
        # For printing, each plot is drawn completely at once, not in steps.
        browser.open(self.page)
        points, lines = browser.run("""
            dispatchEvent(new Event("beforeprint"));
            return [...document.querySelectorAll("#candidates .chart svg")]
              .map(svg => svg.querySelectorAll("path, polyline").length);""")
        green = self.one("SELECT count(*) FROM evaluation WHERE run = 1 AND outcome = 'green'")[0]
        self.assertGreater(points, green)
        self.assertGreater(lines, 400)
        browser.run("dispatchEvent(new Event('afterprint'))")
        self.assertEqual(browser.run("return document.querySelectorAll('#candidates svg').length"), 0)
        self.assertEqual(browser.console(), [])

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
        program("report-database", "--db", red, "--candidates", 30, "--seed", 6)
        with sqlite3.connect(red) as sql:
            for statement in ("DELETE FROM elite_member", "DELETE FROM comparison",
                              "DELETE FROM timing", "DELETE FROM check_result", "DELETE FROM event",
                              "UPDATE generation SET control_p50_us = NULL, control_drift = NULL",
                              "UPDATE run SET flops_per_launch = 0",
                              "INSERT OR IGNORE INTO rejection SELECT id, 'correctness', 'wrong', '', 0"
                              " FROM candidate WHERE duplicate_of IS NULL"):
                sql.execute(statement)
        program("evo-report", "--db", red, "--out", page, expect=1)
        browser = self.opened(page)
        browser.settle()
        sections = browser.run("""return Object.fromEntries(
            [...document.querySelectorAll("section")].map(
              section => [section.id, section.textContent]));""")
        self.assertEqual(browser.console(), [])
        self.assertEqual(browser.run("return document.querySelector('h1').textContent"), "Nothing is green")
        for section, sentence in {
                "winner": "Nothing is green in this run", "progress": "No candidate was timed",
                "why": "There is no winner to explain", "milestones": "No milestone is green.", "knobs": "No candidate was timed", "candidates": "30 of 30",
                "roofline": "does not state the FLOPs", "resources": "No candidate has both",
                "comparisons": "There are no A/B comparisons",
                "gpu": "No clocks, power and energy of the GPU are stored", "profile": "No candidate was profiled", "errors": "There is no winner",
                "policy": "Their times are unknown", "source": "There is no winner",
                "events": "There were no other events"}.items():
            self.assertIn(sentence, sections[section], section)

    def test_a_run_without_candidates_is_a_page_too(self):
        db, page = (Path(self.folder.name) / name for name in ("empty.db", "empty.html"))
        program("report-database", "--db", db, "--candidates", 1)
        with sqlite3.connect(db) as sql:
            for table in ("elite_member", "generation", "timing", "check_result", "candidate"):
                sql.execute(f"DELETE FROM {table}")
        program("evo-report", "--db", db, "--out", page, expect=1)
        browser = self.opened(page)
        browser.picture(Path(self.folder.name) / "empty.png", 800)
        self.assertEqual(browser.console(), [])
        self.assertIn("The run evaluated no candidate.", browser.run("return document.body.innerText"))
