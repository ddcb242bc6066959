"use strict";
// The milestones of the space: those that extend each other, step by step, and all by their times.

report.sections.milestones = run => {
  const {element} = report;
  const made = (...body) => ({id: "milestones", title: "Milestones", body});
  if (run.milestones.length === 0) {
    return made(report.lacks("The space of this run names no milestones."), report.negatives(run));
  }
  const steps = report.sequence(run);
  const body = [];
  if (report.isSequence(steps)) {
    const rows = report.sequenceRows(run, steps);
    const chart = report.chart("Each milestone's time against the green one before", (palette, width) =>
      report.waterfallOption(palette, width, rows, report.timeName(run)), {height: 70 + 26 * rows.length});
    body.push(report.note(steps.length === run.milestones.length
      ? "Each milestone keeps the changes of the one before, and adds more."
      : `The first ${steps.length} of ${run.milestones.length} milestones build on each other: each keeps the changes of the one before, and adds more. The others are separate configurations.`),
    element("div", {class: "wide"}, report.figure("Each bar goes from the time of the previous green milestone to the time of its own", chart,
      report.key([["better", "faster"], ["worse", "slower"], ["hollow", report.sameTime(run)]]))));
  } else {
    const isGreen = run.milestones.some(step => step.p50_us !== null);
    body.push(report.note(!isGreen ? "No milestone is green." : steps.length >= 3 ? "Fewer than three of the milestones that build on one another are green, so there is no milestones."
      : "These milestones do not extend each other, so they are listed by their times."));
  }
  body.push(report.milestoneTable(run, steps), report.negatives(run));
  return made(...body);
};

/** A diagram of steps requires at least two steps with times. */
report.isSequence = steps => steps.filter(step => step.p50_us !== null).length >= 3;

report.leastMilestoneDifference = run => report.isPredicted(run) ? 0.005 : 0.02;
report.sameTime = run => `the same within ${report.format.number(100 * report.leastMilestoneDifference(run), report.isPredicted(run) ? 1 : 0)} %`;

/** The first milestones, as long as each extends the one before. */
report.sequence = run => {
  const end = run.milestones.findIndex((step, i) => i > 0 && !step.builds_on_before);
  return end < 0 ? run.milestones : run.milestones.slice(0, end);
};

/** "faster", "slower" or "unclear" than the previous green milestone, by separate measurements. */
report.milestoneVerdict = (run, step) => {
  const ratio = 1 / step.speedup;
  const least = report.leastMilestoneDifference(run);
  return ratio < 1 - least ? "faster" : ratio > 1 + least ? "slower" : "unclear";
};

report.sequenceRows = (run, steps) => {
  const {format} = report;
  let before = null;
  const rows = steps.map(step => {
    const row = {name: step.milestone, from: before, to: step.p50_us,
      kind: before === null ? "start" : report.milestoneVerdict(run, step),
      text: step.p50_us === null ? report.milestoneOutcome(step)
        : `${format.us(step.p50_us)}${before === null ? " µs" : `  ${format.percent(100 * (step.p50_us / before - 1))} %`}`};
    if (step.p50_us !== null) before = step.p50_us;
    return row;
  });
  if (run.winner) rows.push({name: "winner", from: null, to: run.winner.p50_us, kind: "winner", text: `${format.us(run.winner.p50_us)} µs`});
  return rows;
};

report.milestoneOutcome = step => {
  if (step.p50_us === null) return step.gate ? `failed ${step.gate}` : "not judged";
  return step.duplicate_of ? `green, same kernel as ${step.duplicate_of}` : "green";
};

/** The fastest first; in the space's order if all extend each other. */
report.milestoneTable = (run, steps) => {
  const {format} = report;
  const isSequence = steps.length === run.milestones.length && report.isSequence(steps);
  const rows = isSequence ? run.milestones : [...run.milestones].sort((a, b) => (a.p50_us ?? Infinity) - (b.p50_us ?? Infinity));
  const against = step => step.p50_us === null || !run.winner ? "–" : format.ratio(step.p50_us / run.winner.p50_us);
  const wasNoFaster = step => steps.includes(step) && step.speedup !== null && report.milestoneVerdict(run, step) !== "faster";
  return report.table(isSequence ? "The milestones, in their order" : "The milestones, by their times",
    [{label: "milestone"}, {label: "outcome"}, {label: report.timeName(run), numeric: true},
      {label: "times the winner's", numeric: true}, {label: "candidate", numeric: true}, {label: "remark", wide: true}],
    rows.map(step => [step.milestone, report.milestoneOutcome(step), format.us(step.p50_us), against(step),
      String(step.candidate), step.reason ?? (report.isSequence(steps) && wasNoFaster(step) ? "no faster than the previous milestone" : "")]));
};
