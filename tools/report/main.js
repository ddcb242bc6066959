"use strict";
// Builds the page.

report.order = ["winner", "why", "progress", "milestones", "knobs", "candidates", "roofline", "resources",
  "comparisons", "gpu", "profile", "errors", "policy", "source", "events"];

report.headline = run => run.winner
  ? [`${report.format.us(run.winner.p50_us)} µs `, report.element("span",
    {class: report.isPredicted(run) ? "kind predicted" : "kind"}, report.kind(run))]
  : ["Nothing is green"];

/** Groups of runs with comparable times. */
report.comparable = runs => {
  const groups = new Map();
  for (const run of runs) {
    const key = JSON.stringify([run.problem, run.shape, run.device.kind]);
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()];
};

report.compareTable = runs => report.table(
  `${runs[0].problem}, shape ${runs[0].shape}, ${report.kind(runs[0])} times`,
  [{label: "run", numeric: true}, {label: "space"}, {label: "device"}, {label: "strategy, seed"},
    {label: report.timeName(runs[0]), numeric: true}, {label: "over its default", numeric: true},
    {label: "over its first green milestone", numeric: true}, {label: "TFLOP/s", numeric: true},
    {label: "evaluated", numeric: true}, {label: "green", numeric: true}, {label: "seconds", numeric: true}],
  runs.map(run => {
    const {winner} = run;
    const over = other => winner && other?.p50_us ? report.format.ratio(other.p50_us / winner.p50_us) : "–";
    const seconds = run.candidates.columns.seconds;
    return [report.element("a", {href: `#run${run.id}`}, String(run.id)), run.space, run.device.name,
      `${run.strategy}, ${run.seed}`, winner ? report.format.us(winner.p50_us) : "no kernel is green",
      over(run.default), over(run.baseline), winner?.tflops ? report.format.number(winner.tflops, 1) : "–",
      report.format.number(run.summary.evaluated), report.format.number(run.summary.green),
      seconds && seconds.length > 0 ? report.format.number(seconds[seconds.length - 1], 1) : "–"];
  }));

report.comparison = runs => {
  const {element} = report;
  const groups = report.comparable(runs);
  const body = groups.flatMap((group, i) => {
    const timed = group.filter(run => run.candidates.best.length > 0);
    if (timed.length < 2) return [report.compareTable(group)];
    let by = "evaluations";
    const chart = report.chart("The best times so far of several runs",
      (palette, width) => report.bestOption(palette, timed, by, width), {height: 340});
    return [report.compareTable(group),
      report.choice("Across", `compare-by-${i}`, [["evaluations", "evaluations"], ["seconds", "seconds"]],
        by, value => {
          by = value;
          chart.redraw();
        }),
      element("div", {class: "wide"}, report.figure("Best time so far of each run", chart))];
  });
  if (groups.length > 1) {
    body.unshift(report.note("Runs on different problems or shapes, and measured and predicted times, are not compared with each other."));
  }
  return element("section", {id: "compare", "aria-labelledby": "compare-title"},
    element("h2", {id: "compare-title"}, "Side by side"), body);
};

report.runArticle = (run, several) => {
  const {element} = report;
  const prefix = several ? `run${run.id}-` : "";
  const heading = several ? "h2" : "h1";
  const article = element("article", {id: `run${run.id}`, "aria-labelledby": `${prefix}headline`},
    element("header", {class: "headline"},
      element("p", {class: "eyebrow"}, `Run ${run.id} · ${run.space} · ${run.shape} · ${run.device.name}`),
      element(heading, {id: `${prefix}headline`}, report.headline(run))));
  if (report.isPredicted(run)) {
    article.append(element("p", {class: "notice"}, "Every time of this run is PREDICTED by a virtual GPU; nothing was measured."));
  }
  for (const name of report.order) {
    const {id, title, body} = report.sections[name](run);
    article.append(element("section", {id: prefix + id, ...(several ? {"aria-label": `${title}, run ${run.id}`}
      : {"aria-labelledby": `${id}-title`})},
      element(several ? "h3" : "h2", {id: `${prefix}${id}-title`}, title), body.flat()));
  }
  return article;
};

report.contents = () => {
  const {element} = report;
  const links = [...document.querySelectorAll("main section, main article")]
    .map(part => {
      const title = part.querySelector("h1, h2, h3");
      return element("li", {class: part.tagName === "ARTICLE" ? "run" : null},
        element("a", {href: `#${part.id}`}, part.tagName === "ARTICLE" ? `Run ${part.id.slice(3)}` : title.textContent));
    });
  document.getElementById("contents").replaceChildren(
    element("p", {class: "brand"}, "evo-tune"), element("ol", {}, links));
};

report.about = () => {
  const {element} = report;
  document.getElementById("about").append(
    element("p", {}, `Written by evo-report ${report.data.version}. Plots by Apache ECharts ${echarts.version}.`),
    report.folded("Licence of the plotting library", () => element("div", {},
      element("p", {}, "Apache ECharts, Copyright 2017-2025 The Apache Software Foundation. This product includes software developed at The Apache Software Foundation (https://www.apache.org/)."),
      element("pre", {class: "code", tabindex: "0", "aria-label": "Licence"},
        document.getElementById("licence").textContent))));
};

report.build = () => {
  const {runs} = report.data;
  const several = runs.length > 1;
  const main = document.getElementById("content");
  const parts = [];
  if (several) {
    parts.push(report.element("header", {class: "headline"},
      report.element("h1", {}, `${runs.length} runs side by side`)), report.comparison(runs));
  }
  main.replaceChildren(...parts, ...runs.map(run => report.runArticle(run, several)));
  report.contents();
  report.about();
  report.watchColours();
};

report.build();
