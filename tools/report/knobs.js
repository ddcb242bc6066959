"use strict";
// The effect of each macro on the time: importance, effects near the winner, pairs of macros.

report.sections.knobs = run => {
  const {element} = report;
  const made = (...body) => ({id: "knobs", title: "Knobs", body});
  if (!run.insight) {
    return made(report.lacks(`The effect of each macro is unknown: ${run.why_no_insight}.`));
  }
  if (!run.insight.knobs || run.insight.knobs.length === 0) {
    return made(report.lacks("No candidate was timed, so the effects of macros are unknown."));
  }
  return made(report.importanceNote(run), report.effectsNote(run),
    element("div", {class: "pair"}, report.importance(run), report.effects(run)),
    report.untried(run),
    report.folded("All values as a table", () => report.knobTable(run)),
    report.interactions(run));
};

report.importanceNote = ({insight}) => {
  const {number} = report.format;
  const near = insight.near_explained === null
    ? `Only ${report.format.count(insight.near_runs, "candidate")} ran within twice the winner's time: too few to attribute the variance there.`
    : `Near the winner: the same among the ${number(insight.near_runs)} candidates within twice its time, where the model explains ${number(100 * insight.near_explained)} %.`;
  return report.note(`Overall importance: the share of the variance of ln time that a macro explains in an additive model, which explains ${number(100 * insight.explained)} % among all candidates that ran. ${near}`);
};

report.effectsNote = ({insight}) => report.note(`An effect compares two candidates that differ in one macro only; one of them has the winner's value, differs from the winner in at most ${insight.near_macros} macros and takes at most twice its time. A box is coloured if the winner itself is one of the two and the difference is above ${report.format.number(insight.same_percent)} %; other pairs, hollow, prove nothing about the winner.`);

report.importance = run => {
  const {format} = report;
  const rows = run.insight.knobs.slice(0, 14).reverse();
  const hasNear = run.insight.near_explained !== null;
  const bars = (name, key, colour, palette) => ({name, type: "bar", barMaxWidth: 9, data: rows.map(knob => 100 * knob[key]),
    itemStyle: {color: colour}, label: {show: true, position: "right", color: palette.text, fontSize: 10,
      formatter: item => format.number(item.value, 0)}});
  const chart = report.chart("Share of the variance of ln time that each macro explains", (palette, width) => ({
    grid: {left: 4, right: 36, top: 28, bottom: 40},
    legend: report.legend(palette),
    tooltip: {formatter: item => `${rows[item.dataIndex].macro}\n${item.seriesName} ${format.number(item.value, 1)} %\n${run.meanings?.[rows[item.dataIndex].macro] ?? ""}`.replace(/(.{50}\S*)\s/g, "$1\n")},
    xAxis: report.axis(palette, "share of the variance, %", {type: "value", min: 0}),
    yAxis: report.axis(palette, "", {type: "category", data: rows.map(knob => knob.macro), splitLine: {show: false},
      axisLabel: {color: palette.text, interval: 0, hideOverlap: false, width: width * 0.4, overflow: "break"}}),
    series: [bars("overall", "importance", palette.series[6], palette),
      ...(hasNear ? [bars("near the winner", "near_importance", palette.accent, palette)] : [])],
  }), {height: 90 + (hasNear ? 30 : 22) * rows.length});
  return report.figure("How much each macro matters", chart);
};

/** {low, middle, high, colour…} of a value with pairs, for a plot of intervals. */
report.effectRow = (palette, value) => ({
  low: value.low_percent, middle: value.in_winner_percent ?? value.effect_percent, high: value.high_percent,
  colour: value.verdict === "faster" ? palette.better : value.verdict === "slower" ? palette.worse : "transparent",
});

/** "+9.3 % in the winner: slower; …": only known facts. */
report.effectText = (value, same) => {
  const {format} = report;
  const range = value.pairs === 1 ? `in 1 pair ${format.percent(value.effect_percent)} %`
    : `in ${format.number(value.pairs)} pairs ${format.percent(value.effect_percent)} % (${format.percent(value.low_percent)} to ${format.percent(value.high_percent)})`;
  if (value.in_winner_percent === undefined) return `${range}, the winner not among them`;
  const verdict = value.verdict === "same" ? `the same within ${format.number(same)} %` : value.verdict;
  return `${format.percent(value.in_winner_percent)} % in the winner: ${verdict}${value.pairs > 1 ? `; ${range}` : ""}`;
};

/** "+9.3 %", with an arrow where the box is beyond the plot. */
report.shortEffect = (value, most) =>
  `${report.format.percent(value.in_winner_percent ?? value.effect_percent)} %${value.high_percent > most ? " →" : ""}`;

/** Why the effect is unknown. */
report.noEffectText = value => {
  if (value.failed_in_winner) return `in the winner it failed the ${value.failed_in_winner} gate`;
  if (value.runs === 0) return "never passed";
  return `not tried near the winner${value.allowed_in_winner ? "" : ", the space forbids it in the winner"}`;
};

report.effects = run => {
  const {insight} = run;
  const values = insight.knobs.flatMap(knob => (knob.values ?? []).filter(value => value.pairs > 0)
    .map(value => ({...value, best: knob.best}))).slice(0, 30);
  if (values.length === 0) {
    return report.lacks("No two candidates near the winner differ in one macro only, so effects of values are unknown there.");
  }
  // A few much slower values would leave no room for the rest.
  const sizes = values.map(value => value.high_percent).sort((a, b) => a - b);
  const most = Math.max(10, 1.5 * sizes[Math.floor(0.75 * (sizes.length - 1))]);
  const chart = report.chart("Effect of values on the time near the winner", (palette, width) =>
    report.intervals(palette, width, values.map(value => ({...report.effectRow(palette, value),
      label: `${value.macro} ${value.value}`, short: report.shortEffect(value, most), text: report.effectText(value, insight.same_percent),
      more: `in place of ${value.best}`})), "change of the time, %", "", 0, most),
  {height: 60 + 20 * values.length});
  return report.figure("The winner's values replaced: effect on the time near the winner", chart,
    report.key([["better", "the winner with it was faster"], ["worse", "the winner with it was slower"],
      ["hollow", "the same, or not tried in the winner itself"]]));
};

/** A legend of colours: "better", "worse", "hollow", "accent". */
report.key = entries => report.element("ul", {class: "key"}, entries.map(([kind, text]) =>
  report.element("li", {}, report.element("span", {class: `swatch ${kind}`, "aria-hidden": "true"}), text)));

report.untried = ({insight}) => {
  const names = insight.knobs.map(knob => [knob.macro, (knob.values ?? []).filter(value => value.pairs === 0
    && value.runs > 0 && value.value !== knob.best && !value.failed_in_winner).map(value => value.value)])
    .filter(([, values]) => values.length > 0);
  if (names.length === 0) return report.note("Every value that ran was tried near the winner.");
  return report.note(`Not tried near the winner, so their effect is unknown: ${names.map(([macro, values]) => `${macro} ${values.join(", ")}`).join("; ")}.`);
};

report.knobTable = run => report.table("Every value of every macro that was tried",
  [{label: "macro"}, {label: "value", numeric: true}, {label: "effect near the winner", wide: true},
    {label: "pairs", numeric: true}, {label: "runs", numeric: true}, {label: "failed", numeric: true},
    {label: "overall importance, %", numeric: true}, {label: "importance near the winner, %", numeric: true},
    {label: "what it decides", wide: true}],
  run.insight.knobs.flatMap(knob => (knob.values ?? []).map(value => [knob.macro, value.value,
    value.value === knob.best ? "the winner's" : value.pairs > 0
      ? report.effectText(value, run.insight.same_percent) : report.noEffectText(value),
    report.format.number(value.pairs), report.format.number(value.runs),
    report.format.number(Object.values(value.failures).reduce((a, b) => a + b, 0)),
    report.format.number(100 * knob.importance, 1),
    knob.near_importance === null ? "–" : report.format.number(100 * knob.near_importance, 1),
    run.meanings?.[knob.macro] ?? ""])));

report.interactions = run => {
  const {format} = report;
  const pairs = run.insight.interactions;
  if (pairs.length === 0) {
    return report.note("No joint effect of two macros was found: this requires four candidates near the winner that differ only in these two.");
  }
  const name = pair => pair.settings.map(({macro, value}) => `${macro} ${value}`).join(" with ");
  return report.folded(`${format.count(pairs.length, "pair")} of values with a joint effect`,
    () => report.table("Pairs of values, in squares of four candidates near the winner that differ in these two macros only",
      [{label: "values"}, {label: "in addition to both alone, %", numeric: true}, {label: "smallest, %", numeric: true},
        {label: "largest, %", numeric: true}, {label: "squares", numeric: true}],
      pairs.map(pair => [name(pair), format.percent(pair.effect_percent), format.percent(pair.low_percent),
        format.percent(pair.high_percent), format.number(pair.squares)])), true);
};
