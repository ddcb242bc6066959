"use strict";
// The sections about the GPU: clocks, power, energy, and a profiler's metrics.

report.sections.gpu = run => {
  const {element, format} = report;
  const made = (...body) => ({id: "gpu", title: "Clocks, power, energy", body});
  if (run.gpu.length === 0 && run.energy.length === 0) {
    return made(report.lacks(report.isPredicted(run)
      ? "There are no clocks, no power and no energy: nothing ran on a GPU."
      : "No clocks, power and energy of the GPU are stored: its driver did not report them, or an older version of evo-tune made the run."));
  }
  const body = [];
  if (run.gpu.length > 0) body.push(...report.clocks(run));
  body.push(run.energy.length > 0 ? report.energy(run)
    : report.lacks("No energy was measured in this run."));
  return made(...body.flat(), run.gpu.length > 0 ? report.folded("The GPU in every timing, as a table",
    () => report.table("The GPU while candidates were timed",
      [{label: "candidate", numeric: true}, {label: "SM clock, median MHz", numeric: true},
        {label: "SM clock, least MHz", numeric: true}, {label: "temperature, °C", numeric: true},
        {label: "power, W", numeric: true}, {label: "samples taken again", numeric: true},
        {label: "slowed down by"}, {label: "stayed throttled"}, {label: "other processes"}],
      run.gpu.map(row => [String(row.candidate), format.number(row.sm_clock_median_mhz),
        format.number(row.sm_clock_min_mhz), format.number(row.temperature_c), format.number(row.power_w),
        format.number(row.discarded), row.slowdowns.join(", "), row.throttled ? "yes" : "no",
        row.others.join(", ")]))) : element("span"));
};

report.clocks = run => {
  const {element, format} = report;
  const {gpu} = run;
  const throttled = gpu.filter(row => row.throttled).length;
  const shared = gpu.filter(row => row.others.length > 0).length;
  const discarded = gpu.reduce((sum, row) => sum + row.discarded, 0);
  const order = new Map(run.candidates.columns.id.map((id, i) => [id, i + 1]));
  const line = (name, key, index) => ({name, type: "line", showSymbol: gpu.length < 200, symbolSize: 4,
    yAxisIndex: index, data: gpu.filter(row => row[key] !== null)
      .map(row => [order.get(row.candidate), row[key]])});
  const names = ["SM clock, median", "SM clock, least", "power"];
  const chart = report.chart("Clocks and power of the GPU while candidates were timed", (palette, width) => ({
    grid: {left: 8, right: 8, top: report.belowLegend(names, width), bottom: 40},
    legend: report.legend(palette),
    tooltip: {trigger: "axis"},
    xAxis: report.axis(palette, "evaluations", {type: "value"}),
    yAxis: [report.axis(palette, "SM clock, MHz", {type: "value", scale: true, nameGap: 44}),
      report.axis(palette, "power, W", {type: "value", min: 0, nameGap: 40, splitLine: {show: false}})],
    series: [line("SM clock, median", "sm_clock_median_mhz", 0), line("SM clock, least", "sm_clock_min_mhz", 0),
      line("power", "power_w", 1)],
  }), {height: 300});
  const said = (count, one, many) => count === 0 ? null : `${format.number(count)} ${count === 1 ? one : many}`;
  const troubles = [said(throttled, "timing was made on a GPU that stayed throttled", "timings were made on a GPU that stayed throttled"),
    said(shared, "while another process was on it", "while another process was on it"),
    said(discarded, "sample was taken again", "samples were taken again")].filter(text => text !== null);
  return [report.note(`The GPU was queried in ${format.count(gpu.length, "timing")}: ${troubles.length > 0 ? troubles.join("; ") : "it was never throttled (reaching its power cap does not count), and no other process used it"}.`),
    element("div", {class: "wide"}, report.figure("The GPU while candidates were timed", chart))];
};

/** The Pareto front of time and energy, ordered by time. */
report.front = points => {
  const front = [];
  for (const point of [...points].sort((a, b) => a.us - b.us || a.mj - b.mj)) {
    if (front.length === 0 || point.mj < front[front.length - 1].mj) front.push(point);
  }
  return front;
};

report.energy = run => {
  const {element, format} = report;
  const {columns} = run.candidates;
  const place = new Map(columns.id.map((id, i) => [id, i]));
  const points = run.energy.map(row => ({id: row.candidate, us: columns.p50_us[place.get(row.candidate)],
    mj: row.launch_mj, row})).filter(point => point.us !== null);
  const front = report.front(points);
  const chart = report.chart("Energy of a launch against its time, with the Pareto front", palette => ({
    grid: {left: 8, right: 16, top: 40, bottom: 40},
    legend: report.legend(palette),
    tooltip: {formatter: item => item.data[2] === undefined ? "" : `candidate ${item.data[2]}\n${format.us(item.data[0])} µs\n${format.number(item.data[1], 3)} mJ a launch`},
    xAxis: report.axis(palette, report.timeName(run), {type: "value", scale: true}),
    yAxis: report.axis(palette, "energy of a launch, mJ", {type: "value", scale: true, nameGap: 48}),
    series: [
      {name: "candidates", type: "scatter", symbolSize: 7, data: points.map(({us, mj, id}) => [us, mj, id]),
        itemStyle: {opacity: 0.55}},
      {name: "Pareto front", type: "line", step: "end", symbolSize: 9, data: front.map(({us, mj, id}) => [us, mj, id]),
        itemStyle: {color: palette.series[5]}},
    ],
  }), {height: 340});
  return [element("div", {class: "wide"}, report.figure("Time and energy: no candidate beats those of the Pareto front in both", chart)),
    report.table("The Pareto front of time and energy",
      [{label: "candidate", numeric: true}, {label: report.timeName(run), numeric: true},
        {label: "energy, mJ a launch", numeric: true}, {label: "mean power, W", numeric: true}, {label: "window, s", numeric: true}],
      front.map(({id, us, mj, row}) => [String(id), format.us(us), format.number(mj, 3),
        format.number(row.power_w, 0), `${format.number(row.window_s, 2)}${row.complete ? "" : " (short)"}`]))];
};

report.sections.profile = run => {
  const {format} = report;
  const made = (...body) => ({id: "profile", title: "Profile", body});
  if (run.profiles.length === 0) return made(report.lacks("No candidate was profiled in this run."));
  const names = [...new Set(run.profiles.flatMap(row => Object.keys(row.metrics)))];
  const unit = name => run.profiles.map(row => row.metrics[name]).find(metric => metric);
  return made(
    report.note(`Required: ${[...new Set(run.profiles.map(row => row.require))].join("; ")}. Counted by ${[...new Set(run.profiles.map(row => `${row.tool} (${row.kind === "predicted" ? "PREDICTED" : row.kind})`))].join("; ")}.`),
    report.table("The profiler's metrics of the elite", [{label: "candidate", numeric: true}, {label: "passed"},
      ...names.map(name => ({label: `${name}, ${unit(name).unit}`, numeric: true}))],
    run.profiles.map(row => [String(row.candidate), row.passed ? "yes" : "no",
      ...names.map(name => format.number(row.metrics[name]?.value, 2))])),
    report.facts(names.map(name => [name, unit(name).metric])));
};
