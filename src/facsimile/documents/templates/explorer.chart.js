"use strict";
/* Numbers as people read them, and drawings as plain SVG. A colour never speaks alone: marks differ in shape too. */

/* How figures of a view are written. A bound is never rounded to the wrong side: side is −1, 0 or 1. */
function numerals(told) {
  function rounded(value, digits, side) {
    const scale = 10 ** digits, moved = value * scale, whole = Math.round(moved);
    if (Math.abs(moved - whole) < 1e-9 * Math.max(1, Math.abs(moved))) return whole / scale;
    return (side < 0 ? Math.floor(moved) : side > 0 ? Math.ceil(moved) : whole) / scale;
  }
  function written(value, digits, side, more = "") {
    const form = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return rounded(value, digits, side).toLocaleString(told.words.locale, form).replace("-", "−") + more;
  }
  function digitsOf({ numbers }) {
    const wide = Math.max(...numbers) - Math.min(...numbers) || 1;
    return Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(wide))));
  }
  return function form(show) {
    const [kind, which] = show.split("-");
    if (kind === "count") return (value, side = 0) => written(value, 0, side);
    if (kind === "share") return (value, side = 0) => written(100 * value, 2, side, "\u00a0%");
    return (value, side = 0) => written(value, digitsOf(told.columns[which]), side);
  };
}

/* A line for each value of the first column, a mark for each of the second, a drawing for each of the third. */
function drawer(told) {
  const MOST_SERIES = 8, MOST_PANELS = 24, MOST_MARKS = 800, SIZE = 13, APART = 13;
  const SHAPES = [
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z", "M-4.4 -4.4h8.8v8.8h-8.8z", "M0 -6L5.2 0L0 6L-5.2 0z",
    "M0 -5.6L5.4 4.2H-5.4z", "M0 5.6L5.4 -4.2H-5.4z",
    "M-1.8 -5.4h3.6v3.6h3.6v3.6h-3.6v3.6h-3.6v-3.6h-3.6v-3.6h3.6z",
  ];
  const shape = (series, given = {}) => make("path", { class: "dot", d: SHAPES[series % SHAPES.length], ...given });
  function make(name, given = {}, ...inside) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(given)) {
      made.setAttribute(key, typeof value === "number" ? Math.round(10 * value) / 10 : value);
    }
    made.append(...inside);
    return made;
  }

  const pen = document.createElement("canvas").getContext("2d"), widths = new Map();
  function wide(words) {
    if (!widths.size) pen.font = `${SIZE}px ${getComputedStyle(document.body).fontFamily}`;
    if (!widths.has(words)) widths.set(words, pen.measureText(words).width);
    return widths.get(words);
  }
  function cut(words, room) {
    if (wide(words) <= room) return words;
    let kept = [...words];
    while (kept.length && wide(`${kept.join("")}…`) > room) kept = kept.slice(0, -1);
    return `${kept.join("")}…`;
  }

  function scaled(lines, zero) {
    const values = lines.flatMap(({ value, low, high }) => [value, low, high]).filter((value) => value !== null);
    if (zero || !values.length) values.push(0);
    let [low, high] = [Math.min(...values), Math.max(...values)];
    if (low === high) [low, high] = zero ? [low, low + 1] : [low - 1, high + 1];
    const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const by = power * [1, 2, 5, 10].find((step) => rough / power <= step * 1.0001);
    [low, high] = [Math.floor(low / by + 1e-9) * by, Math.ceil(high / by - 1e-9) * by];
    return { low, high, by, ticks: Array.from({ length: Math.round((high - low) / by) + 1 }, (_, i) => low + i * by) };
  }
  function ticked(value, by, show) {
    const [times, more] = show.startsWith("share") ? [100, "\u00a0%"] : [1, ""];
    const digits = Math.max(0, -Math.floor(Math.log10(times * by) + 1e-9));
    const form = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return (times * value).toLocaleString(told.words.locale, form).replace("-", "−") + more;
  }

  /* The released figure, as a bar or a point, and the interval of the original; a point without one is hollow. */
  function mark({ value, low, high, status }, x, y, series, bars) {
    const made = make("g", { class: `mark s${series} ${status}` });
    if (value !== null && bars) {
      made.append(make("rect", { class: "bar", x: x(0), y: y - 7, width: x(value) - x(0), height: 14 }));
    }
    if (low !== null) {
      const [from, to] = [low, high].map((end) => x(end).toFixed(1));
      made.append(make("path", { class: "interval", d: `M${from} ${y - 4}v8M${from} ${y}H${to}M${to} ${y - 4}v8` }));
    }
    if (value !== null && !(bars && low !== null)) {
      made.append(shape(series, { transform: `translate(${x(value).toFixed(1)} ${y})` }));
    }
    return made;
  }
  function panel(rows, series, scale, show, width, words) {
    const step = Math.max(24, series * APART + 9), height = rows.length * step + 26, right = width - 26;
    const named = rows.length > 1 || rows[0].label, room = 10 + Math.max(...rows.map(({ label }) => wide(label)));
    const left = named ? Math.min(width * 0.42, room) : 8, bars = series === 1 && !show.startsWith("mean");
    const x = (value) => left + ((value - scale.low) / (scale.high - scale.low)) * (right - left);
    const drawing = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words });
    const gap = wide(ticked(scale.high, scale.by, show)) + 14;
    const every = Math.ceil(gap / Math.max(1, (right - left) / (scale.ticks.length - 1)));
    scale.ticks.forEach((tick, i) => {
      drawing.append(make("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 0, y2: height - 22 }));
      const at = { class: "tick", x: x(tick), y: height - 6, "text-anchor": "middle" };
      if (i % every === 0) drawing.append(make("text", at, ticked(tick, scale.by, show)));
    });
    rows.forEach(({ label, lines }, i) => {
      if (i && series > 1) drawing.append(make("line", { class: "grid", x1: 0, x2: right, y1: i * step, y2: i * step }));
      const middle = (i + 0.5) * step, at = { x: left - 8, y: middle + 4.5, "text-anchor": "end" };
      drawing.append(make("text", at, `\u2068${cut(label, left - 10)}\u2069`, make("title", {}, label)));
      for (const { line, s } of lines) drawing.append(mark(line, x, middle + (s - (series - 1) / 2) * APART, s, bars));
    });
    return drawing;
  }

  /* The drawings with their headings; null where they are too many. A second column with many values makes panels. */
  return function draw({ axes, lines }, show, width, words) {
    const [rows, columns, panels] = axes, many = columns?.levels.length ?? 1, apart = many > MOST_SERIES;
    const series = apart ? 1 : many, scale = scaled(lines, !show.startsWith("mean")), found = new Map();
    const named = (axis, level) => (axis ? [axis.levels[level].meaning] : []);
    const heading = (at) => [...named(apart && columns, at[1]), ...named(panels, at[2])];
    const empty = () => (rows?.levels ?? [{ meaning: "" }]).map(({ meaning }) => ({ label: meaning, lines: [] }));
    for (const line of lines) {
      const key = [apart ? line.at[1] : 0, line.at[2] ?? 0].join();
      if (!found.has(key)) found.set(key, { heads: heading(line.at), own: empty() });
      found.get(key).own[line.at[0] ?? 0].lines.push({ line, s: apart ? 0 : (line.at[1] ?? 0) });
    }
    if (lines.length > MOST_MARKS || found.size > MOST_PANELS) return null;
    const beside = found.size > 1 && width >= 640, each = beside ? (width - 32) / 2 : width;
    const drawn = [...found.values()].map(({ heads, own }) =>
      ({ heads, svg: panel(own, series, scale, show, each, [words, ...heads].join(" ")) }));
    const sample = (s) => make("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" },
      make("g", { class: `mark s${s} guaranteed` }, shape(s)));
    const legend = series > 1 ? columns.levels.map(({ meaning }, s) => ({ meaning, svg: sample(s) })) : [];
    return { drawn, legend, beside };
  };
}
