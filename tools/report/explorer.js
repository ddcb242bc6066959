"use strict";
// Every candidate: filters, with a scatter plot and parallel coordinates of the matching ones.

/** An axis name: one line if axes lie one above the other (`upright`), else one or two lines. */
report.axisName = (dimension, upright) => {
  const name = dimension.isKnob ? dimension.label : "time, µs";
  if (upright || name.length <= 10) return name;
  const breaks = [...name.matchAll(/_/g)].map(({index}) => index + 1);
  if (breaks.length === 0) return name;
  const best = breaks.reduce((a, b) => Math.abs(a - name.length / 2) <= Math.abs(b - name.length / 2) ? a : b);
  return `${name.slice(0, best)}\n${name.slice(best)}`;
};

report.Explorer = class {
  constructor(run, prefix) {
    this.run = run;
    this.prefix = prefix;
    this.dimensions = report.dimensions(run);
    this.byKey = new Map(this.dimensions.map(dimension => [dimension.key, dimension]));
    this.filters = new Map();
    this.controls = new Map();
    const has = key => this.byKey.has(key);
    this.x = has("registers") ? "registers" : "evaluation";
    this.y = has("p50_us") ? "p50_us" : "evaluation";
    this.colour = "outcome";
    this.knobs = this.importantKnobs();
    if (has("p50_us") && this.knobs.length > 0) this.colour = this.knobs[0];
    this.passing = report.passing(this.dimensions, this.filters, run.candidates.count);
  }

  importantKnobs() {
    const known = (this.run.insight?.knobs ?? []).map(knob => `knob ${knob.macro}`);
    const all = this.dimensions.filter(dimension => dimension.isKnob).map(({key}) => key);
    return [...known.filter(key => this.byKey.has(key)),
      ...all.filter(key => !known.includes(key))];
  }

  element() {
    const {element} = report;
    this.status = element("p", {class: "status", role: "status"});
    this.scatter = report.chart("Every candidate by two figures that you choose", (palette, width) =>
      this.scatterOption(palette, width), {canvas: true, height: width => width < 600 ? 380 : 460,
      ready: chart => chart.on("brushEnd", event => this.brushed(event))});
    this.parallel = report.chart("Every candidate as a line across its macros and its time",
      (palette, width) => this.parallelOption(palette, width),
      {canvas: true, height: width => this.parallelHeight(width),
        ready: chart => chart.on("axisareaselected", event => this.axisSelected(event)),
        drawn: () => this.showAreas()});
    this.listing = report.folded("The fastest candidates that pass, as a table", () => {
      this.listingBody = element("div");
      this.fillListing();
      return this.listingBody;
    });
    const made = element("div", {class: "explorer"}, this.axisControls(), this.filterControls(),
      this.status,
      element("div", {class: "wide"}, report.figure(
        "Candidates that pass the filters. “Select in the plot”, then draw a box, filters by both axes.",
        this.scatter)),
      element("div", {class: "wide"}, report.figure(
        "Their macros, most important first, and their time. Drag along an axis to filter by it; click it to stop.",
        this.parallel)),
      this.listing);
    this.showStatus();
    return made;
  }

  // Controls ---------------------------------------------------------------------------------

  axisControls() {
    const {element} = report;
    const options = this.dimensions.map(({key, label}) => [key, label]);
    const choose = axis => key => {
      this[axis] = key;
      this.scatter.redraw();
      this.showStatus();
    };
    this.brushButton = element("button", {type: "button", "aria-pressed": "false",
      onclick: () => this.toggleBrush()}, "Select in the plot");
    return element("div", {class: "controls", role: "group", "aria-label": "Axes and colour"},
      report.select("Across", options, this.x, choose("x")),
      report.select("Up", options, this.y, choose("y")),
      report.select("Colour", options, this.colour, choose("colour")), this.brushButton,
      element("button", {type: "button", onclick: () => this.reset()}, "Clear all filters"));
  }

  filterControls() {
    const {element} = report;
    this.filterSummary = element("span", {}, "Filters: none");
    const box = element("details", {class: "filters"},
      element("summary", {}, this.filterSummary),
      element("div", {class: "filter-grid"},
        this.dimensions.map(dimension => this.filterControl(dimension))));
    return box;
  }

  filterControl(dimension) {
    const {element} = report;
    const made = dimension.words ? this.wordControl(dimension) : this.rangeControl(dimension);
    return element("fieldset", {"data-dimension": dimension.key},
      element("legend", {}, dimension.label), made);
  }

  rangeControl(dimension) {
    const {element} = report;
    const [low, high] = report.extent(dimension.values);
    const input = (label, placeholder) => element("input", {type: "number", step: "any",
      "aria-label": `${dimension.label}, ${label}`, onchange: () => apply(),
      placeholder: report.format.number(placeholder, dimension.digits).replace(/,/g, "")});
    const least = input("at least", low);
    const most = input("at most", high);
    const apply = () => {
      const from = least.value === "" ? -Infinity : Number(least.value);
      const to = most.value === "" ? Infinity : Number(most.value);
      this.filter(dimension.key, least.value === "" && most.value === "" ? null : [[from, to]]);
    };
    this.controls.set(dimension.key, intervals => {
      const from = intervals ? Math.min(...intervals.map(([a]) => a)) : -Infinity;
      const to = intervals ? Math.max(...intervals.map(([, b]) => b)) : Infinity;
      least.value = Number.isFinite(from) ? String(Number(from.toPrecision(6))) : "";
      most.value = Number.isFinite(to) ? String(Number(to.toPrecision(6))) : "";
    });
    return element("div", {class: "range"}, least, element("span", {}, "to"), most);
  }

  wordControl(dimension) {
    const {element} = report;
    const boxes = dimension.words.map(() => element("input", {type: "checkbox", checked: true,
      onchange: () => apply()}));
    const apply = () => {
      const places = new Set(boxes.flatMap((box, i) => box.checked ? [i] : []));
      this.filter(dimension.key, places.size === boxes.length ? null : places);
    };
    this.controls.set(dimension.key, places =>
      boxes.forEach((box, i) => { box.checked = places ? places.has(i) : true; }));
    const only = i => this.filter(dimension.key, boxes.length > 1 ? new Set([i]) : null);
    return element("div", {class: "words"}, boxes.map((box, i) => element("span", {},
      element("label", {}, box, dimension.words[i]),
      element("button", {type: "button", class: "only", "aria-label": `only ${dimension.label} ${dimension.words[i]}`,
        onclick: () => only(i)}, "only"))));
  }

  // Filtering --------------------------------------------------------------------------------

  /** `wanted`: intervals or indices; null: all. */
  filter(key, wanted) {
    if (wanted === null) this.filters.delete(key);
    else this.filters.set(key, wanted);
    this.controls.get(key)?.(wanted);
    this.refresh();
  }

  reset() {
    for (const key of this.filters.keys()) this.controls.get(key)?.(null);
    this.filters.clear();
    this.refresh();
  }

  refresh() {
    this.passing = report.passing(this.dimensions, this.filters, this.run.candidates.count);
    this.scatter.redraw();
    this.parallel.redraw();
    this.showStatus();
    if (this.listingBody) this.fillListing();
  }

  drawn() {
    const x = this.byKey.get(this.x).values;
    const y = this.byKey.get(this.y).values;
    return this.passing.filter(i => x[i] !== null && y[i] !== null);
  }

  showStatus() {
    const {number} = report.format;
    const drawn = this.drawn().length;
    const {count} = this.run.candidates;
    const missing = this.passing.length - drawn;
    this.status.textContent = `${number(this.passing.length)} of ${number(count)} candidates pass`
      + ` the filters; ${number(drawn)} are drawn`
      + (missing > 0 ? `, ${number(missing)} lack one of the two figures.` : ".");
    const active = [...this.filters.keys()].map(key => this.byKey.get(key).label);
    this.filterSummary.textContent = `Filters: ${active.length > 0 ? active.join(", ") : "none"}`;
    this.status.dataset.passing = this.passing.length;
    this.status.dataset.drawn = drawn;
  }

  toggleBrush() {
    const active = this.brushButton.getAttribute("aria-pressed") !== "true";
    this.brushButton.setAttribute("aria-pressed", String(active));
    this.scatter.instance?.dispatchAction({type: "takeGlobalCursor", key: "brush",
      brushOption: {brushType: active ? "rect" : false, brushMode: "single"}});
  }

  brushed(event) {
    const range = event.areas[0]?.coordRange;
    if (!range) return;
    this.toggleBrush();
    [[this.x, range[0]], [this.y, range[1]]].forEach(([key, [low, high]]) => {
      const dimension = this.byKey.get(key);
      const wanted = dimension.words
        ? new Set(dimension.words.map((_, i) => i).filter(i => i >= low && i <= high))
        : [[low, high]];
      this.filters.set(key, wanted);
      this.controls.get(key)?.(wanted);
    });
    this.refresh();
  }

  // Plots ------------------------------------------------------------------------------------

  planeAxis(palette, key) {
    const {label, words} = this.byKey.get(key);
    return words
      ? report.axis(palette, label, {type: "category", data: words, jitter: 24, jitterOverlap: true})
      : report.axis(palette, label, {type: "value", scale: true, ...this.fixedRange(palette, key)});
  }

  colourMap(palette, key, dimension) {
    const {values, words, label} = this.byKey.get(key);
    if (words && words.length <= palette.series.length) {
      return {type: "piecewise", dimension, top: 0, left: 0, orient: "horizontal",
        selectedMode: false, textStyle: {color: palette.text}, itemGap: 8,
        pieces: words.map((word, i) => ({value: i, label: word, color: palette.series[i]})),
        outOfRange: {color: palette.muted}};
    }
    // The slowest tenth shares one colour, so that the others can be distinguished.
    const sorted = values.filter(value => value !== null).sort((a, b) => a - b);
    const low = sorted[0];
    const high = key === "p50_us" ? sorted[Math.floor(0.9 * (sorted.length - 1))] : sorted.at(-1);
    const {number} = report.format;
    const digits = words ? 0 : this.byKey.get(key).digits;
    const end = words ? [words[low], words[high]] : [number(low, digits), number(high, digits)];
    return {type: "continuous", dimension, min: low, max: high > low ? high : low + 1, top: 0, left: 0,
      orient: "horizontal", itemHeight: 100, itemWidth: 12, calculable: false,
      text: [`${key === "p50_us" ? "≥ " : ""}${end[1]}`, `${label}:  ${end[0]}`],
      textStyle: {color: palette.text}, inRange: {color: palette.scale},
      outOfRange: {color: palette.scale.at(-1)}};
  }

  tip(i) {
    const {columns} = this.run.candidates;
    const {format} = report;
    const lines = [`candidate ${columns.id[i]}, ${report.word(columns.outcome, i)}`];
    if (columns.milestone.values[i] !== null) lines.push(report.word(columns.milestone, i));
    if (columns.p50_us[i] !== null) {
      lines.push(`${format.us(columns.p50_us[i])} µs ${report.kind(this.run)}`);
    }
    if (columns.reason.values[i] !== null) lines.push(report.word(columns.reason, i).slice(0, 120));
    if (columns.registers[i] !== null) {
      lines.push(`${columns.registers[i]} registers, ${format.number(columns.shared_bytes[i])} B shared`);
    }
    for (const key of this.knobs.slice(0, 6)) {
      const {label, words, values} = this.byKey.get(key);
      if (values[i] !== null) lines.push(`${label} ${words[values[i]]}`);
    }
    return lines.join("\n");
  }

  scatterOption(palette) {
    const x = this.byKey.get(this.x).values;
    const y = this.byKey.get(this.y).values;
    const colour = this.byKey.get(this.colour).values;
    const best = this.run.winner?.candidate;
    const points = this.drawn().map(i => [x[i], y[i], colour[i] ?? -1, i]);
    const winner = points.filter(point => this.run.candidates.columns.id[point[3]] === best);
    return {
      grid: {left: 8, right: 20, top: 64, bottom: 40},
      tooltip: {formatter: item => this.tip(item.data[3])},
      xAxis: this.planeAxis(palette, this.x),
      yAxis: {...this.planeAxis(palette, this.y), nameGap: 48},
      toolbox: {show: false},
      visualMap: {...this.colourMap(palette, this.colour, 2), seriesIndex: 0},
      brush: {toolbox: [], xAxisIndex: 0, transformable: false, outOfBrush: {},
        brushStyle: {color: "rgba(128,128,128,0.2)", borderColor: palette.text}},
      series: [
        {name: "candidates", type: "scatter", symbolSize: points.length > 2000 ? 5 : 8,
          itemStyle: {opacity: points.length > 2000 ? 0.6 : 0.8}, data: points},
        {name: "winner", type: "scatter", symbol: "circle", symbolSize: 18, z: 5, data: winner,
          itemStyle: {color: "transparent", borderColor: palette.text, borderWidth: 2},
          label: {show: true, formatter: () => "winner", position: "top", color: palette.text,
            textBorderColor: palette.page, textBorderWidth: 3}},
      ],
    };
  }

  /** Filtering changes which points are shown, not where they are. */
  fixedRange(palette, key) {
    const {values} = this.byKey.get(key);
    if (key === "p50_us") {
      const scale = report.timeScale(values);
      if (scale.type === "log") return {...scale, axisLabel: {color: palette.muted, ...scale.axisLabel}};
    }
    const [low, high] = report.extent(values);
    const room = (high - low || Math.abs(high) || 1) * 0.04;
    return {min: low >= 0 ? Math.max(0, low - room) : low - room, max: high + room,
      axisLabel: {color: palette.muted, hideOverlap: true, showMinLabel: false, showMaxLabel: false}};
  }

  isUpright(width) { return width < 700; }

  parallelKeys(width) {
    const room = this.isUpright(width) ? 9 : Math.max(4, Math.floor(width / 95) - 1);
    return [...this.knobs.slice(0, room), ...(this.byKey.has("p50_us") ? ["p50_us"] : [])];
  }

  parallelHeight(width) {
    return this.isUpright(width) ? 90 + 62 * this.parallelKeys(width).length : 420;
  }

  parallelOption(palette, width) {
    const keys = this.parallelKeys(width);
    this.shownKeys = keys;
    const upright = this.isUpright(width);
    const dimensions = keys.map(key => this.byKey.get(key));
    const time = this.byKey.get("p50_us");
    const lines = this.passing.map(i =>
      dimensions.map(({values}) => values[i] === null ? "-" : values[i]));
    return {
      tooltip: {show: false},
      parallel: upright
        ? {layout: "vertical", left: 16, right: 24, top: 70, bottom: 24}
        : {left: 50, right: 70, top: 84, bottom: 28},
      parallelAxis: dimensions.map((dimension, dim) => this.parallelAxis(palette, dimension, dim, upright)),
      visualMap: time ? {...this.colourMap(palette, "p50_us", keys.length - 1)} : undefined,
      series: [{type: "parallel", smooth: false, data: lines, progressive: 1000,
        lineStyle: {width: 1, opacity: Math.max(0.08, Math.min(0.7, 60 / Math.sqrt(lines.length * 40 + 1)))},
        inactiveOpacity: 0.02, activeOpacity: 0.7}],
    };
  }

  parallelAxis(palette, dimension, dim, upright) {
    const axis = {
      dim, name: report.axisName(dimension, upright), realtime: false,
      id: `${this.prefix} ${dimension.key}`,
      nameLocation: upright ? "start" : "end",
      nameTextStyle: {color: palette.text, fontSize: 11, align: upright ? "left" : "center",
        verticalAlign: "bottom", lineHeight: 13, padding: upright ? [0, 0, 2, 0] : 0,
        ...(upright ? {backgroundColor: palette.page} : {})},
      nameGap: upright ? 9 : 14,
      nameRotate: 0,
      axisLabel: {color: palette.text, fontSize: 11, backgroundColor: palette.page, padding: [1, 3],
        borderRadius: 2},
      axisLine: {lineStyle: {color: palette.muted}},
      axisTick: {lineStyle: {color: palette.line}},
      areaSelectStyle: {width: 16, color: palette.accent, opacity: 0.3, borderColor: palette.accent},
    };
    if (dimension.words) return {...axis, type: "category", data: dimension.words};
    const scale = report.timeScale(dimension.values);
    return {...axis, ...scale, axisLabel: {...axis.axisLabel, ...scale.axisLabel}};
  }

  axisSelected(event) {
    if (this.showing) return;
    const key = this.shownKeys.find(known => `${this.prefix} ${known}` === event.parallelAxisId);
    if (!key) return;
    const {words} = this.byKey.get(key);
    const intervals = event.intervals ?? [];
    if (intervals.length === 0) {
      this.filter(key, null);
    } else if (words) {
      this.filter(key, new Set(words.map((_, i) => i)
        .filter(i => intervals.some(([low, high]) => i >= low - 0.001 && i <= high + 0.001))));
    } else {
      this.filter(key, intervals);
    }
  }

  /** The filters as areas on the axes. */
  showAreas() {
    const chart = this.parallel.instance;
    this.showing = true;
    for (const key of this.shownKeys) {
      const wanted = this.filters.get(key);
      if (!wanted) continue;
      const {words, values} = this.byKey.get(key);
      const [low, high] = words ? [0, 0] : report.extent(values);
      const intervals = words ? report.placesAsIntervals(wanted)
        : wanted.map(([from, to]) => [Math.max(from, low), Math.min(to, high)]);
      chart.dispatchAction({type: "axisAreaSelect", parallelAxisId: `${this.prefix} ${key}`, intervals});
    }
    this.showing = false;
  }

  fillListing() {
    const {columns} = this.run.candidates;
    const {format} = report;
    const most = 100;
    const order = [...this.passing].sort((a, b) =>
      (columns.p50_us[a] ?? Infinity) - (columns.p50_us[b] ?? Infinity) || a - b).slice(0, most);
    const knobs = this.knobs.slice(0, 8).map(key => this.byKey.get(key));
    const caption = `${order.length} of ${format.count(this.passing.length, "candidate")} that pass`;
    this.listingBody.replaceChildren(report.table(caption,
      [{label: "candidate", numeric: true}, {label: "outcome"},
        {label: report.timeName(this.run), numeric: true}, {label: "registers", numeric: true},
        {label: "shared, B", numeric: true}, {label: "occupancy, %", numeric: true},
        ...knobs.map(({label}) => ({label, numeric: true})), {label: "why not", wide: true}],
      order.map(i => [String(columns.id[i]), report.word(columns.outcome, i),
        format.us(columns.p50_us[i]), format.number(columns.registers[i]),
        format.number(columns.shared_bytes[i]), format.number(columns.occupancy_percent[i], 1),
        ...knobs.map(({words, values}) => values[i] === null ? "–" : words[values[i]]),
        report.word(columns.reason, i) ?? ""])));
  }
};
