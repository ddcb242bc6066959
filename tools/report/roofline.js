"use strict";
// How close the winner is to the device's limits: the problem's roofline, and the kernel's own
// limits as far as they are known.

/** From this share on, a limit is reported as the kernel's bottleneck. */
report.limiting = 60;

/** Units by the names of Nsight Compute's metrics. */
report.unitNames = [["sm__pipe_tensor", "tensor cores"], ["sm__inst_executed_pipe_xu", "MUFU and conversions"],
  ["l1tex__", "shared memory and L1"], ["dram__", "DRAM"], ["sm__pipe_fma", "f32 arithmetic"], ["sm__pipe_alu", "integers and logic"]];

report.unitName = metric => report.unitNames.find(([prefix]) => metric.startsWith(prefix))?.[1] ?? metric;

/** {name, percent, source} of every known limit of the winner, highest first. */
report.limits = run => {
  const {device, winner, flops_per_launch: flops, bytes_per_launch: bytes} = run;
  const limits = [];
  if (!winner) return limits;
  if (flops > 0 && device.peak_tflops > 0) {
    limits.push({name: "arithmetic (useful FLOPs)", percent: 100 * flops / (winner.p50_us * 1e6) / device.peak_tflops,
      source: "the problem's FLOPs against the device's peak"});
  }
  if (bytes > 0 && device.peak_bandwidth_gbs > 0) {
    limits.push({name: "memory (useful bytes)", percent: 100 * bytes / (winner.p50_us * 1e3) / device.peak_bandwidth_gbs,
      source: "the problem's data once against the device's peak"});
  }
  const profile = run.profiles.find(row => row.candidate === winner.candidate);
  const counted = Object.values(profile?.metrics ?? {}).filter(({metric, unit}) => unit === "%" && metric.includes("pct_of_peak"))
    .map(({metric, value}) => ({name: report.unitName(metric), percent: value,
      source: `${profile.tool}${profile.kind === "predicted" ? ", PREDICTED" : ""}`}));
  const predicted = Object.entries(run.units).map(([metric, percent]) => ({name: report.unitName(metric), percent,
    source: "the time model, PREDICTED"}));
  const units = [...counted, ...predicted.filter(({name}) => !counted.some(unit => unit.name === name))];
  return [...limits, ...units].sort((a, b) => b.percent - a.percent);
};

/** Names the winner's bottleneck, or says that no known limit applies. */
report.verdictText = limits => {
  const {number} = report.format;
  if (limits.length === 0) return "No limit of this kernel is known.";
  const [top] = limits;
  if (top.percent >= report.limiting) {
    return `The winner is limited by ${top.name}: ${number(top.percent, 1)} % of what is possible (${top.source}).`;
  }
  return `No known limit explains this time: the highest is ${top.name}, ${number(top.percent, 1)} % of what is possible (${top.source}).`;
};

report.unknownUnits = limits => {
  const unknown = report.unitNames.slice(0, 4).map(([, name]) => name).filter(name => !limits.some(limit => limit.name === name));
  if (unknown.length === 0) return "";
  return ` Not known: how busy ${unknown.join(", ")} ${unknown.length === 1 && unknown[0] !== "tensor cores" ? "is" : "are"}; evo-tune --profile measures the metrics in “profile” of the problem.`;
};

/** The occupancy of the device by the CTAs. */
report.fillText = run => {
  const {number, count} = report.format;
  const {columns} = run.candidates;
  const at = columns.id.indexOf(run.winner.candidate);
  const [ctas, each, sms] = [columns.ctas[at], columns.ctas_per_sm[at], run.device.sm_count];
  if (at < 0 || ctas === null || !(sms > 0)) return "";
  const idle = ctas < sms ? ` ${count(sms - ctas, "SM")} of ${number(sms)} ${sms - ctas === 1 ? "has" : "have"} nothing to do.` : "";
  if (!(each > 0)) return ` A launch has ${count(ctas, "CTA")} on ${count(sms, "SM")}.${idle}`;
  const waves = ctas / (sms * each);
  return ` A launch has ${count(ctas, "CTA")}; ${count(sms, "SM")} hold ${number(each)} each at once, by ${report.word(columns.limit, at)}: ${waves <= 1 ? "one wave" : `${number(waves, 1)} waves`}.${idle}`;
};

report.limitsPart = run => {
  if (!run.winner) return [report.lacks("There is no winner whose limits could be shown.")];
  const limits = report.limits(run);
  const body = [report.note(report.verdictText(limits) + report.unknownUnits(limits) + report.fillText(run))];
  if (limits.length === 0) return body;
  const upwards = [...limits].reverse();
  const chart = report.chart("How close the winner comes to each known limit", (palette, width) => ({
    grid: {left: 4, right: 56, top: 8, bottom: 40},
    tooltip: {formatter: item => `${upwards[item.dataIndex].name}\n${upwards[item.dataIndex].source}`},
    xAxis: report.axis(palette, "% of what is possible", {type: "value", min: 0, max: Math.max(100, limits[0].percent)}),
    yAxis: report.axis(palette, "", {type: "category", data: upwards.map(({name}) => name), splitLine: {show: false},
      axisLabel: {color: palette.text, interval: 0, hideOverlap: false, width: width * 0.36, overflow: "break"}}),
    series: [{type: "bar", barMaxWidth: 14, data: upwards.map(({percent}) => ({value: percent,
      itemStyle: {color: percent >= report.limiting ? palette.worse : palette.accent}})),
    label: {show: true, position: "right", color: palette.text, fontSize: 11, formatter: item => `${report.format.number(item.value, 1)} %`},
    markLine: {symbol: "none", silent: true, label: {show: false}, lineStyle: {color: palette.muted}, data: [{xAxis: report.limiting}]}}],
  }), {height: 56 + 26 * limits.length});
  body.push(report.element("div", {class: "wide"}, report.figure("The winner's limits", chart,
    report.key([["accent", `below ${report.limiting} %`], ["worse", `${report.limiting} % and more: the bottleneck`]]))),
  report.folded("The limits as a table", () => report.table("The winner's limits, as far as they are known",
    [{label: "limit"}, {label: "% of what is possible", numeric: true}, {label: "source", wide: true}],
    limits.map(({name, percent, source}) => [name, report.format.number(percent, 1), source]))));
  return body;
};

report.sections.roofline = run => ({id: "roofline", title: "Limits and roofline",
  body: [...report.limitsPart(run), ...report.rooflinePart(run)]});

report.rooflinePart = run => {
  const {device, flops_per_launch: flops, bytes_per_launch: bytes} = run;
  if (!(flops > 0) || !(bytes > 0)) {
    return [report.lacks("There is no roofline: the problem does not state the FLOPs and the bytes of a launch.")];
  }
  if (!(device.peak_tflops > 0) || !(device.peak_bandwidth_gbs > 0)) {
    return [report.lacks("There is no roofline: the peak rates of the device are not known.")];
  }
  const {format, element} = report;
  const intensity = flops / bytes;
  const roof = Math.min(device.peak_tflops, intensity * device.peak_bandwidth_gbs / 1e3);
  const reached = run.winner ? flops / (run.winner.p50_us * 1e6) : null;
  const chart = report.chart("Useful work per second, and the device's limits",
    (palette, width) => report.rooflineOption(palette, width, run, intensity), {height: 360});
  return [
    report.note(`A launch does ${report.shortNumber(flops)} useful FLOPs on ${report.shortNumber(bytes)} bytes: ${format.number(intensity, 1)} FLOP per byte, and the roof there is ${format.number(roof, 1)} TFLOP/s.`
      + (reached === null ? "" : ` The winner reaches ${format.number(reached, 2)} TFLOP/s ${report.kind(run)}, ${format.number(100 * reached / roof, 1)} % of it.`)),
    element("div", {class: "wide"}, report.figure("Roofline: all candidates do the same useful work, so they stand on one line", chart)),
    report.folded("The figures as a table", () => report.table("Roofline", [{label: "figure"}, {label: "value", numeric: true}],
      [["peak arithmetic, TFLOP/s", format.number(device.peak_tflops, 1)],
        ["peak memory, GB/s", format.number(device.peak_bandwidth_gbs, 0)],
        ["FLOP per byte of the problem", format.number(intensity, 2)],
        ["roof there, TFLOP/s", format.number(roof, 2)],
        ["winner, TFLOP/s", reached === null ? "–" : format.number(reached, 2)]]))];
};

report.rooflineOption = (palette, width, run, intensity) => {
  const {format} = report;
  const {device, flops_per_launch: flops} = run;
  const {columns} = run.candidates;
  const ridge = 1e3 * device.peak_tflops / device.peak_bandwidth_gbs;
  const rate = us => flops / (us * 1e6);
  const points = columns.p50_us.flatMap((us, i) => us === null ? [] : [[intensity, rate(us), i]]);
  const steps = run.milestones.filter(step => step.p50_us !== null)
    .map(step => [intensity, rate(step.p50_us), step.milestone]);
  const from = Math.min(intensity, ridge) / 8;
  const to = Math.max(intensity, ridge) * 8;
  const top = x => Math.min(device.peak_tflops, x * device.peak_bandwidth_gbs / 1e3);
  const name = item => item.seriesName === "milestones" ? item.data[2]
    : item.seriesName === "winner" ? "winner" : `candidate ${columns.id[item.data[2]]}`;
  return {
    grid: {left: 8, right: 20, top: report.belowLegend(["roof", "candidates", "milestones", "winner"], width), bottom: 40},
    legend: report.legend(palette),
    tooltip: {formatter: item => item.seriesName === "roof" ? `roof: ${format.number(item.data[1], 1)} TFLOP/s`
      : `${name(item)}\n${format.number(item.data[1], 2)} TFLOP/s ${report.kind(run)}`},
    xAxis: report.axis(palette, "FLOP per byte of the problem's data",
      {type: "log", min: from, max: to, axisLabel: {formatter: report.shortNumber, showMinLabel: false, showMaxLabel: false}}),
    yAxis: report.axis(palette, "TFLOP/s", {type: "log", nameGap: 44,
      min: Math.min(...points.map(([, y]) => y), top(from)) * 0.7, max: device.peak_tflops * 2,
      axisLabel: {formatter: report.shortNumber, showMinLabel: false, showMaxLabel: false}}),
    series: [
      {name: "roof", type: "line", data: [from, ridge, to].map(x => [x, top(x)]), showSymbol: false,
        lineStyle: {width: 2, color: palette.text}, itemStyle: {color: palette.text}},
      {name: "candidates", type: "scatter", symbolSize: 6, data: points,
        itemStyle: {color: palette.series[0], opacity: 0.35}},
      {name: "milestones", type: "scatter", symbol: "diamond", symbolSize: 10, data: steps,
        itemStyle: {color: palette.series[1]}},
      {name: "winner", type: "scatter", symbolSize: 16,
        data: run.winner ? [[intensity, rate(run.winner.p50_us)]] : [],
        itemStyle: {color: "transparent", borderColor: palette.text, borderWidth: 2}},
    ],
  };
};
