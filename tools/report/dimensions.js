"use strict";
// The dimensions by which candidates are filtered, placed and coloured.

/** The dimensions of a candidate: {key, label, values, words}; `words` for values that are no numbers. */
report.dimensions = run => {
  const {columns, knobs, count} = run.candidates;
  const all = [];
  const number = (key, label, values, digits = 0) => {
    if (values.some(value => value !== null)) all.push({key, label, values, digits});
  };
  const words = (key, label, column, isKnob = false) => {
    const numeric = column.words.every(word => word !== "" && Number.isFinite(Number(word)));
    const order = numeric
      ? [...column.words].sort((a, b) => Number(a) - Number(b)) : [...column.words];
    const place = new Map(order.map((word, i) => [word, i]));
    all.push({key, label, isKnob, words: order,
      values: column.values.map(at => at === null ? null : place.get(column.words[at]))});
  };
  number("p50_us", report.timeName(run), columns.p50_us, 2);
  if (run.flops_per_launch > 0) {
    number("tflops", "TFLOP/s",
      columns.p50_us.map(us => us === null ? null : run.flops_per_launch / (us * 1e6)), 1);
  }
  number("registers", "registers per thread", columns.registers);
  number("shared_bytes", "shared memory, bytes per CTA", columns.shared_bytes);
  number("spill_bytes", "spills, bytes per thread", columns.spill_bytes);
  number("threads", "threads per CTA", columns.threads);
  number("occupancy_percent", "occupancy, % of an SM's warps", columns.occupancy_percent, 1);
  const energies = new Map(run.energy.map(row => [row.candidate, row.launch_mj]));
  number("launch_mj", "energy of a launch, mJ", columns.id.map(id => energies.get(id) ?? null), 3);
  number("evaluation", "evaluations so far", Array.from({length: count}, (_, i) => i + 1));
  number("seconds", "seconds since the start", columns.seconds, 1);
  number("generation", "generation", columns.generation);
  words("outcome", "outcome", columns.outcome);
  words("origin", "origin", columns.origin);
  for (const [name, column] of Object.entries(knobs)) {
    if (column.words.length > 1) words(`knob ${name}`, name, column, true);
  }
  return all;
};

/** The candidates that pass; `filters` maps a key to a list of intervals or to a set of indices. */
report.passing = (dimensions, filters, count) => {
  const tests = dimensions.filter(dimension => filters.has(dimension.key)).map(dimension => {
    const wanted = filters.get(dimension.key);
    const {values} = dimension;
    if (dimension.words) return i => values[i] !== null && wanted.has(values[i]);
    return i => values[i] !== null
      && wanted.some(([low, high]) => values[i] >= low && values[i] <= high);
  });
  const passing = [];
  for (let i = 0; i < count; ++i) {
    if (tests.every(test => test(i))) passing.push(i);
  }
  return passing;
};

/** Groups adjacent indices into intervals of a category axis. */
report.placesAsIntervals = places => {
  const half = 0.4;
  const intervals = [];
  for (const place of [...places].sort((a, b) => a - b)) {
    const last = intervals[intervals.length - 1];
    if (last && place - last[1] < 1) last[1] = place + half;
    else intervals.push([place - half, place + half]);
  }
  return intervals;
};
