"""Tests that every section of a report shows the content of the database."""

import decimal
import json

from report_case import CANDIDATES, ReportCase, program


class SectionsTest(ReportCase):
    fresh = False

    def test_winner(self):
        us, p90, tflops, registers, shared, candidate = self.one(
            "SELECT p50_us, p90_us, tflops, registers, shared_bytes, candidate FROM elite"
            " WHERE run = 1 AND rank = 1")
        default = self.one("SELECT p50_us FROM evaluation WHERE run = 1 AND position = 0"
                           " AND generation = 0")[0]
        step = self.one("SELECT p50_us FROM evaluation WHERE run = 1 AND milestone IS NOT NULL"
                        " ORDER BY candidate LIMIT 1")[0]
        self.assertEqual(self.text("h1"), f"{us:.2f} µs measured")
        self.assertEqual(self.browser.driver.title,
                         f"sdpa_fp8_mma_h200 on made-up GPU, mission: {us:.2f} µs measured (run 1)")
        tiles = self.text("#winner .tiles")
        for part in (f"{default / us:.2f}×default: {default:.2f} µs", f"{step / us:.2f}×plain: {step:.2f} µs",
                     f"{tflops:,.1f} TFLOP/s", f"{p90:.2f} µs", f"{registers} per thread",
                     f"{shared:,} B per CTA",
                     f"2.00×PyTorch <b>2.11</b> cudnn with fp16 inputs: {2 * us:.2f} µs, in turn with candidate {candidate}"):
            self.assertIn(part, tiles)
        facts = self.text("#winner .facts")
        for part in ("made-up GPU, sm_90, driver made up", "seed 1, check seed 7", "400 evaluated"):
            self.assertIn(part, facts)
        self.assertEqual(self.text("#winner pre code"),
                         "evo-tune --space sdpa_fp8_mma_h200 --device cuda:0 --shape mission"
                         " --generations 100 --offspring 20 --elite 3 --strategy full --no-warm-start --max-in-flight 32"
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
        table = self.rows("progress", "Improvements of the best")
        self.assertEqual([[row[0], row[2], row[3]] for row in table], expected)
        steps = self.option("progress", 0)[0]["data"]
        self.assertEqual([step[0] for step in steps], [int(row[0]) for row in expected] + [CANDIDATES])
        self.browser.run("document.querySelector('#progress input[value=seconds]').click()")
        seconds = self.option("progress", 0)[0]["data"]
        # The page rounds 0.15 to 0.2, and Python's format to 0.1, because the float is below 0.15.
        rounded = [decimal.Decimal(str(step[0])).quantize(decimal.Decimal("0.1"), decimal.ROUND_HALF_UP)
                   for step in seconds[:-1]]
        self.assertEqual([str(one) for one in rounded], [row[1] for row in table])
        gates = dict(self.sql.execute(
            "SELECT gate, count(*) FROM evaluation WHERE run = 1 AND outcome = 'rejected'"
            " AND duplicate_of IS NULL GROUP BY gate").fetchall())
        bars = {series["name"]: sum(series["data"]) for series in self.option("progress", 1)}
        for gate, count in gates.items():
            self.assertEqual(bars[f"rejected: {gate}"], count)
        self.assertEqual(sum(bars.values()), CANDIDATES)
        self.assertEqual({row[0]: int(row[1]) for row in self.rows("progress", "Why candidates")}, gates)

    def test_why_it_won(self):
        steps = self.sql.execute(
            "SELECT changes ->> '$[0].macro', changes ->> '$[0].from', changes ->> '$[0].to', ratio,"
            " ratio_low, ratio_high FROM winner_step WHERE run_id = 1 ORDER BY position").fetchall()
        winner = self.one("SELECT p50_us FROM elite WHERE run = 1 AND rank = 1")[0]
        levels = [winner]
        for *_, ratio, _, _ in reversed(steps[1:]):
            levels.append(levels[-1] / ratio)
        levels.reverse()
        table = self.rows("why", "From the default configuration to the winner")
        self.assertEqual([row[2] for row in table], [f"{us:.2f}" for us in levels])
        self.assertEqual([row[1] for row in table[1:]], [f"{m} {a} → {b}" for m, a, b, *_ in steps[1:]])
        hidden, shown = (series["data"][::-1] for series in self.option("why", 0))
        for i in range(1, len(levels)):
            self.assertAlmostEqual(hidden[i], min(levels[i - 1], levels[i]))
            self.assertAlmostEqual(shown[i]["value"], abs(levels[i] - levels[i - 1]))
            low, high = steps[i][4:]
            hollow = low <= 1 <= high
            self.assertEqual(shown[i]["itemStyle"]["color"] == "transparent", hollow)
        self.assertIn(f"{levels[0]:.2f} µs, to the winner, {winner:.2f} µs", self.text("#why"))

    def test_milestones(self):
        stored = self.sql.execute(
            "SELECT milestone, CASE outcome WHEN 'green' THEN p50_us END, config FROM evaluation"
            " WHERE run = 1 AND milestone IS NOT NULL ORDER BY candidate").fetchall()
        table = self.rows("milestones", "The milestones, by their times")
        times = sorted(us for _, us, _ in stored if us is not None)
        self.assertEqual([row[2] for row in table if row[2] != "–"], [f"{us:.2f}" for us in times])
        self.assertEqual({row[0] for row in table}, {name for name, *_ in stored})
        # In such a sequence, each milestone differs from the first one at least in the macros in
        # which the previous milestone differs from the first.
        first, changed, steps = json.loads(stored[0][2]), set(), []
        for name, us, config in stored:
            now = {macro for macro, value in json.loads(config).items() if value != first[macro]}
            if not now >= changed:
                break
            steps.append((name, us))
            changed = now
        self.assertTrue(2 < len(steps) < len(stored))
        self.assertIn(f"The first {len(steps)} of {len(stored)} milestones build on each other", self.text("#milestones"))
        hidden, shown = (series["data"][::-1] for series in self.option("milestones", 0))
        self.assertEqual(len(shown), len(steps) + 1)
        green = [(bar["value"], base, us) for (_, us), bar, base in zip(steps, shown, hidden) if us]
        for (_, _, before), (bar, base, us) in zip(green, green[1:]):
            self.assertAlmostEqual(bar, abs(us - before))
            self.assertAlmostEqual(base, min(us, before))

    def insight(self):
        return json.loads(program("evo-elite", "--db", self.db, "--run", 1, "insight", "--json"))

    def test_knobs_are_those_of_evo_elite(self):
        insight = self.insight()
        overall, near = (series["data"][::-1] for series in self.option("knobs", 0))
        for bar, near_bar, knob in zip(overall, near, insight["knobs"]):
            self.assertAlmostEqual(bar, 100 * knob["importance"])
            self.assertAlmostEqual(near_bar, 100 * knob["near_importance"])
        values = [value for knob in insight["knobs"] for value in knob["values"]]
        table = self.rows("knobs", "Every value")
        self.assertEqual([row[:2] for row in table], [[value["macro"], value["value"]] for value in values])
        self.assertEqual([row[3] for row in table], [str(value["pairs"]) for value in values])
        boxes = [box["value"] for box in self.option("knobs", 1)[0]["data"]][::-1]
        with_pairs = [value for value in values if value["pairs"] > 0]
        self.assertEqual(len(boxes), min(30, len(with_pairs)))
        for box, value in zip(boxes, with_pairs):
            middle = value.get("in_winner_percent", value["effect_percent"])
            for drawn, figure in zip(box, (value["low_percent"], value["low_percent"], middle)):
                self.assertAlmostEqual(drawn, figure)
        self.assertEqual(len(self.rows("milestones", "Values that make")), len(insight["negatives"]))
        self.assertIn(f"among the {insight['near_runs']} candidates within twice its time",
                      self.text("#knobs"))
        self.assertNotIn("surely", self.browser.run("return document.querySelector('main').innerText"))

    def test_of_a_value_no_more_is_said_than_pairs_show(self):
        insight = self.insight()
        rows = {(row[0], row[1]): row[2] for row in self.rows("knobs", "Every value")}
        best = {knob["macro"]: knob["best"] for knob in insight["knobs"]}
        seen = set()
        for value in (value for knob in insight["knobs"] for value in knob["values"]):
            said = rows[(value["macro"], value["value"])]
            if best[value["macro"]] == value["value"]:
                self.assertEqual(said, "the winner's")
            elif value["pairs"] == 0:
                self.assertNotRegex(said, "slower|faster|same|%")
                seen.add("untried")
            elif "in_winner_percent" in value:
                beyond = abs(value["in_winner_percent"]) > 2.0
                word = ("slower" if value["in_winner_percent"] > 0 else "faster") if beyond else "the same within 2 %"
                self.assertIn(f"in the winner: {word}", said)
                seen.add("winner")
            else:
                self.assertNotRegex(said, "slower|faster|same")
                self.assertIn("the winner not among them", said)
                seen.add("beside")
        self.assertLessEqual({"untried", "winner"}, seen)
        untried = {(macro, value["value"]) for knob in insight["knobs"] for value in knob["values"]
                   for macro in [knob["macro"]] if value["pairs"] == 0 and value["runs"] > 0
                   and value["value"] != knob["best"] and "failed_in_winner" not in value}
        note = self.text("#knobs > .note:nth-of-type(3)") if untried else ""
        for macro, value in untried:
            self.assertIn(macro, note)

    def test_ties_of_comparisons_are_not_painted_as_decided(self):
        verdicts = [row[0] for row in self.sql.execute(
            "SELECT verdict FROM comparison WHERE run_id = 1 ORDER BY id").fetchall()][-30:]
        colours = [box["itemStyle"]["color"] for box in self.option("comparisons", 0)[0]["data"]]
        by_verdict = {}
        for verdict, colour in zip(verdicts, colours):
            by_verdict.setdefault(verdict, set()).add(colour)
        self.assertIn("tie", by_verdict)
        self.assertGreater(len(by_verdict), 1)
        for verdict, painted in by_verdict.items():
            self.assertEqual(painted == {"transparent"}, verdict == "tie", verdict)

    def test_roofline(self):
        table = dict(self.rows("roofline", "Roofline"))
        us = self.one("SELECT p50_us FROM elite WHERE run = 1 AND rank = 1")[0]
        self.assertEqual(table["FLOP per byte of the problem"], f"{1.07e9 / 2.6e6:.2f}")
        self.assertEqual(table["winner, TFLOP/s"], f"{1.07e9 / us / 1e6:.2f}")
        roof = min(1979, 1.07e9 / 2.6e6 * 4800 / 1e3)
        self.assertEqual(table["roof there, TFLOP/s"], f"{roof:,.2f}")
        points = {series["name"]: series["data"] for series in self.option("roofline", 1)}
        green = self.one("SELECT count(*) FROM evaluation WHERE run = 1 AND outcome = 'green'")[0]
        self.assertEqual(len(points["candidates"]), green)
        self.assertAlmostEqual(points["winner"][0][1], 1.07e9 / us / 1e6)
        limits = {row[0]: row[1] for row in self.rows("roofline", "The winner's limits")}
        self.assertEqual(limits["MUFU and conversions"], "71.0")
        self.assertEqual(limits["arithmetic (useful FLOPs)"], f"{100 * 1.07e9 / us / 1e6 / 1979:.1f}")
        self.assertIn("The winner is limited by MUFU and conversions: 71.0 %", self.text("#roofline .note"))
        drawn = self.option("roofline", 0)[0]["data"]
        self.assertEqual(sum(bar["value"] >= 60 for bar in drawn), 1)

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

    def test_comparisons_and_drift(self):
        comparisons = self.sql.execute("SELECT challenger_id, incumbent_id, ratio, ratio_low, ratio_high, pairs"
                                 " FROM comparison WHERE run_id = 1 ORDER BY id").fetchall()
        table = self.rows("comparisons", "A/B comparisons")
        self.assertEqual([(int(row[1]), int(row[2]), row[3], row[4], int(row[5])) for row in table],
                         [(a, b, f"{r:.4f}", f"{low:.4f} to {high:.4f}", pairs)
                          for a, b, r, low, high, pairs in comparisons])
        boxes = [box["value"] for box in self.option("comparisons", 0)[0]["data"]]
        self.assertEqual(boxes, [[low, low, r, high, high] for _, _, r, low, high, _ in comparisons][-30:])
        drift = [100 * d for d, in self.sql.execute(
            "SELECT control_drift FROM generation WHERE run_id = 1 ORDER BY number")]
        for shown, stored in zip(self.option("comparisons", 1)[0]["data"], drift, strict=True):
            self.assertAlmostEqual(shown, stored)

    def test_gpu(self):
        timed, discarded = self.one("SELECT count(*), sum(discarded) FROM gpu_state")
        text = self.text("#gpu")
        self.assertIn(f"queried in {timed} timings: 1 timing was made on a GPU that stayed throttled;"
                      f" 1 while another process was on it; {discarded} samples were taken again", text)
        clocks = {series["name"]: series["data"] for series in self.option("gpu", 0)}
        self.assertEqual(len(clocks["SM clock, median"]), timed)
        self.assertEqual({point[1] for point in clocks["SM clock, least"]}, {1500})
        self.assertEqual({point[1] for point in clocks["power"]}, {500})
        front = []
        for candidate, us, mj in self.sql.execute(
                "SELECT t.candidate_id, t.p50_us, e.launch_mj FROM timing t JOIN energy e USING (candidate_id)"
                " JOIN evaluation v ON v.candidate = t.candidate_id WHERE v.outcome = 'green' ORDER BY 2, 3"):
            if not front or mj < front[-1][2]:
                front.append((candidate, us, mj))
        self.assertGreater(len(front), 3)
        table = self.rows("gpu", "The Pareto front")
        self.assertEqual([row[:3] for row in table],
                         [[str(candidate), f"{us:.2f}", f"{mj:.3f}"] for candidate, us, mj in front])
        self.assertEqual(len(self.option("gpu", 1)[1]["data"]), len(front))
        row = self.rows("gpu", "The GPU while")[0]
        self.assertEqual(row, ["1", "1,980", "1,500", "40", "500", "12", "power cap", "yes", ""])
        self.assertEqual(self.rows("profile", "The profiler's metrics"), [["1", "yes", "61.25"]])
        self.assertIn("Required: tensor >= 50. Counted by ncu 2026 (measured).", self.text("#profile"))

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
