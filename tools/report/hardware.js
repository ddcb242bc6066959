"use strict";
// The sections about resources, comparisons, errors, the policy, the source and other events.

report.sections.resources = run => {
  const {element} = report;
  const {columns} = run.candidates;
  const plots = [["registers", "registers per thread", 1], ["shared_bytes", "shared memory, KiB per CTA", 1024],
    ["occupancy_percent", "occupancy, % of the warps", 1]];
  const body = plots.map(([key, label, unit]) => {
    const points = columns.p50_us.flatMap((us, i) =>
      us === null || columns[key][i] === null ? [] : [[columns[key][i] / unit, us, i]]);
    if (points.length === 0) {
      return report.lacks(key === "occupancy_percent"
        ? "Occupancy is unknown: it requires the launch geometry of the candidates and the limits of the device's SMs."
        : `No candidate has both a time and ${label}.`);
    }
    const chart = report.chart(`Time against ${label}`, palette => ({
      grid: {left: 8, right: 16, top: 12, bottom: 40},
      tooltip: {formatter: item => `candidate ${columns.id[item.data[2]]}\n${report.format.number(item.data[0], key === "registers" ? 0 : 1)} ${label}\n${report.format.us(item.data[1])} µs`},
      xAxis: report.axis(palette, label, {type: "value", scale: key === "registers"}),
      yAxis: report.axis(palette, report.timeName(run),
        {nameGap: 44, ...report.timeScale(columns.p50_us)}),
      series: [{type: "scatter", symbolSize: points.length > 2000 ? 4 : 7, data: points,
        itemStyle: {color: palette.series[0], opacity: 0.55}}],
    }), {height: 280, canvas: true});
    return report.figure(`Time against ${label}`, chart);
  });
  const groups = report.occupancyLimits(run);
  return {id: "resources", title: "Registers, shared memory, occupancy",
    body: [element("div", {class: "trio"}, body), groups]};
};

/** The limits of the CTAs per SM, with the best time for each. */
report.occupancyLimits = run => {
  const {columns} = run.candidates;
  const found = new Map();
  columns.p50_us.forEach((us, i) => {
    const limit = report.word(columns.limit, i);
    if (us === null || limit === null) return;
    const [count, best] = found.get(limit) ?? [0, Infinity];
    found.set(limit, [count + 1, Math.min(best, us)]);
  });
  if (found.size === 0) return null;
  return report.folded("What limits the CTAs of an SM, as a table", () => report.table(
    "What limits the CTAs that an SM holds at once, among the green candidates",
    [{label: "limit"}, {label: "candidates", numeric: true}, {label: `best ${report.timeName(run)}`, numeric: true}],
    [...found].map(([limit, [count, best]]) => [limit, report.format.number(count), report.format.us(best)])));
};

report.sections.comparisons = run => {
  const {format, element} = report;
  const body = [];
  if (run.comparisons.length === 0) {
    body.push(report.lacks(report.isPredicted(run)
      ? "There are no A/B comparisons: predicted times do not vary, so candidates are ranked without interleaved pairs."
      : "There are no A/B comparisons: no candidate came close enough to the elite for a comparison by interleaved pairs."));
  } else {
    const latest = run.comparisons.slice(-30);
    const colours = palette => ({faster: palette.better, slower: palette.worse, tie: "transparent"});
    const rows = [...latest].reverse().map(comparison => ({verdict: comparison.verdict, label: `${comparison.challenger} vs ${comparison.incumbent}`,
      low: comparison.low, middle: comparison.ratio, high: comparison.high,
      text: `${format.number(comparison.ratio, 4)} (${format.number(comparison.low, 4)} to ${format.number(comparison.high, 4)})`,
      more: `${comparison.verdict}, ${comparison.pairs} pairs, generation ${comparison.generation}`}));
    const chart = report.chart("Ratio of times in comparisons, with intervals", (palette, width) =>
      report.intervals(palette, width,
        rows.map(row => ({...row, colour: colours(palette)[row.verdict]})),
        width < 500 ? "ratio of times" : "time of the challenger / time of the incumbent", "ratio", 1), {height: 60 + 20 * rows.length});
    body.push(element("div", {class: "wide"}, report.figure(`A/B comparisons, the latest ${rows.length} of ${run.comparisons.length}: left of 1 the challenger is faster`, chart,
      report.key([["better", "the challenger is faster"], ["worse", "the challenger is slower"],
        ["hollow", "a tie, by the rule of the search: the difference is in doubt or too small to matter"]]))),
      report.folded("All A/B comparisons as a table", () => report.table("A/B comparisons",
        [{label: "generation", numeric: true}, {label: "challenger", numeric: true}, {label: "incumbent", numeric: true},
          {label: "ratio", numeric: true}, {label: "interval", numeric: true}, {label: "pairs", numeric: true}, {label: "verdict"}],
        run.comparisons.map(comparison => [String(comparison.generation), String(comparison.challenger), String(comparison.incumbent),
          format.number(comparison.ratio, 4), `${format.number(comparison.low, 4)} to ${format.number(comparison.high, 4)}`,
          format.number(comparison.pairs), comparison.verdict]))));
  }
  body.push(...report.drift(run));
  return {id: "comparisons", title: "A/B comparisons and drift", body};
};

report.drift = run => {
  const {format, element} = report;
  if (run.control.length === 0) {
    return [report.lacks(report.isPredicted(run)
      ? "There is no drift: predicted times are reproducible, and no control was timed again."
      : "No control was timed again in this run, so its drift is unknown.")];
  }
  const chart = report.chart("Drift of the control", palette => ({
    grid: {left: 8, right: 16, top: 12, bottom: 40},
    tooltip: {trigger: "axis", valueFormatter: value => `${format.percent(value, 2)} %`},
    xAxis: report.axis(palette, "generation", {type: "category", data: run.control.map(point => point.generation)}),
    yAxis: report.axis(palette, "drift, %", {type: "value", scale: true, nameGap: 40}),
    series: [{type: "line", data: run.control.map(point => point.drift === null ? null : 100 * point.drift),
      itemStyle: {color: palette.series[5]},
      markLine: {symbol: "none", silent: true, label: {show: false}, lineStyle: {color: palette.muted}, data: [{yAxis: 0}]}}],
  }), {height: 240});
  return [element("div", {class: "wide"}, report.figure("Drift: the control, timed again after each generation, against its first time", chart)),
    report.folded("The drift as a table", () => report.table("Drift of the control",
      [{label: "generation", numeric: true}, {label: report.timeName(run), numeric: true}, {label: "drift, %", numeric: true}],
      run.control.map(point => [String(point.generation), format.us(point.p50_us),
        point.drift === null ? "–" : format.percent(100 * point.drift, 2)])))];
};

report.bounds = [["max_abs_error", "largest absolute error"], ["bad_share", "share beyond the bound"],
  ["relative_l2", "relative L2 norm"], ["max_row_error", "largest error of a row"]];

/** The worst check of each shape. */
report.worstChecks = run => {
  const shapes = new Map();
  for (const check of run.checks) {
    const worst = shapes.get(check.shape) ?? {shape: check.shape, seeds: 0, sampled: ""};
    worst.seeds += 1;
    worst.sampled = worst.sampled || check.sampled;
    for (const [key] of report.bounds) {
      // Null: not finite, worse than all.
      if (!(key in worst)) worst[key] = check[key];
      else if (worst[key] !== null) worst[key] = check[key] === null ? null : Math.max(worst[key], check[key]);
    }
    shapes.set(check.shape, worst);
  }
  return [...shapes.values()];
};

report.sections.errors = run => {
  const {format, element} = report;
  const made = (...body) => ({id: "errors", title: "Errors against tolerance", body});
  if (run.checks.length === 0) {
    return made(report.lacks(run.winner ? "No check of the winner is stored." : "There is no winner whose checks could be shown."));
  }
  const worst = report.worstChecks(run);
  const table = () => report.table(`The winner's largest errors on each shape${run.tolerance ? ", and the allowed ones" : ""}`,
    [{label: "shape"}, {label: "seeds", numeric: true}, ...report.bounds.map(([, label]) => ({label, numeric: true})), {label: "what was compared"}],
    [...worst.map(row => [row.shape, String(row.seeds), ...report.bounds.map(([key]) => row[key] === null ? "not finite" : format.error(row[key])), row.sampled || "everything"]),
      ...(run.tolerance ? [["allowed on the timed shape", "", ...report.bounds.map(([key]) => typeof run.tolerance[key] === "number" ? format.error(run.tolerance[key]) : "–"), ""]] : [])], !run.tolerance);
  if (!run.tolerance) return made(report.lacks("The winner's manifest states no tolerance."), table());
  const bounds = report.bounds.filter(([key]) => run.tolerance[key] > 0);
  const chart = report.chart("Errors of the winner in percent of the allowed ones", (palette, width) => ({
    grid: {left: 8, right: 16, top: report.belowLegend(bounds.map(([, label]) => label), width), bottom: 40},
    legend: report.legend(palette),
    tooltip: {trigger: "axis", axisPointer: {type: "shadow"}, valueFormatter: value => `${format.number(value, 2)} %`},
    xAxis: report.axis(palette, "shape", {type: "category", data: worst.map(row => row.shape),
      nameGap: width < 600 ? 64 : 30, axisLabel: {rotate: width < 600 ? 45 : 0, interval: 0, hideOverlap: false}}),
    yAxis: report.axis(palette, "% of the tolerance", {type: "value", min: 0, nameGap: 40}),
    series: bounds.map(([key, label]) => ({name: label, type: "bar", barMaxWidth: 18,
      data: worst.map(row => row[key] === null ? null : 100 * row[key] / run.tolerance[key])})),
  }), {height: width => width < 600 ? 340 : 300});
  return made(element("div", {class: "wide"}, report.figure("The winner's largest error on each shape, in per cent of the tolerance of the timed shape", chart)), table());
};

report.sections.policy = run => {
  const {format} = report;
  const {summary} = run;
  const body = [];
  if (run.policy) {
    body.push(report.facts(Object.entries(run.policy).map(([name, value]) =>
      [name.replaceAll("_", " "), typeof value === "number" ? format.number(value) : JSON.stringify(value)])));
  } else {
    body.push(report.lacks("The space states no policy beyond what the device allows."));
  }
  body.push(report.note(summary.policy_only === 0
    ? "It cost nothing: no candidate was rejected only by the policy."
    : `${format.number(summary.policy_only)} of ${format.count(summary.evaluated, "candidate")} were rejected only by this policy; the device would have run them.`));
  const cost = run.events.filter(event => event.kind === "policy cost");
  cost.forEach(event => body.push(report.note(event.text)));
  if (cost.length === 0 && summary.policy_only > 0) {
    body.push(report.lacks("Their times are unknown: use evo-tune --time-policy-rejects N to measure them."));
  }
  const groups = summary.groups.filter(group => group.policy_only);
  if (groups.length > 0) {
    body.push(report.table("Candidates rejected only by the policy", [{label: "reason of the first", wide: true},
      {label: "candidates", numeric: true}, {label: "first", numeric: true}],
    groups.map(group => [group.reason, format.number(group.count), String(group.candidate)])));
  }
  return {id: "policy", title: "What the policy cost", body};
};

report.sections.source = run => {
  const {element} = report;
  const body = [];
  if (run.difference) {
    const same = run.difference.every(([mark]) => mark === "…" || mark === " ");
    body.push(same ? report.note("The winner's source and macros are those of the default configuration.")
      : report.diff(run.difference));
  } else {
    body.push(report.lacks(run.winner ? `There is no difference to show: ${run.default.why ?? "the default configuration was not compiled"}.`
      : "There is no winner, so there is no source to show."));
  }
  if (run.source) {
    body.push(report.folded(`The winner's whole source, ${report.format.count(run.source.split("\n").length, "line")}`,
      () => element("pre", {class: "code", tabindex: "0", "aria-label": "The winner's source"}, element("code", {}, run.source))));
  }
  if (run.manifest) {
    body.push(report.folded("The winner's manifest: how to launch it",
      () => element("pre", {class: "code", tabindex: "0", "aria-label": "The winner's manifest"}, element("code", {}, run.manifest))));
  } else if (run.winner) {
    body.push(report.lacks(`There is no manifest: ${run.why_no_manifest}.`));
  }
  return {id: "source", title: "Source and manifest", body};
};

report.diff = lines => {
  const {element} = report;
  const names = {"-": "removed", "+": "added", " ": "same", "…": "left-out"};
  const said = {"-": "only in the default: ", "+": "only in the winner: "};
  return element("figure", {class: "wide"},
    element("figcaption", {}, "The winner's source against the default's: − only in the default, + only in the winner"),
    element("pre", {class: "code diff", tabindex: "0", "aria-label": "Difference of the sources"}, lines.map(([mark, text]) =>
      element("span", {class: names[mark]}, said[mark] ? element("span", {class: "unseen"}, said[mark]) : null,
        mark === "…" ? `… ${report.format.count(text, "line")} the same` : `${mark === "-" ? "−" : mark} ${text}`, "\n"))));
};

report.sections.events = run => ({id: "events", title: "What else happened", body: [
  run.events.length === 0 ? report.lacks("There were no other events: no worker was killed, no warning was given.")
    : report.table("Events of the run", [{label: "when"}, {label: "what"}, {label: "text", wide: true}],
      run.events.map(event => [report.format.time(event.at), event.kind, event.text]))]});
