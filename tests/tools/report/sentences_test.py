"""Tests that sentences of a report appear only if they are true for the run."""

from report_case import ReportCase


def step(changes, ratio, level, low=None, high=None, pairs=60, note=""):
    return {"changes": [dict(zip(("macro", "from", "to"), change)) for change in changes], "level_us": level,
            "p50_us": level, "ratio": ratio, "ratio_low": low or ratio, "ratio_high": high or ratio,
            "pairs": pairs, "note": note, "config": {}}


def way(*steps, start="default", timed="A/B pairs"):
    return {"start": start, "winner": 1, "timed": timed, "steps": [step([], 1, 10, pairs=0), *steps]}


def value(name, pairs=0, **more):
    return {"macro": "A", "value": name, "runs": 3, "failures": {}, "allowed_in_winner": True, "pairs": pairs,
            **({"effect_percent": 9, "low_percent": 8, "high_percent": 10} if pairs else {}), **more}


class SentencesTest(ReportCase):
    fresh = False

    def said(self, section, change):
        """The text of a section, with its tables, in a report whose data `change` has changed."""
        browser = self.altered(change)
        browser.run("document.getElementById(arguments[0]).querySelectorAll('details')"
                    ".forEach(box => { box.open = true; })", section)
        browser.settle()
        return browser.run("return document.getElementById(arguments[0]).textContent", section)

    def expect(self, section, sentence, holds, fails):
        """Expects the sentence if `holds` changes the data, but not if `fails` changes them."""
        self.assertIn(sentence, self.said(section, holds))
        self.assertNotIn(sentence, self.said(section, fails))

    # Why the winner won -------------------------------------------------------------------

    def ways(self, *ways, **more):
        return lambda run: run.update({"ways": list(ways), "why_no_ways": None, **more})

    def test_of_steps_that_nobody_timed_it_says_so(self):
        self.expect("why", "Not measured: the run was out of time.",
                    lambda run: run.update({"ways": [], "why_no_ways": "the run was out of time"}),
                    self.ways(way(step([("A", "1", "2")], 0.5, 5))))

    def test_a_default_that_wins_needs_no_step(self):
        self.expect("why", "The winner is the default configuration: no step leads to it.",
                    self.ways(way()), self.ways(way(step([("A", "1", "2")], 0.5, 5))))

    def test_predicted_steps_are_called_so(self):
        predicted = step([("A", "1", "2")], 0.5, 5, pairs=0)

        def predict(run):
            run.update({"ways": [way(predicted, timed="PREDICTED times")]})
            run["device"]["kind"] = "predicted"

        self.expect("why", "Each time is PREDICTED.", predict, self.ways(way(predicted)))
        self.expect("why", "Steps were timed by A/B pairs", self.ways(way(predicted)), predict)

    def test_the_steps_that_gain_most_are_named(self):
        large, small = step([("A", "1", "2")], 0.5, 5), step([("B", "1", "2")], 0.95, 4.75)
        sentence = "These make at least two thirds of what the faster steps gain: A 1 → 2 (−50.0 %)."
        self.expect("why", sentence, self.ways(way(large, small)),
                    self.ways(way(step([("A", "1", "2")], 0.9, 9), step([("B", "1", "2")], 0.9, 8.1))))
        doubtful = step([("A", "1", "2")], 0.99, 9.9, low=0.97, high=1.01)
        self.expect("why", "No single step certainly made it faster.", self.ways(way(doubtful)),
                    self.ways(way(doubtful, large)))

    def test_slower_steps_and_those_without_a_difference_are_told(self):
        slower = step([("C", "x", "y")], 1.1, 5.5, low=1.08, high=1.12)
        large = step([("A", "1", "2")], 0.5, 5)
        doubtful = step([("D", "x", "y")], 1.01, 5.5, low=0.99, high=1.03)
        self.expect("why", "These made it slower at their places: C x → y (+10.0 %).",
                    self.ways(way(large, slower)), self.ways(way(large, doubtful)))
        self.expect("why", "1 step made no detectable difference.",
                    self.ways(way(large, doubtful)), self.ways(way(large, slower)))
        # Without A/B pairs, a difference of 1.5 % may be the scatter of two separate measurements.
        self.expect("why", "1 step made no detectable difference.",
                    self.ways(way(large, step([("D", "x", "y")], 1.015, 5.1, pairs=0))),
                    self.ways(way(large, step([("D", "x", "y")], 1.03, 5.1, pairs=0))))

    def test_macros_that_change_together_say_why(self):
        together = step([("A", "1", "2"), ("B", "1", "2")], 0.5, 5, note="the space requires A == B")
        self.expect("why", "the space requires A == B", self.ways(way(together)),
                    self.ways(way(step([("A", "1", "2")], 0.5, 5))))

    def test_kernels_that_were_not_checked_are_told(self):
        self.expect("why", "There was no time to check 1 kernel on the way.",
                    self.ways(way(step([("A", "1", "2")], 0.5, 5, note="not checked: the time limit was reached"))),
                    self.ways(way(step([("A", "1", "2")], 0.5, 5))))

    # Milestones ---------------------------------------------------------------------------

    @staticmethod
    def milestones(*builds, times=(30, 20, 10, 5)):
        def change(run):
            before = None
            run["milestones"] = []
            for i, build in enumerate(builds):
                us = times[i]
                run["milestones"].append({
                    "milestone": f"m{i}", "candidate": i + 1, "duplicate_of": None, "p50_us": us,
                    "builds_on_before": build, "speedup": before / us if before and us else None,
                    "gate": None if us else "resource", "reason": None if us else "too large"})
                before = us or before
        return change

    def test_milestones_are_a_sequence_where_each_builds_on_the_one_before(self):
        milestones = self.milestones(True, True, True, True)
        partly = self.milestones(True, True, True, False)
        none = self.milestones(True, False, True, False)
        self.expect("milestones", "Each milestone keeps the changes", milestones, partly)
        self.expect("milestones", "The first 3 of 4 milestones build on each other", partly, none)
        self.expect("milestones", "These milestones do not extend each other", none, milestones)
        self.altered(none)
        self.assertEqual(self.browser.run("return document.querySelectorAll('#milestones .chart').length"), 0)
        few = self.milestones(True, True, True, True, times=(30, 20, None, None))
        self.expect("milestones", "Fewer than three of the milestones that build on one another are green", few, milestones)
        none_green = self.milestones(True, False, True, times=(None, None, None))
        self.expect("milestones", "No milestone is green.", none_green, none)
        self.expect("milestones", "names no milestones", lambda run: run.update({"milestones": []}), milestones)

    def test_a_milestone_is_called_no_faster_only_where_its_time_says_so(self):
        self.expect("milestones", "no faster than the previous milestone",
                    self.milestones(True, True, True, times=(30, 20, 21)),
                    self.milestones(True, True, True, times=(30, 20, 19)))
        # Separately measured times of the same kernel may differ by 1 %.
        self.expect("milestones", "no faster than the previous milestone",
                    self.milestones(True, True, True, times=(30, 20, 19.8)),
                    self.milestones(True, True, True, times=(30, 20, 19.5)))
        # Milestones that do not extend each other are not compared with a previous milestone.
        self.expect("milestones", "no faster than the previous milestone",
                    self.milestones(True, True, True, times=(30, 20, 21)),
                    self.milestones(True, False, True, times=(30, 20, 21)))

    def test_valid_negatives_were_tried_in_the_winner(self):
        negative = value("2", 1, in_winner_percent=9, verdict="slower")
        self.expect("milestones", "Valid negatives: 1 value tried in the winner and no faster",
                    lambda run: run["insight"].update({"negatives": [negative]}),
                    lambda run: run["insight"].update({"negatives": []}))
        self.expect("milestones", "There are no valid negatives: no value that was tried in the winner",
                    lambda run: run["insight"].update({"negatives": []}),
                    lambda run: run["insight"].update({"negatives": [negative]}))

    # Knobs --------------------------------------------------------------------------------

    @staticmethod
    def knob(*values, near=0.4, **more):
        def change(run):
            run["insight"].update({"near_explained": 0.5 if near is not None else None, "near_runs": 7, "interactions": [],
                                   "knobs": [{"macro": "A", "best": "1", "importance": 0.6, "near_importance": near,
                                              "values": [value("1"), *values]}], **more})
        return change

    def test_an_effect_is_claimed_of_the_winner_only_where_it_was_tried(self):
        slower = value("2", 3, in_winner_percent=9, verdict="slower")
        beside = value("2", 3, verdict="untried")
        self.expect("knobs", "+9.0 % in the winner: slower", self.knob(slower), self.knob(beside))
        self.expect("knobs", "the winner not among them", self.knob(beside), self.knob(slower))
        self.expect("knobs", "in the winner: the same within 2 %",
                    self.knob(value("2", 1, in_winner_percent=1, verdict="same")), self.knob(slower))
        self.expect("knobs", "in the winner: faster",
                    self.knob(value("2", 1, in_winner_percent=-9, verdict="faster")), self.knob(slower))

    def test_colours_are_those_of_claims(self):
        def colours(*values):
            self.altered(self.knob(*values))
            return [box["itemStyle"]["color"] for box in self.option("knobs", 1)[0]["data"]]
        self.assertEqual(colours(value("2", 3, verdict="untried")), ["transparent"])
        self.assertEqual(colours(value("2", 3, in_winner_percent=1, verdict="same")), ["transparent"])
        slower = colours(value("2", 3, in_winner_percent=9, verdict="slower"))
        faster = colours(value("2", 3, in_winner_percent=-9, verdict="faster"))
        self.assertEqual(len({"transparent", *slower, *faster}), 3)

    def test_what_was_not_tried_near_the_winner_is_listed(self):
        untried, tried = value("2"), value("2", 1, in_winner_percent=9, verdict="slower")
        self.expect("knobs", "Not tried near the winner, so their effect is unknown: A 2.",
                    self.knob(untried), self.knob(tried))
        self.expect("knobs", "Every value that ran was tried near the winner.", self.knob(tried), self.knob(untried))
        self.expect("knobs", "not tried near the winner, the space forbids it in the winner",
                    self.knob(value("2", allowed_in_winner=False)), self.knob(untried))
        self.expect("knobs", "in the winner it failed the resource gate",
                    self.knob(value("2", failed_in_winner="resource")), self.knob(untried))
        self.expect("knobs", "never passed", self.knob(value("2", runs=0)), self.knob(untried))
        self.expect("knobs", "No two candidates near the winner differ in one macro only",
                    self.knob(untried), self.knob(tried))

    def test_importance_near_the_winner_takes_enough_candidates(self):
        self.expect("knobs", "Only 7 candidates ran within twice the winner's time",
                    self.knob(value("2"), near=None), self.knob(value("2")))
        self.expect("knobs", "the same among the 7 candidates within twice its time",
                    self.knob(value("2")), self.knob(value("2"), near=None))

    def test_pairs_of_values_are_told_where_squares_show_them(self):
        pair = {"settings": [{"macro": "A", "value": "2"}, {"macro": "B", "value": "3"}], "squares": 2,
                "effect_percent": -20, "low_percent": -22, "high_percent": -18}
        self.expect("knobs", "1 pair of values with a joint effect",
                    self.knob(interactions=[pair]), self.knob())
        self.expect("knobs", "No joint effect of two macros was found",
                    self.knob(), self.knob(interactions=[pair]))

    # Limits -------------------------------------------------------------------------------

    @staticmethod
    def units(**more):
        def change(run):
            run.update({"profiles": [], "units": {}, "flops_per_launch": 0, "bytes_per_launch": 0, **more})
        return change

    def test_nothing_limits_a_kernel_that_is_far_from_all_limits(self):
        tensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"
        near, far = self.units(units={tensor: 60}), self.units(units={tensor: 59.9})
        self.expect("roofline", "The winner is limited by tensor cores: 60.0 %", near, far)
        self.expect("roofline", "No known limit explains this time", far, near)
        self.expect("roofline", "No limit of this kernel is known.", self.units(), far)

    def test_units_that_nobody_counted_are_named(self):
        tensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"
        every = {tensor: 1, "sm__inst_executed_pipe_xu.x": 1, "l1tex__x": 1, "dram__x": 1}
        self.expect("roofline", "Not known: how busy MUFU and conversions, shared memory and L1, DRAM are",
                    self.units(units={tensor: 1}), self.units(units=every))

    def test_a_counted_unit_stands_before_a_predicted_one(self):
        def profiled(run):
            self.units(units={"dram__throughput.avg.pct_of_peak_sustained_elapsed": 10})(run)
            run["profiles"] = [{"candidate": run["winner"]["candidate"], "kind": "measured", "tool": "ncu 1",
                                "require": "", "passed": True, "metrics": {"d": {
                                    "metric": "dram__throughput.avg.pct_of_peak_sustained_elapsed", "value": 80, "unit": "%"}}}]
        self.expect("roofline", "limited by DRAM: 80.0 % of what is possible (ncu 1)", profiled,
                    self.units(units={"dram__throughput.avg.pct_of_peak_sustained_elapsed": 10}))

    def test_sms_without_work_are_counted(self):
        def launch(ctas, each):
            def change(run):
                at = run["candidates"]["columns"]["id"].index(run["winner"]["candidate"])
                run["candidates"]["columns"]["ctas"][at] = ctas
                run["candidates"]["columns"]["ctas_per_sm"][at] = each
            return change
        self.expect("roofline", "4 SMs of 132 have nothing to do.", launch(128, 1), launch(132, 1))
        self.expect("roofline", "one wave", launch(264, 2), launch(265, 2))
        self.expect("roofline", "A launch has", launch(264, 2), launch(None, None))

    # A/B comparisons and other sections -------------------------------------------------

    def test_what_the_policy_cost(self):
        def policy(count):
            return lambda run: run["summary"].update({"policy_only": count})
        self.expect("policy", "It cost nothing", policy(0), policy(3))
        self.expect("policy", "3 of 400 candidates were rejected only by this policy", policy(3), policy(0))

    def test_a_gpu_that_was_never_throttled(self):
        def gpu(throttled, others):
            def change(run):
                run["gpu"] = [{**run["gpu"][0], "throttled": throttled, "others": others, "discarded": 0}]
            return change
        self.expect("gpu", "it was never throttled (reaching its power cap does not count), "
                    "and no other process used it", gpu(False, []), gpu(True, []))
        self.expect("gpu", "while another process was on it", gpu(False, ["4711 (x)"]), gpu(False, []))

    def test_nothing_else_happened(self):
        self.expect("events", "There were no other events", lambda run: run.update({"events": []}), lambda run: None)

    def test_reasons_of_rejections(self):
        self.expect("progress", "No candidate was rejected.",
                    lambda run: run["summary"].update({"groups": []}), lambda run: None)
        self.expect("progress", "No candidate was timed",
                    lambda run: run["candidates"].update({"best": []}), lambda run: None)

    def test_comparisons_and_drift_that_there_are_not(self):
        def predict(run):
            run.update({"comparisons": [], "control": []})
            run["device"]["kind"] = "predicted"
        self.expect("comparisons", "no candidate came close enough to the elite",
                    lambda run: run.update({"comparisons": []}), lambda run: None)
        self.expect("comparisons", "predicted times do not vary", predict, lambda run: run.update({"comparisons": []}))
        self.expect("comparisons", "its drift is unknown", lambda run: run.update({"control": []}), lambda run: None)
        self.expect("comparisons", "predicted times are reproducible", predict,
                    lambda run: run.update({"control": []}))

    def test_the_winner_that_is_the_default(self):
        self.expect("winner", "The winner is the space's default configuration.",
                    lambda run: run.update({"changes": []}), lambda run: None)
        self.expect("winner", "The predicted time does not model: caches.",
                    lambda run: run["winner"].update({"not_modelled": "caches"}), lambda run: None)
        self.expect("winner", "The elite was executed on", lambda run: run.update(
            {"interpreted": "executed on virtual:h200 as well"}), lambda run: run.update({"interpreted": ""}))
        tied = {"candidate": 7, "p50_us": 1.5, "ratio_to_above": 1.001}
        apart = {"candidate": 8, "p50_us": 1.6, "ratio_to_above": None}
        self.expect("winner", "between the winner and candidate 7 (1.50 µs); the winner was found first",
                    lambda run: run.update({"elite": [run["elite"][0], tied, apart]}),
                    lambda run: run.update({"elite": [run["elite"][0], apart, tied]}))
        self.expect("winner", "Nothing is green in this run", lambda run: run.update({"winner": None}), lambda run: None)
