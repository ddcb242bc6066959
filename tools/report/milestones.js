"use strict";
// The milestones of the space: the ladder of those that extend each other, and all by their times.

report.sections.ladder = run => {
  const {element} = report;
  const made = (...body) => ({id: "ladder", title: "Milestones", body});
  if (run.ladder.length === 0) {
    return made(report.lacks("The space of this run names no milestones."), report.negatives(run));
  }
  const rungs = report.rungs(run);
  const body = [];
  if (report.isLadder(rungs)) {
    const rows = report.ladderRows(run, rungs);
    const chart = report.chart("Each milestone's time against the green one before", (palette, width) =>
      report.waterfallOption(palette, width, rows, report.timeName(run)), {height: 70 + 26 * rows.length});
    body.push(report.note(rungs.length === run.ladder.length
      ? "Each milestone keeps the changes of the one before, and adds more: they form a ladder."
      : `The first ${rungs.length} of ${run.ladder.length} milestones form a ladder: each keeps the changes of the one before, and adds more. The others are separate configurations.`),
    element("div", {class: "wide"}, report.figure("The ladder: each bar goes from the time of the green rung before to the time of its own rung", chart,
      report.key([["better", "faster"], ["worse", "slower"], ["hollow", report.sameRung(run)]]))));
  } else {
    const isGreen = run.ladder.some(rung => rung.p50_us !== null);
    body.push(report.note(!isGreen ? "No milestone is green." : rungs.length >= 3 ? "Fewer than three of the milestones that build on one another are green, so there is no ladder."
      : "These milestones do not extend each other, so they are listed by their times."));
  }
  body.push(report.milestoneTable(run, rungs), report.negatives(run));
  return made(...body);
};

/** A diagram of steps requires at least two steps with times. */
report.isLadder = rungs => rungs.filter(rung => rung.p50_us !== null).length >= 3;

report.leastRungDifference = run => report.isPredicted(run) ? 0.005 : 0.02;
report.sameRung = run => `the same within ${report.format.number(100 * report.leastRungDifference(run), report.isPredicted(run) ? 1 : 0)} %`;

/** The first milestones, as long as each extends the one before. */
report.rungs = run => {
  const end = run.ladder.findIndex((rung, i) => i > 0 && !rung.builds_on_before);
  return end < 0 ? run.ladder : run.ladder.slice(0, end);
};

/** "faster", "slower" or "unclear" than the previous green milestone, by separate measurements. */
report.rungVerdict = (run, rung) => {
  const ratio = 1 / rung.speedup;
  const least = report.leastRungDifference(run);
  return ratio < 1 - least ? "faster" : ratio > 1 + least ? "slower" : "unclear";
};

report.ladderRows = (run, rungs) => {
  const {format} = report;
  let before = null;
  const rows = rungs.map(rung => {
    const row = {name: rung.milestone, from: before, to: rung.p50_us,
      kind: before === null ? "start" : report.rungVerdict(run, rung),
      text: rung.p50_us === null ? report.milestoneOutcome(rung)
        : `${format.us(rung.p50_us)}${before === null ? " µs" : `  ${format.percent(100 * (rung.p50_us / before - 1))} %`}`};
    if (rung.p50_us !== null) before = rung.p50_us;
    return row;
  });
  if (run.winner) rows.push({name: "winner", from: null, to: run.winner.p50_us, kind: "winner", text: `${format.us(run.winner.p50_us)} µs`});
  return rows;
};

report.milestoneOutcome = rung => {
  if (rung.p50_us === null) return rung.gate ? `failed ${rung.gate}` : "not judged";
  return rung.duplicate_of ? `green, same kernel as ${rung.duplicate_of}` : "green";
};

/** The fastest first; in the space's order if all form a ladder. */
report.milestoneTable = (run, rungs) => {
  const {format} = report;
  const isLadder = rungs.length === run.ladder.length && report.isLadder(rungs);
  const rows = isLadder ? run.ladder : [...run.ladder].sort((a, b) => (a.p50_us ?? Infinity) - (b.p50_us ?? Infinity));
  const against = rung => rung.p50_us === null || !run.winner ? "–" : format.ratio(rung.p50_us / run.winner.p50_us);
  const wasNoFaster = rung => rungs.includes(rung) && rung.speedup !== null && report.rungVerdict(run, rung) !== "faster";
  return report.table(isLadder ? "The milestones, in their order" : "The milestones, by their times",
    [{label: "milestone"}, {label: "outcome"}, {label: report.timeName(run), numeric: true},
      {label: "times the winner's", numeric: true}, {label: "candidate", numeric: true}, {label: "remark", wide: true}],
    rows.map(rung => [rung.milestone, report.milestoneOutcome(rung), format.us(rung.p50_us), against(rung),
      String(rung.candidate), rung.reason ?? (report.isLadder(rungs) && wasNoFaster(rung) ? "no faster than the rung before" : "")]));
};
