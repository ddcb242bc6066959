"use strict";
// Plots: their colours, when they are drawn, and their common parts.

report.palette = () => {
  const style = getComputedStyle(document.documentElement);
  const colour = name => style.getPropertyValue(`--${name}`).trim();
  return {
    text: colour("text"), muted: colour("muted"), line: colour("line"), page: colour("page"), surface: colour("surface"),
    better: colour("better"), worse: colour("worse"), accent: colour("accent"),
    // Adapted from the palette of Okabe and Ito, which colour-blind people can distinguish, too.
    series: ["series-1", "series-2", "series-3", "series-4", "series-5", "series-6", "series-7",
      "series-8"].map(colour),
    scale: ["scale-1", "scale-2", "scale-3", "scale-4"].map(colour),
  };
};

report.charts = [];

/**
 * A plot. `option(palette, width)` returns the options for ECharts; it is called again when the
 * width, the colours or (by redraw()) the data have changed. Drawn when it comes near the window.
 * more: {height(width) or number, canvas: true, ready(instance)}.
 */
report.chart = (label, option, more = {}) => {
  const box = report.element("div", {class: "chart", role: "img", "aria-label": label});
  const heightAt = width => typeof more.height === "function" ? more.height(width)
    : more.height ?? 320;
  // Reserves the final height, so that nothing moves when it is drawn.
  box.style.height = `${heightAt(document.documentElement.clientWidth < 800 ? 360 : 1100)}px`;
  const made = {box, instance: null, width: 0};
  made.draw = (width = box.clientWidth) => {
    if (width === 0) return;
    const height = heightAt(width);
    box.style.height = `${height}px`;
    // SVG stays sharp on paper, and is never printed half drawn.
    const renderer = more.canvas && !report.isPrinting() ? "canvas" : "svg";
    if (made.instance !== null && renderer !== made.renderer) {
      made.instance.dispose();
      made.instance = null;
    }
    if (made.instance === null) {
      made.renderer = renderer;
      made.instance = echarts.init(box, null, {renderer, width, height});
      made.redraw(width);
      if (more.ready) more.ready(made.instance);
    } else if (width !== made.width) {
      made.instance.resize({width, height});
      made.redraw(width);
    }
    made.width = width;
  };
  made.redraw = (width = made.width) => {
    if (made.instance === null) return;
    const palette = report.palette();
    made.instance.setOption(report.withDefaults(option(palette, width), palette, label), true);
    if (more.drawn) more.drawn(made.instance);
  };
  report.charts.push(made);
  report.whenNear(box, () => made.draw());
  return made;
};

report.isPrinting = () => document.documentElement.classList.contains("printing");

/** For printing, draws everything at once, because there is no next frame for the rest. */
report.atOnce = series => series.map(one => ({...one, progressive: 0}));

report.withDefaults = (option, palette, label) => ({
  animation: false,
  color: palette.series,
  textStyle: {color: palette.text, fontFamily: getComputedStyle(document.body).fontFamily},
  aria: {enabled: true, label: {description: label}},
  ...option,
  series: report.isPrinting() ? report.atOnce(option.series) : option.series,
  tooltip: {
    // Text, not HTML, because the data may contain markup.
    renderMode: "richText", confine: true, backgroundColor: palette.surface,
    borderColor: palette.line, textStyle: {color: palette.text, fontSize: 12}, ...option.tooltip,
  },
});

report.axis = (palette, name, more = {}) => ({
  name, nameLocation: "middle", nameGap: 30,
  nameTextStyle: {color: palette.muted, fontSize: 12},
  axisLabel: {color: palette.muted, hideOverlap: true, ...more.axisLabel},
  axisLine: {lineStyle: {color: palette.line}},
  axisTick: {lineStyle: {color: palette.line}},
  splitLine: {lineStyle: {color: palette.line, opacity: 0.6}},
  ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== "axisLabel")),
});

/**
 * An axis of times: logarithmic if the slowest takes more than five times as long as the fastest,
 * because the fast ones, which matter most, would be indistinguishable on a linear axis.
 */
report.timeScale = values => {
  const [low, high] = report.extent(values);
  return high / low > 5 ? {type: "log", logBase: 2, min: low * 0.95, max: high * 1.05,
    axisLabel: {formatter: report.shortNumber, showMinLabel: false, showMaxLabel: false}}
    : {type: "value", scale: true};
};

report.extent = values => {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
};

report.shortNumber = value => {
  const units = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  const [size, unit] = units.find(([least]) => value >= least) ?? [1, ""];
  return `${Number((value / size).toPrecision(3))}${unit}`;
};

report.legend = palette => ({
  top: 0, left: 0, textStyle: {color: palette.text}, itemWidth: 14, itemHeight: 10, itemGap: 10,
  icon: "roundRect",
});

/** The height of a legend with these names above a plot, which may take several lines. */
report.belowLegend = (names, width) => {
  const line = 24;
  let lines = 1;
  let filled = 0;
  for (const name of names) {
    const size = 30 + 7 * name.length;
    if (filled > 0 && filled + size > width - 10) {
      ++lines;
      filled = 0;
    }
    filled += size;
  }
  return 16 + line * lines;
};

/** A plot with its caption; `below`: elements below the plot, such as a legend of colours. */
report.figure = (title, chart, ...below) => report.element("figure", {},
  report.element("figcaption", {}, title), chart.box, below);

/** Calls `draw` once the box is about to be seen, and again whenever its width changes. */
report.whenNear = (box, draw) => {
  const widths = new ResizeObserver(() => draw());
  const seen = new IntersectionObserver(entries => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    seen.disconnect();
    draw();
    widths.observe(box);
  }, {rootMargin: "400px"});
  seen.observe(box);
};

/** Draws all plots for printing, including those that have not been scrolled to. */
report.preparePrint = () => {
  document.documentElement.classList.add("printing");
  const paperWidth = 680;
  for (const chart of report.charts) {
    const column = Math.min(paperWidth, chart.box.parentElement.classList.contains("wide")
      ? paperWidth : chart.box.clientWidth || paperWidth);
    chart.draw(column);
    chart.redraw(column);  // plots drawn before, in other colours
    if (chart.instance) chart.instance.getZr().flush();
  }
};

report.watchColours = () => {
  const redrawAll = () => report.charts.forEach(chart => chart.redraw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  addEventListener("beforeprint", report.preparePrint);
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    for (const chart of report.charts) chart.draw();
    redrawAll();
  });
};

/**
 * Intervals as boxes around their middle: rows {label, low, middle, high, colour}, topmost first;
 * `short`: the text beside the box. For a box beyond `most`, the text is at the edge of the plot.
 */
report.intervals = (palette, width, rows, name, middleName, reference, most = Infinity) => {
  const upwards = [...rows].reverse();
  const beside = upwards.map(row => ({value: [Math.min(row.high, most), row.label], short: row.short,
    label: {position: row.high > most ? "left" : "right"}}));
  return {
    grid: {left: 4, right: rows.some(row => row.short) ? 64 : 16, top: 8, bottom: 40},
    tooltip: {formatter: item => {
      const row = upwards[item.dataIndex];
      return [`${row.label}`, [middleName, row.text].filter(text => text).join(" "), row.more]
        .filter(text => text).join("\n");
    }},
    xAxis: report.axis(palette, name, {type: "value", scale: true,
      ...(rows.some(row => row.high > most) ? {max: most} : {})}),
    yAxis: report.axis(palette, "", {
      type: "category", data: upwards.map(row => row.label), splitLine: {show: false},
      axisLabel: {color: palette.text, width: Math.min(260, width * 0.42), lineHeight: 12,
        overflow: width < 500 ? "break" : "truncate",
        interval: 0, hideOverlap: false},
    }),
    series: [{
      type: "boxplot", boxWidth: [6, 12],
      data: upwards.map(row => ({
        value: [row.low, row.low, row.middle, row.high, row.high],
        itemStyle: {color: row.colour, borderColor: row.colour === "transparent" ? palette.muted
          : row.colour, opacity: 0.75, borderWidth: 1.5},
      })),
      markLine: {symbol: "none", silent: true, label: {show: false},
        lineStyle: {color: palette.text, type: "solid", width: 1}, data: [{xAxis: reference}]},
    }, {
      type: "scatter", symbolSize: 1, silent: true, itemStyle: {color: "transparent"}, tooltip: {show: false},
      data: beside, label: {show: true, color: palette.text, fontSize: 11,
        formatter: item => item.data.short ?? ""},
    }],
  };
};
