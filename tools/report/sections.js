"use strict";
// The sections about the winner, the progress and the candidates of one run. Each function of
// report.sections, also those of other files, returns {id, title, body}.

report.sections = {};

/** The winner, the kernels with which it is compared, and the facts of the run. */
report.sections.winner = run => {
  const {element, format} = report;
  const {winner} = run;
  const body = [];
  if (winner) {
    body.push(report.facts([
      ["over the default", run.default.p50_us ? report.against(run.default.p50_us, winner, "default")
        : element("span", {class: "lacks"}, run.default.why)],
      ["over the first green milestone", run.baseline
        ? report.against(run.baseline.p50_us, winner, run.baseline.milestone)
        : element("span", {class: "lacks"}, "no milestone is green")],
      ...report.vendor(run),
      ["useful work", winner.tflops ? [`${format.number(winner.tflops, 1)} TFLOP/s`,
        run.device.peak_tflops > 0 ? element("small", {},
          `${format.number(100 * winner.tflops / run.device.peak_tflops, 1)} % of the device's peak`) : null]
        : element("span", {class: "lacks"}, "the problem states no FLOPs")],
      ["90th percentile", [`${format.us(winner.p90_us)} µs`, element("small", {},
        winner.samples > 1 ? `${format.number(winner.samples)} samples, cv ${format.number(100 * winner.cv, 1)} %`
          : "one prediction")]],
      ["registers, shared memory", [`${winner.registers} per thread`, element("small", {},
        `${format.number(winner.shared_bytes)} B per CTA, ${winner.spill_bytes} B spilled`)]],
    ], "tiles"));
    if (winner.not_modelled) {
      body.push(report.note(`The predicted time does not model: ${winner.not_modelled}.`));
    }
    const ties = report.ties(run);
    if (ties.length > 0) {
      body.push(report.note(`A/B comparisons of each kernel with the one above it find no certain difference above 0.4 % between the winner and ${ties.map(row => `candidate ${row.candidate} (${format.us(row.p50_us)} µs)`).join(" and ")}; the winner was found first.`));
    }
    if (run.interpreted) body.push(report.note(`The elite was ${run.interpreted}.`));
  } else {
    body.push(report.lacks(`Nothing is green in this run: of ${format.count(run.summary.evaluated, "candidate")} none passed every gate. The sections below say why.`));
  }
  body.push(report.facts([
    ["device", `${run.device.name}, ${run.device.arch}, driver ${run.device.driver}`],
    ["problem, shape", `${run.problem}, ${run.shape}${report.variables(run)}`],
    ["search", `${run.strategy}, seed ${run.seed}, check seed ${run.check_seed || "not stored"}`],
    ["candidates", `${format.number(run.summary.evaluated)} evaluated, ${format.number(run.summary.green)} green, ${format.number(run.summary.rejected)} rejected, ${format.number(run.summary.duplicates)} the same kernel as another`],
    ["reference kernel", "judges correctness; a run does not time it"],
    ["run", `${run.status}, started ${format.time(run.started_at)}, evo-tune ${run.evo_version}`],
  ]));
  body.push(report.command("Make this run again", run.command));
  if (winner && run.changes) {
    body.push(run.changes.length === 0
      ? report.note("The winner is the space's default configuration.")
      : report.table("The macros in which the winner differs from the default",
        [{label: "macro"}, {label: "default", numeric: true}, {label: "winner", numeric: true},
          {label: "what it decides", wide: true}],
        run.changes.map(change => [change.macro, String(change.default), String(change.winner),
          run.meanings?.[change.macro] ?? ""])));
  }
  return {id: "winner", title: "Winner", body};
};

report.against = (us, winner, name) => [report.format.ratio(us / winner.p50_us),
  report.element("small", {}, `${name}: ${report.format.us(us)} µs`)];

/** The fastest time of a vendor's library, if one is stored. */
report.vendor = ({vendor}) => vendor ? [["over a vendor's library", [report.format.ratio(vendor.ratio),
  report.element("small", {}, `${vendor.name} with ${vendor.starts_from} inputs: ${report.format.us(vendor.p50_us)} µs, in turn with candidate ${vendor.candidate}`)]]] : [];

report.variables = run => run.variables
  ? ` (${Object.entries(run.variables).map(([name, value]) => `${name} ${value}`).join(", ")})` : "";

report.sections.progress = run => {
  const {element, format} = report;
  const {best, generations} = run.candidates;
  const body = [];
  if (best.length === 0) {
    body.push(report.lacks("No candidate was timed, so there is no best time to follow."));
  } else {
    let by = "evaluations";
    const chart = report.chart("The best time so far",
      (palette, width) => report.bestOption(palette, [run], by, width), {height: 300});
    body.push(report.choice("Across", `best-by-${run.id}`,
      [["evaluations", "evaluations"], ["seconds", "seconds"]], by, value => {
        by = value;
        chart.redraw();
      }), element("div", {class: "wide"}, report.figure(`Best ${report.timeName(run)}, so far`, chart)),
    report.folded("Improvements of the best time, as a table", () => report.table(
      "Improvements of the best time", [{label: "evaluations", numeric: true},
        {label: "seconds", numeric: true}, {label: report.timeName(run), numeric: true},
        {label: "candidate", numeric: true}],
      best.map(([count, seconds, us, id]) =>
        [format.number(count), format.number(seconds, 1), format.us(us), String(id)]))));
  }
  if (generations.length > 0) body.push(...report.outcomes(run));
  body.push(report.rejections(run));
  return {id: "progress", title: "Progress", body};
};

/** The best time so far as steps; one plot for the runs of one problem, shape and kind. */
report.bestOption = (palette, runs, by, width) => {
  const end = run => by === "seconds"
    ? run.candidates.columns.seconds[run.candidates.count - 1] : run.candidates.count;
  return {
    grid: {left: 8, right: 16, bottom: 40,
      top: runs.length > 1 ? report.belowLegend(runs.map(run => `run ${run.id}`), width) : 12},
    legend: runs.length > 1 ? report.legend(palette) : undefined,
    tooltip: {trigger: "axis", valueFormatter: value => `${report.format.us(value)} µs`},
    xAxis: report.axis(palette, by === "seconds" ? "seconds since the start" : "evaluations",
      {type: "value", min: 0}),
    yAxis: report.axis(palette, `best ${report.timeName(runs[0])}`,
      {type: "value", scale: true, nameGap: width < 500 ? 40 : 48}),
    series: runs.map(run => {
      const steps = run.candidates.best.map(([count, seconds, us]) =>
        [by === "seconds" ? seconds : count, us]);
      if (steps.length > 0) steps.push([end(run), steps[steps.length - 1][1]]);
      return {name: `run ${run.id}`, type: "line", step: "end", data: steps, symbolSize: 6,
        lineStyle: {width: 2}};
    }),
  };
};

report.outcomes = run => {
  const {format} = report;
  const {generations} = run.candidates;
  const ends = Object.keys(generations[0]).filter(end => end !== "generation"
    && generations.some(row => row[end] > 0));
  const others = {green: "green", duplicate: "same kernel", withdrawn: "withdrawn",
    unjudged: "not judged"};
  const name = end => others[end] ?? `rejected: ${end}`;
  const chart = report.chart("Outcomes of the candidates of each generation", (palette, width) => ({
    grid: {left: 8, right: 16, top: report.belowLegend(ends.map(name), width), bottom: 40},
    legend: report.legend(palette),
    tooltip: {trigger: "axis", axisPointer: {type: "shadow"}},
    xAxis: report.axis(palette, "generation",
      {type: "category", data: generations.map(row => row.generation)}),
    yAxis: report.axis(palette, "candidates", {type: "value", nameGap: 36, minInterval: 1}),
    series: ends.map(end => ({name: name(end), type: "bar", stack: "all", barMaxWidth: 28,
      itemStyle: {color: report.endColour(palette, end)}, data: generations.map(row => row[end])})),
  }), {height: width => 250 + report.belowLegend(ends.map(name), width)});
  return [report.element("div", {class: "wide"}, report.figure("Outcomes of the candidates of each generation", chart)),
    report.folded("The same as a table", () => report.table("Outcomes of the candidates of each generation",
      [{label: "generation", numeric: true}, ...ends.map(end => ({label: name(end), numeric: true}))],
      generations.map(row => [String(row.generation), ...ends.map(end => format.number(row[end]))])))];
};

report.endColour = (palette, end) => ({
  green: palette.series[2], duplicate: palette.line, build: palette.series[6],
  resource: palette.series[1], correctness: palette.series[5], timing: palette.series[3],
  withdrawn: palette.series[7], unjudged: palette.muted,
})[end] ?? palette.series[4];

report.rejections = run => {
  const {groups} = run.summary;
  if (groups.length === 0) return report.note("No candidate was rejected.");
  return report.table("Why candidates were rejected, by gate; reasons that differ in figures only are one",
    [{label: "gate"}, {label: "candidates", numeric: true}, {label: "first", numeric: true},
      {label: "reason of the first", wide: true}, {label: "policy only"}],
    groups.map(group => [group.gate, report.format.number(group.count), String(group.candidate),
      group.reason, group.policy_only ? "yes" : "no"]));
};

report.negatives = run => {
  const negatives = run.insight?.negatives ?? [];
  if (negatives.length === 0) {
    return report.note(run.insight?.knobs?.length > 0 ? "There are no valid negatives: no value that was tried in the winner made it slower or left it equally fast." : "");
  }
  return report.folded(`Valid negatives: ${report.format.count(negatives.length, "value")} tried in the winner and no faster`,
    () => report.table(`Values that make the winner slower, or faster by at most ${report.format.number(run.insight.same_percent)} %`,
      [{label: "macro"}, {label: "value", numeric: true}, {label: "time of the winner with it, %", numeric: true},
        {label: "pairs", numeric: true}],
      negatives.map(value => [value.macro, value.value, report.format.percent(value.in_winner_percent),
        report.format.number(value.pairs)])));
};

report.sections.candidates = run => {
  if (run.candidates.count === 0) {
    return {id: "candidates", title: "Candidates", body: [report.lacks("The run evaluated no candidate.")]};
  }
  return {id: "candidates", title: "Candidates",
    body: [new report.Explorer(run, `run${run.id}`).element()]};
};
