"use strict";
// Why the winner won: the steps that lead to it from the default and from a milestone.

report.sections.why = run => {
  const made = (...body) => ({id: "why", title: "Why it won", body});
  if (!run.winner) return made(report.lacks("There is no winner to explain."));
  if (run.ways.length === 0) return made(report.lacks(`Not measured: ${run.why_no_ways}.`));
  return made(report.note(report.wayNote(run)), ...run.ways.flatMap(way => report.way(run, way)));
};

/** "the default configuration", "the milestone baseline". */
report.startName = way => way.start === "default" ? "the default configuration" : `the milestone ${way.start}`;

report.wayNote = run => report.isPredicted(run)
  ? "One macro after the other gets the winner's value, the largest gain first; macros that a constraint binds change together. Each time is PREDICTED."
  : `One macro after the other gets the winner's value, the largest gain first; macros that a constraint binds change together. Steps were timed by ${run.ways[0].timed}; times are the winner's own, divided by the ratios of the steps that follow.`;

/**
 * "faster", "slower" or "unclear": by the interval of the pairs; without pairs, by a difference of
 * 0.5 % for predicted and 2 % for measured times.
 */
report.stepVerdict = (run, step) => {
  const least = step.pairs > 0 ? 0 : report.isPredicted(run) ? 0.005 : 0.02;
  if (step.ratio_high < 1 - least) return "faster";
  return step.ratio_low > 1 + least ? "slower" : "unclear";
};

report.changesText = step => step.changes.map(({macro, from, to}) => `${macro} ${from} → ${to}`).join(", ");
/** The same, shortened for a plot. */
report.shortChanges = step => step.changes.length <= 3 ? report.changesText(step)
  : `${step.changes.length} macros together`;
report.stepPercent = step => `${report.format.percent(100 * (step.ratio - 1))} %`;

/** The fewest steps that make at least two thirds of the gain. */
report.mainSteps = (run, steps) => {
  const gains = steps.filter(step => report.stepVerdict(run, step) === "faster").sort((a, b) => a.ratio - b.ratio);
  const all = gains.reduce((sum, step) => sum - Math.log(step.ratio), 0);
  const main = [];
  let sum = 0;
  for (const step of gains) {
    if (sum >= all * 2 / 3) break;
    sum -= Math.log(step.ratio);
    main.push(step);
  }
  return main;
};

/** Sentences that describe the steps. */
report.wayText = (run, way) => {
  const {format} = report;
  const [start, ...steps] = way.steps;
  if (steps.length === 0) return `The winner is ${report.startName(way)}: no step leads to it.`;
  const count = verdict => steps.filter(step => report.stepVerdict(run, step) === verdict).length;
  const main = report.mainSteps(run, steps);
  const list = chosen => chosen.map(step => `${report.changesText(step)} (${report.stepPercent(step)})`).join("; ");
  const said = [`From ${report.startName(way)}, ${format.us(start.level_us)} µs, to the winner, ${format.us(run.winner.p50_us)} µs, in ${format.count(steps.length, "step")}.`];
  if (main.length === 0) said.push("No single step certainly made it faster.");
  else said.push(`These make at least two thirds of what the faster steps gain: ${list(main)}.`);
  if (count("slower") > 0) {
    said.push(`These made it slower at their places: ${list(steps.filter(step => report.stepVerdict(run, step) === "slower"))}.`);
  }
  if (count("unclear") > 0) {
    said.push(`${format.count(count("unclear"), "step")} made no detectable difference.`);
  }
  const unchecked = steps.filter(step => step.note.includes("not checked")).length;
  if (unchecked > 0) said.push(`There was no time to check ${format.count(unchecked, "kernel")} on the way.`);
  return said.join(" ");
};

/** {name, from, to, kind, text} of each bar, the start first. */
report.wayRows = (run, way) => way.steps.map((step, i) => i === 0
  ? {name: way.start === "default" ? "the default" : way.start, from: null, to: step.level_us, kind: "start",
    text: `${report.format.us(step.level_us)} µs`}
  : {name: report.shortChanges(step), from: way.steps[i - 1].level_us, to: step.level_us,
    kind: report.stepVerdict(run, step), more: report.stepInterval(step),
    text: `${report.format.us(step.level_us)}  ${report.stepPercent(step)}`});

report.stepInterval = step => step.pairs > 0
  ? `${report.format.percent(100 * (step.ratio_low - 1))} to ${report.format.percent(100 * (step.ratio_high - 1))}, ${report.format.count(step.pairs, "pair")}`
  : step.note === "the same kernel" ? "the same kernel" : "no pairs";

report.way = (run, way) => {
  const {element, format} = report;
  const body = [report.note(report.wayText(run, way))];
  if (way.steps.length < 2) return body;
  const rows = report.wayRows(run, way);
  const chart = report.chart(`Time after each step from ${report.startName(way)} to the winner`, (palette, width) =>
    report.waterfallOption(palette, width, rows, report.timeName(run)), {height: 56 + 30 * rows.length});
  body.push(element("div", {class: "wide"}, report.figure(`From ${report.startName(way)} to the winner: time after each step`, chart,
    report.key([["better", "faster"], ["worse", "slower"], ["hollow", "no detectable difference"]]))),
  report.folded("The steps as a table", () => report.table(`From ${report.startName(way)} to the winner`,
    [{label: "step", numeric: true}, {label: "change"}, {label: report.timeName(run), numeric: true},
      {label: "change of the time, %", numeric: true}, {label: "interval, %"}, {label: "remark", wide: true}],
    way.steps.map((step, i) => [String(i), i === 0 ? report.startName(way) : report.changesText(step),
      format.us(step.level_us), i === 0 ? "–" : format.percent(100 * (step.ratio - 1)),
      i === 0 ? "–" : report.stepInterval(step), step.note]))));
  return body;
};

/**
 * Bars from the time before to the time after; rows {name, from, to, kind, text, more}, topmost
 * first. An invisible bar carries the visible one.
 */
report.waterfallOption = (palette, width, rows, name) => {
  const upwards = [...rows].reverse();
  const hidden = upwards.map(({from, to}) => from === null || to === null ? 0 : Math.min(from, to));
  const shown = upwards.map(({from, to}) => to === null ? 0 : from === null ? to : Math.abs(to - from));
  const style = {
    faster: {color: palette.better}, slower: {color: palette.worse}, start: {color: palette.muted}, winner: {color: palette.accent},
    unclear: {color: "transparent", borderColor: palette.muted, borderWidth: 1.5},
  };
  const narrow = width < 500;
  return {
    grid: {left: 4, right: narrow ? 88 : 110, top: 4, bottom: 40},
    tooltip: {formatter: item => [upwards[item.dataIndex].name, upwards[item.dataIndex].text, upwards[item.dataIndex].more]
      .filter(text => text).join("\n")},
    xAxis: report.axis(palette, name, {type: "value", min: 0}),
    yAxis: report.axis(palette, "", {type: "category", data: upwards.map((row, i) => `${upwards.length - i}. ${row.name}`),
      splitLine: {show: false}, axisLabel: {color: palette.text, interval: 0, hideOverlap: false, lineHeight: 12,
        fontSize: narrow ? 10 : 11, width: width * (narrow ? 0.36 : 0.3), overflow: "break",
        formatter: text => text.replace(/^\d+\. /, "")}}),
    series: [
      {name: "before", type: "bar", stack: "time", silent: true, data: hidden,
        itemStyle: {color: "transparent"}, tooltip: {show: false}},
      {name: "steps", type: "bar", stack: "time", barMaxWidth: 16, barMinHeight: 2,
        data: upwards.map((row, i) => ({value: shown[i], itemStyle: style[row.kind]})),
        label: {show: true, position: "right", color: palette.text, fontSize: narrow ? 10 : 11,
          formatter: item => upwards[item.dataIndex].text}},
    ],
  };
};
