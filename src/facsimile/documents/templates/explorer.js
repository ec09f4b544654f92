"use strict";
/* Counts, shares and means of the released table, each with an interval for the original.
   Everything that comes of noise is in `told`, computed before: here numbers are added, multiplied, intersected. */

/* What is known of the original: the three rules of documents/explorer.py. A box is a list of {place, codes}, a part for
   each column that it constrains. An interval is {low, high}, or null where nothing is known. */
function rulesOf(told, tables) {
  const n = told.records, TINY = 1e-6;
  const size = (place) => told.columns[place].labels.length;
  const product = (numbers) => numbers.reduce((one, other) => one * other, 1);
  const clipped = (low, high, most = n) => ({ low: Math.min(most, Math.max(0, low)), high: Math.max(0, Math.min(most, high)) });
  /* Both hold: their overlap. Where they do not overlap one of them has failed, and nobody knows which: all between. */
  function meet(one, other) {
    if (!one || !other) return one ?? other;
    const low = Math.max(one.low, other.low), high = Math.min(one.high, other.high);
    return low <= high ? { low, high } : { low: Math.min(one.low, other.low), high: Math.max(one.high, other.high) };
  }
  const within = (box, part) => [...box.filter((one) => one.place !== part.place), part].filter((one) => one.codes.length < size(one.place));
  const covering = (box) => told.cells.find(({ ways }) => ways === null || box.length <= ways);

  /* Count rule: min(J, K − J) times U. */
  function reach(box, taken, rules) {
    const limit = covering(box)?.within[rules - 1] ?? null, all = product(box.map((part) => size(part.place)));
    return limit === null ? null : Math.min(taken, all - taken) * limit;
  }
  const cellsIn = (box) => product(box.map((part) => part.codes.length));
  function byCells(box, value, rules) {
    const half = reach(box, cellsIn(box), rules);
    return half === null ? null : clipped(value - half, value + half);
  }

  /* Noisy table: y(A) − (J/K)(Σy − n) ± h(J). */
  for (const table of tables) {
    table.all = product(table.shape);
    table.sum = table.counts.reduce((one, other) => one + other, 0);
    table.steps = table.shape.map((_, i) => product(table.shape.slice(i + 1)));
    table.sizes = table.groups.map((groups, i) => groups.reduce((found, group) => (found[group]++, found), Array(table.shape[i]).fill(0)));
    table.widths = new Map(Object.entries(table.half).map(([key, pairs]) => [key, new Map(pairs)]));
    table.known = new WeakMap();
  }
  function groupsIn(table, part) {
    if (table.known.has(part)) return table.known.get(part);
    const i = table.columns.indexOf(part.place), held = new Map();
    if (i >= 0) for (const code of part.codes) held.set(table.groups[i][code], (held.get(table.groups[i][code]) ?? 0) + 1);
    const whole = i >= 0 && [...held].every(([group, codes]) => codes === table.sizes[i][group]);
    const found = whole ? { i, groups: [...held.keys()] } : null;
    table.known.set(part, found);
    return found;
  }
  function widest(box, rules, parts) {
    let best = null;
    for (const table of tables) {
      const found = box.map((part) => groupsIn(table, part)), key = `${rules}/${parts}`;
      if (found.includes(null)) continue;
      const taken = product(table.shape) / product(found.map(({ i }) => table.shape[i])) * product(found.map(({ groups }) => groups.length));
      const half = table.widths.get(key)?.get(Math.min(taken, table.all - taken));
      if (half !== undefined && (!best || half < best.half)) best = { table, found, taken, half };
    }
    return best;
  }
  function byTable(box, rules, parts) {
    const best = widest(box, rules, parts);
    if (!best) return null;
    const { table, found, taken, half } = best, lists = table.shape.map((many) => Array.from({ length: many }, (_, group) => group));
    for (const { i, groups } of found) lists[i] = groups;
    const summed = (i, at) => (i === lists.length ? table.counts[at]
      : lists[i].reduce((sum, group) => sum + summed(i + 1, at + group * table.steps[i]), 0));
    const middle = summed(0, 0) - (taken / table.all) * (table.sum - n);
    return clipped(Math.ceil(middle - half - TINY), Math.floor(middle + half + TINY));
  }

  function count(box, value) {
    if (!box.length) return { low: n, high: n, rule: ["public"] };
    const cells = Boolean(covering(box)), noisy = Boolean(widest(box, 2, 1)), rules = cells + noisy;
    const found = meet(cells ? byCells(box, value, rules) : null, noisy ? byTable(box, rules, 1) : null);
    return found && { ...found, rule: [cells && "cells", noisy && "table"].filter(Boolean) };
  }

  /* The part a of b, c the rest: a/b rises with a and falls with b and c. */
  function share(box, value, base, whole) {
    if (!base.length) {
      const found = count(box, value);
      return found && { ...found, low: found.low / n, high: found.high / n };
    }
    const cells = Boolean(covering(box)), noisy = Boolean(widest(box, 2, 2) && widest(base, 2, 2)), rules = cells + noisy;
    const known = (one, counted) => meet(cells ? byCells(one, counted, rules) : null, noisy ? byTable(one, rules, 2) : null);
    const a = known(box, value), b = known(base, whole);
    if (!a || !b) return null;
    const c = cells ? rest(box, value, base, whole, rules) : { low: 0, high: n };
    const least = a.low / Math.min(b.high, a.low + c.high), most = a.high / Math.max(b.low, a.high + c.low);
    const found = clipped(Number.isNaN(least) ? 0 : least, Number.isNaN(most) ? 1 : most, 1);
    return { ...found, rule: [cells && "cells", noisy && "table"].filter(Boolean) };
  }
  function rest(box, value, base, whole, rules) {
    const taken = product(box.map(({ place }) => base.find((part) => part.place === place)?.codes.length ?? size(place)));
    const half = reach(box, taken - cellsIn(box), rules);
    if (half === null) return { low: 0, high: n };
    const both = reach(box, cellsIn(box), rules) + (reach(base, cellsIn(base), rules) ?? Infinity);
    return clipped(whole - value - Math.min(half, both), whole - value + Math.min(half, both));
  }

  /* The extremes of Σxr/Σr over r in their intervals: large r from some x on, small ones before, or the reverse. */
  function extremes(numbers, bins) {
    const order = numbers.map((_, i) => i).sort((i, j) => numbers[i] - numbers[j]);
    let low = Infinity, high = -Infinity;
    for (let cut = 0; cut <= order.length; cut++) {
      let [least, below, most, above] = [0, 0, 0, 0];
      order.forEach((i, place) => {
        const [few, many] = place < cut ? [bins[i].high, bins[i].low] : [bins[i].low, bins[i].high];
        least += few * numbers[i]; below += few;
        most += many * numbers[i]; above += many;
      });
      if (below > 0) low = Math.min(low, least / below);
      if (above > 0) high = Math.max(high, most / above);
    }
    return low <= high ? { low, high } : null;
  }
  const same = (box, codes) => {
    const parts = Object.entries(codes).filter(([place, held]) => held.length < size(Number(place)));
    return parts.length === box.length && box.every((part) => codes[part.place]?.join() === part.codes.join());
  };
  function mean(box, of, values) {
    const codes = box.find((part) => part.place === of)?.codes ?? values.map((_, code) => code);
    const numbers = codes.map((code) => told.columns[of].numbers[code]), parts = values.length;
    const boxes = codes.map((code) => within(box, bin(of, code)));
    const cells = Boolean(covering(boxes[0])), noisy = boxes.every((one) => widest(one, 3, parts));
    const asked = told.means.filter((one) => one.of === of).flatMap((one) => one.groups.map((group) => ({ ...group, within: one.within })));
    const group = cells || noisy || !box.length ? asked.find((one) => same(box, one.codes)) : undefined;
    const rules = cells + noisy + Boolean(group);
    if (!rules) return null;
    const bins = boxes.map((one, i) => meet(cells ? byCells(one, values[codes[i]], rules) : null, noisy ? byTable(one, rules, parts) : null));
    let found = bins.includes(null) ? null : extremes(numbers, bins);
    const limit = group?.within[rules - 1] ?? null;
    if (limit !== null) {
      const total = codes.reduce((sum, code) => sum + values[code], 0);
      const summed = bins.reduce((sum, one) => sum + (one?.low ?? 0), 0);
      const least = box.length ? Math.max(summed, (cells && byCells(box, total, rules)?.low) || 0) : n;
      const half = limit * Math.max(1, group.counted / least);
      if (least > 0) found = meet(found, { low: group.centre - half, high: group.centre + half });
    }
    if (!found) return null;
    const [lowest, highest] = [Math.min(...numbers), Math.max(...numbers)];
    return {
      low: Math.min(highest, Math.max(lowest, found.low)), high: Math.max(lowest, Math.min(highest, found.high)),
      rule: [cells && "cells", noisy && "table", limit !== null && "mean"].filter(Boolean),
    };
  }
  const bins = new Map();
  function bin(place, code) {
    const key = `${place} ${code}`;
    if (!bins.has(key)) bins.set(key, { place, codes: [code] });
    return bins.get(key);
  }
  return { count, share, mean, size };
}

/* A view of the table: what is counted, split by up to three columns, among the records that filters keep.
   A state is {show, split: [{place, grouped}], only: Map of place to codes}; show is count, share, share-0 (within each
   value of the first column), share-1, or mean-PLACE. */
function viewer(told, table, rules) {
  const MOST = 20000;
  function axis({ place, grouped }, only) {
    const { labels, meanings, groups } = told.columns[place], kept = new Set(only.get(place) ?? labels.keys());
    const levels = (grouped ? groups.map(({ label, codes }) => ({ label, meaning: label, codes }))
      : labels.map((label, code) => ({ label, meaning: meanings[code], codes: [code] })))
      .map((level) => ({ ...level, codes: level.codes.filter((code) => kept.has(code)) })).filter(({ codes }) => codes.length);
    for (const level of levels) level.part = { place, codes: level.codes };
    return { place, levels };
  }
  const boxed = (parts) => parts.filter((part) => part.codes.length < rules.size(part.place)).sort((one, other) => one.place - other.place);

  /* Counts of every combination, and of every bin of the averaged column within it. */
  function counted(axes, others, bins, of) {
    const size = axes.reduce((all, { levels }) => all * levels.length, 1), found = new Float64Array(size * bins);
    const maps = axes.map(({ place, levels }) => {
      const map = new Int32Array(rules.size(place)).fill(-1);
      levels.forEach(({ codes }, i) => codes.forEach((code) => { map[code] = i; }));
      return { codes: table.codes[place], map, many: levels.length };
    });
    const masks = others.map(({ place, codes }) => {
      const mask = new Uint8Array(rules.size(place));
      for (const code of codes) mask[code] = 1;
      return { codes: table.codes[place], mask };
    });
    rows: for (let row = 0; row < told.rows; row++) {
      for (const { codes, mask } of masks) if (!mask[codes[row]]) continue rows;
      let at = 0;
      for (const { codes, map, many } of maps) {
        const level = map[codes[row]];
        if (level < 0) continue rows;
        at = at * many + level;
      }
      found[at * bins + (bins > 1 ? table.codes[of][row] : 0)] += table.counts[row];
    }
    return found;
  }

  function line(show, of, box, parts, values, base, whole) {
    const value = values.reduce((sum, one) => sum + one, 0), made = { parts, records: value };
    if (show === "count") Object.assign(made, { value }, judged(rules.count(box, value), 0, told.records));
    else if (show === "mean") {
      const numbers = told.columns[of].numbers, codes = box.find((part) => part.place === of)?.codes ?? [...numbers.keys()];
      const own = codes.map((code) => numbers[code]), sum = values.reduce((all, one, code) => all + one * numbers[code], 0);
      Object.assign(made, { value: value ? sum / value : null }, judged(rules.mean(box, of, values), Math.min(...own), Math.max(...own)));
    } else Object.assign(made, { value: whole ? value / whole : null, base }, judged(rules.share(box, value, boxed(base), whole), 0, 1));
    return made;
  }
  /* An interval that holds everything possible says nothing. */
  function judged(found, least, most) {
    if (!found || (found.low <= least && found.high >= most && least < most)) return { low: null, high: null, status: "none", rule: [] };
    return { ...found, status: "guaranteed" };
  }

  return function view({ show, split, only }) {
    const axes = split.map((one) => axis(one, only)), places = new Set(split.map(({ place }) => place));
    const filters = [...only].map(([place, codes]) => ({ place, codes })), others = filters.filter(({ place }) => !places.has(place));
    const size = axes.reduce((all, { levels }) => all * levels.length, 1);
    const [kind, which] = show.split("-"), of = kind === "mean" ? Number(which) : null;
    const bins = of === null ? 1 : told.columns[of].labels.length;
    const total = line(kind === "mean" ? "mean" : "count", of, boxed(filters), filters, [...counted([], filters, bins, of)], [], 0);
    if (!size || size > MOST) return { axes, size, total, lines: [] };
    const found = counted(axes, others, bins, of), lines = [];
    const wholes = new Map(), kept = (at) => (which === undefined ? [] : at.flatMap((level, i) => (i === Number(which) || i > 1 ? [[i, level]] : [])));
    const places_at = (index) => axes.map(({ levels }, i) => Math.floor(index / axes.slice(i + 1).reduce((all, one) => all * one.levels.length, 1)) % levels.length);
    if (kind === "share") for (let index = 0; index < size; index++) {
      const key = kept(places_at(index)).join();
      wholes.set(key, (wholes.get(key) ?? 0) + found[index]);
    }
    for (let index = 0; index < size; index++) {
      const at = places_at(index), parts = at.map((level, i) => axes[i].levels[level].part), base = kept(at);
      const based = [...base.map(([i, level]) => axes[i].levels[level].part), ...filters.filter(({ place }) => !base.some(([i]) => axes[i].place === place))];
      const values = [...found.subarray(index * bins, (index + 1) * bins)];
      lines.push({ at, ...line(kind, of, boxed([...parts, ...others]), [...parts, ...others], values, based, wholes.get(base.join())) });
    }
    return { axes, size, total, lines };
  };
}

/* Numbers as people read them. A bound is never rounded to the wrong side. */
function numerals(told) {
  const { locale } = told.words;
  function rounded(value, digits, side) {
    const scale = 10 ** digits, moved = value * scale, whole = Math.round(moved);
    if (Math.abs(moved - whole) < 1e-9 * Math.max(1, Math.abs(moved))) return whole / scale;
    return (side < 0 ? Math.floor(moved) : side > 0 ? Math.ceil(moved) : whole) / scale;
  }
  const fixed = (value, digits, side, more = "") => {
    const form = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return rounded(value, digits, side).toLocaleString(locale, form).replace("-", "−") + more;
  };
  function digitsOf(of) {
    const { numbers } = told.columns[of], wide = Math.max(...numbers) - Math.min(...numbers) || 1;
    return Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(wide))));
  }
  return function form(show) {
    const [kind, which] = show.split("-");
    if (kind === "mean") return (value, side = 0) => fixed(value, digitsOf(Number(which)), side);
    return kind === "count" ? (value, side = 0) => fixed(value, 0, side) : (value, side = 0) => fixed(100 * value, 2, side, "\u00a0%");
  };
}

/* Drawings: a line for each value of the first column, a mark for each of the second, a drawing for each of the third. */
function drawer(told) {
  const MOST_SERIES = 8, MOST_MARKS = 800, SIZE = 13;
  const SHAPES = ["M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z", "M-4.4 -4.4h8.8v8.8h-8.8z", "M0 -6L5.2 0L0 6L-5.2 0z", "M0 -5.6L5.4 4.2H-5.4z",
    "M-1.8 -5.4h3.6v3.6h3.6v3.6h-3.6v3.6h-3.6v-3.6h-3.6v-3.6h3.6z", "M0 5.6L5.4 -4.2H-5.4z"];
  function make(name, given = {}, ...inside) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(given)) made.setAttribute(key, typeof value === "number" ? Math.round(10 * value) / 10 : value);
    made.append(...inside);
    return made;
  }
  const pen = document.createElement("canvas").getContext("2d");
  function cut(words, room) {
    pen.font = `${SIZE}px ${getComputedStyle(document.body).fontFamily}`;
    let kept = [...words];
    if (pen.measureText(words).width <= room) return words;
    while (kept.length && pen.measureText(`${kept.join("")}…`).width > room) kept = kept.slice(0, -1);
    return `${kept.join("")}…`;
  }
  const wide = (words) => { pen.font = `${SIZE}px ${getComputedStyle(document.body).fontFamily}`; return pen.measureText(words).width; };
  function scaled(lines, zero) {
    const values = lines.flatMap(({ value, low, high }) => [value, low, high]).filter((value) => value !== null);
    let low = Math.min(...values, zero ? 0 : Infinity), high = Math.max(...values, zero ? 0 : -Infinity);
    if (!values.length) [low, high] = [0, 1];
    if (low === high) [low, high] = [low - (zero ? 0 : 1), high + 1];
    const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
    const by = power * [1, 2, 5, 10].find((step) => rough / power <= step * 1.0001);
    [low, high] = [Math.floor(low / by + 1e-9) * by, Math.ceil(high / by - 1e-9) * by];
    const ticks = Array.from({ length: Math.round((high - low) / by) + 1 }, (_, i) => low + i * by);
    return { low, high, by, ticks };
  }
  function ticked(value, by, show) {
    const digits = Math.max(0, -Math.floor(Math.log10(show.startsWith("share") ? 100 * by : by) + 1e-9));
    const [shown, more] = show.startsWith("share") ? [100 * value, "\u00a0%"] : [value, ""];
    return shown.toLocaleString(told.words.locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−") + more;
  }
  function mark(line, x, y, series, bars) {
    const made = make("g", { class: `mark s${series} ${line.status}` });
    if (line.value !== null && bars) made.append(make("rect", { class: "bar", x: x(0), y: y - 7, width: Math.max(0, x(line.value) - x(0)), height: 14 }));
    if (line.low !== null) {
      const [low, high] = [x(line.low), x(line.high)];
      made.append(make("path", { class: "interval", d: `M${low.toFixed(1)} ${y - 4}v8M${low.toFixed(1)} ${y}H${high.toFixed(1)}M${high.toFixed(1)} ${y - 4}v8` }));
    }
    if (line.value !== null && (!bars || line.low === null)) made.append(make("path", { class: "dot", d: SHAPES[series % SHAPES.length], transform: `translate(${x(line.value).toFixed(1)} ${y})` }));
    return made;
  }
  function panel(rows, series, scale, show, width, words) {
    const step = Math.max(24, series * 13 + 9), room = Math.min(width * 0.42, 10 + Math.max(...rows.map(({ label }) => wide(label))));
    const left = rows.length > 1 || rows[0].label ? room : 8, right = width - 26, height = rows.length * step + 26;
    const x = (value) => left + ((value - scale.low) / (scale.high - scale.low)) * (right - left), bars = series === 1 && !show.startsWith("mean");
    const drawing = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words });
    const gap = wide(ticked(scale.high, scale.by, show)) + 14, every = Math.ceil(gap / Math.max(1, (right - left) / (scale.ticks.length - 1)));
    scale.ticks.forEach((tick, i) => {
      drawing.append(make("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 0, y2: height - 22 }));
      if (i % every === 0) drawing.append(make("text", { class: "tick", x: x(tick), y: height - 6, "text-anchor": "middle" }, ticked(tick, scale.by, show)));
    });
    rows.forEach(({ label, lines }, i) => {
      if (i && series > 1) drawing.append(make("line", { class: "grid", x1: 0, x2: right, y1: i * step, y2: i * step }));
      const middle = (i + 0.5) * step, name = make("text", { x: left - 8, y: middle + 4.5, "text-anchor": "end" }, `\u2068${cut(label, left - 10)}\u2069`);
      name.append(make("title", {}, label));
      drawing.append(name);
      lines.forEach(({ line, s }) => drawing.append(mark(line, x, middle + (s - (series - 1) / 2) * 13, s, bars)));
    });
    return drawing;
  }
  /* The drawings with their headings; null where there are too many marks. */
  return function draw({ axes, lines }, show, width, words) {
    if (lines.length > MOST_MARKS) return null;
    const [rows, columns, panels] = axes, many = columns?.levels.length ?? 1, beside = many <= MOST_SERIES ? 1 : 2;
    const series = beside === 1 ? many : 1, scale = scaled(lines, !show.startsWith("mean")), found = new Map();
    for (const line of lines) {
      const apart = [...(beside === 2 ? [columns.levels[line.at[1]].meaning] : []), ...(panels ? [panels.levels[line.at[2]].meaning] : [])];
      const key = [beside === 2 ? line.at[1] : 0, line.at[2] ?? 0].join();
      if (!found.has(key)) found.set(key, { apart, rows: (rows?.levels ?? [{ meaning: "" }]).map(({ meaning }) => ({ label: meaning, lines: [] })) });
      found.get(key).rows[line.at[0] ?? 0].lines.push({ line, s: beside === 1 ? line.at[1] ?? 0 : 0 });
    }
    const across = found.size > 1 && width >= 640 ? 2 : 1, each = across === 2 ? (width - 32) / 2 : width;
    const drawn = [...found.values()].map(({ apart, rows: own }) => ({ apart, svg: panel(own, series, scale, show, each, [words, ...apart].join(" ")) }));
    const legend = series > 1 ? columns.levels.map(({ meaning }, s) => ({ meaning, svg: make("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" },
      make("g", { class: `mark s${s} guaranteed` }, make("path", { class: "dot", d: SHAPES[s % SHAPES.length] }))) })) : [];
    return { drawn, legend, across };
  };
}

/* The page. */
const explorer = (() => {
  const told = JSON.parse(document.getElementById("told").textContent), { words, columns } = told, SHOWN = 200;
  const at = (id) => document.getElementById(id), isolated = (text) => `\u2068${text}\u2069`;
  const say = (text, given = {}) => text.replace(/\{(\w+)\}/g, (_, name) => String(given[name]));
  function element(name, given = {}, ...children) {
    const made = Object.assign(document.createElement(name), given);
    made.append(...children);
    return made;
  }
  const number = (value) => value.toLocaleString(words.locale), form = numerals(told), draw = drawer(told);
  const SPLITS = ["rows", "columns", "panels"];
  let view, state, found, chosen = null, all = false;

  /* The state is in the controls, and in the address: column names, and places of ticked values. */
  const split = (text) => (text ? { place: parseInt(text, 10), grouped: text.endsWith("g") } : null);
  function stated() {
    const only = new Map();
    columns.forEach((_, place) => {
      const ticked = [...document.querySelectorAll(`[data-filter="${place}"] input:checked`)].map((box) => Number(box.value));
      if (ticked.length && ticked.length < columns[place].labels.length) only.set(place, ticked);
    });
    return { show: at("measure").value, split: SPLITS.map((id) => split(at(id).value)).filter(Boolean), only };
  }
  function address({ show, split: splits, only }) {
    const [kind, which] = show.split("-"), given = new URLSearchParams({ show: kind === "mean" ? `mean ${columns[which].name}` : show });
    splits.forEach(({ place, grouped }) => given.append("by", columns[place].name + (grouped ? "*" : "")));
    only.forEach((codes, place) => given.append(`only ${columns[place].name}`, codes.join(".")));
    return `#${given}`;
  }
  function restored(hash) {
    const given = new URLSearchParams(hash.slice(1)), named = (name) => columns.findIndex((column) => column.name === name);
    const splits = given.getAll("by").slice(0, 3).map((name) => (named(name) >= 0 ? String(named(name)) : named(name.slice(0, -1)) >= 0 && columns[named(name.slice(0, -1))].groups ? `${named(name.slice(0, -1))}g` : "")).filter(Boolean);
    if (!given.has("show")) splits.push("0");
    const only = new Map(columns.map(({ name, labels }, place) => [place, new Set((given.get(`only ${name}`) ?? "").split(".").filter(Boolean).map(Number).filter((code) => code in labels))]));
    for (const box of document.querySelectorAll("[data-filter] input")) box.checked = only.get(Number(box.closest("[data-filter]").dataset.filter)).has(Number(box.value));
    SPLITS.forEach((id, i) => { at(id).value = splits[i] ?? ""; });
    const show = given.get("show") ?? "count";
    refreshed(show.startsWith("mean ") ? `mean-${named(show.slice(5))}` : show);
  }

  /* Controls: what can be chosen depends on what is chosen. */
  function controls() {
    columns.forEach(({ name, description, labels, meanings }, place) => {
      const list = element("div", { className: "values", role: "group" }, ...labels.map((label, code) =>
        element("label", {}, element("input", { type: "checkbox", value: code }), element("bdi", {}, meanings[code]))));
      list.setAttribute("aria-label", name);
      const summary = element("summary", {}, element("bdi", {}, name), " ", element("span", { className: "state" }));
      const folded = element("details", {}, summary, element("p", { className: "hint", dir: "auto" }, description), list);
      folded.dataset.filter = place;
      at("filters").append(folded);
    });
    for (const id of SPLITS) {
      const options = (of) => columns.flatMap(({ name, groups }, place) => (of && !groups ? [] : [element("option", { value: of ? `${place}g` : `${place}` }, of ? say(words.groups_of, { name }) : name)]));
      const group = (label, inside) => (inside.length ? [element("optgroup", { label }, ...inside)] : []);
      at(id).append(element("option", { value: "" }, words.none), ...group(words.values, options(false)), ...group(words.grouped, options(true)));
    }
    at("controls").addEventListener("change", () => { refreshed(at("measure").value); show(); });
    at("controls").addEventListener("submit", (event) => event.preventDefault());
    at("controls").addEventListener("reset", (event) => {
      event.preventDefault();
      for (const folded of document.querySelectorAll("details")) folded.open = false;
      restored("#");
      show();
    });
    at("more").addEventListener("click", () => { all = !all; listed(); });
    at("download").addEventListener("click", download);
    at("link").addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(location.href); at("linked").textContent = words.linked; }
      catch { at("linked").textContent = location.href; }
    });
    addEventListener("hashchange", () => { restored(location.hash); show(); });
    const banner = at("banner");
    if (banner) new ResizeObserver(() => document.documentElement.style.setProperty("--banner", `${banner.offsetHeight}px`)).observe(banner);
    let width = 0;
    new ResizeObserver(() => { if (found && at("chart").clientWidth !== width) { width = at("chart").clientWidth; drawn(); } }).observe(at("chart"));
  }
  function refreshed(wanted) {
    const picked = SPLITS.map((id) => split(at(id).value)), names = picked.filter(Boolean).map(({ place }) => columns[place].name);
    SPLITS.forEach((id, i) => {
      for (const option of at(id).options) option.disabled = Boolean(option.value) && picked.some((one, j) => one && j !== i && one.place === split(option.value).place);
    });
    const plain = [["count", words.count], ["share", words.share_all]];
    if (names.length > 1) plain.push(["share-0", say(words.share_rows, { name: names[0] })], ["share-1", say(words.share_columns, { name: names[1] })]);
    const means = columns.flatMap(({ name, numbers }, place) => (numbers ? [[`mean-${place}`, say(words.mean_of, { name })]] : []));
    const options = (pairs) => pairs.map(([value, text]) => element("option", { value }, text));
    at("measure").replaceChildren(...options(plain), ...(means.length ? [element("optgroup", { label: words.means }, ...options(means))] : []));
    at("measure").value = wanted;
    if (at("measure").selectedIndex < 0) at("measure").value = "count";
    for (const folded of document.querySelectorAll("[data-filter]")) {
      const ticked = folded.querySelectorAll("input:checked").length, size = columns[folded.dataset.filter].labels.length;
      folded.querySelector(".state").textContent = ticked && ticked < size ? say(words.some, { count: number(ticked), all: number(size) }) : words.all;
      folded.classList.toggle("active", ticked > 0 && ticked < size);
    }
  }

  /* Words. */
  function conditions(parts) {
    const said = [...parts].sort((one, other) => one.place - other.place).filter(({ place, codes }) => codes.length < columns[place].labels.length).map(({ place, codes }) => {
      const { name, meanings, groups } = columns[place], group = groups?.find((one) => one.codes.join() === codes.join());
      const values = codes.length > 1 && group ? isolated(group.label)
        : codes.length > 4 ? say(words.where.many, { count: number(codes.length) }) : codes.map((code) => isolated(meanings[code])).join(words.where.or);
      return say(words.where.is, { name: isolated(name), values });
    });
    return said.length > 1 ? said.slice(0, -1).join(", ") + words.where.and + said.at(-1) : said.join("");
  }
  function sentence(line, shown) {
    const [kind, which] = shown.split("-"), written = form(shown), where = conditions(line.parts), given = {
      value: line.value === null ? "" : written(line.value), all: number(told.records), name: which === undefined ? "" : isolated(columns[which]?.name),
    };
    const have = { where: say(words.where.have, { conditions: where }), with: say(words.where.with, { conditions: where }) };
    if (kind === "count") return say(where ? words.answer.count : words.answer.count_all, { ...given, where: have.where });
    if (kind === "mean") return line.value === null ? say(words.answer.empty, { ...given, where: have.where }) : say(where ? words.answer.mean : words.answer.mean_all, { ...given, where: have.with });
    const based = conditions(line.base), base = based ? say(words.where.with, { conditions: based }) : "";
    const rest = line.parts.filter((part) => !line.base.some((one) => one.place === part.place && one.codes.join() === part.codes.join()));
    return say(line.value === null ? words.answer.undefined : words.answer.share, { ...given, base, where: say(words.where.have, { conditions: conditions(rest) }) }).replace(/ +/g, " ");
  }
  function surety(line, shown) {
    const written = form(shown);
    if (line.low === null) return words.answer.none;
    const given = { low: written(line.low, -1), high: written(line.high, 1), confidence: told.confidence };
    if (line.rule[0] === "public") return words.answer.begin;
    return say(given.low === given.high ? words.answer.equal : line.status === "estimated" ? words.answer.estimated : words.answer.between, given);
  }
  function answered() {
    const line = chosen === null ? found.total : found.lines[chosen], shown = chosen === null && state.show.startsWith("share") ? "count" : state.show;
    at("figure").textContent = sentence(line, shown);
    at("interval").textContent = surety(line, shown);
    at("interval").className = line.status;
  }
  const caption = () => {
    const figure = at("measure").selectedOptions[0].textContent, names = state.split.map(({ place }) => isolated(columns[place].name));
    return names.length ? say(words.caption, { figure, columns: names.join(" × ") }) : say(words.caption_alone, { figure });
  };

  /* Everything that depends on the state. */
  function show() {
    const start = performance.now();
    state = stated();
    found = view(state);
    chosen = null;
    all = false;
    const known = found.lines.filter(({ status }) => status !== "none"), sure = known.length === found.lines.length ? (known[0]?.status ?? "none") : known.length ? "mixed" : "none";
    at("badge").textContent = words.badge[sure];
    at("badge").className = sure;
    at("verdict").textContent = !found.size ? words.nothing : !found.lines.length ? say(words.too_many, { count: number(found.size) }) : say(words.verdict[sure], { count: number(known.length), all: number(found.lines.length) });
    at("badge").hidden = !found.lines.length;
    at("caption").textContent = caption();
    answered();
    drawn();
    listed();
    try { history.replaceState(null, "", address(state)); } catch { /* a page opened in a frame has no address */ }
    document.documentElement.dataset.shown = (performance.now() - start).toFixed(1);
  }
  function drawn() {
    const { lines } = found, written = form(state.show), values = lines.map(({ value }) => value).filter((value) => value !== null);
    const told_of = values.length ? say(words.chart_words, { figure: at("measure").selectedOptions[0].textContent, columns: state.split.map(({ place }) => columns[place].name).join(", ") || words.none, count: number(lines.length), least: written(Math.min(...values)), most: written(Math.max(...values)) }) : "";
    const made = lines.length && draw(found, state.show, at("chart").clientWidth, told_of);
    if (!made) return at("chart").replaceChildren(...(lines.length ? [element("p", { className: "hint" }, say(words.undrawn, { count: number(lines.length) }))] : []));
    const legend = made.legend.length ? [element("ul", { className: "legend" }, ...made.legend.map(({ meaning, svg }) => element("li", {}, svg, element("bdi", {}, meaning))))] : [];
    const panels = made.drawn.map(({ apart, svg }) => element("figure", {}, ...(apart.length ? [element("figcaption", { dir: "auto" }, apart.map(isolated).join(", "))] : []), svg));
    at("chart").replaceChildren(...legend, element("div", { className: made.across === 2 ? "panels two" : "panels" }, ...panels));
  }
  function listed() {
    const written = form(state.show), body = document.querySelector("tbody"), heads = [...found.axes.map(({ place }) => columns[place].name), words.head.released, words.head.low, words.head.high, words.head.status];
    const figures = found.axes.length || 1;
    if (!found.axes.length) heads.unshift("");
    document.querySelector("thead tr").replaceChildren(...heads.map((text, i) => element(text ? "th" : "td", text ? { scope: "col", className: i < figures || i === figures + 3 ? "" : "figure" } : {}, element("bdi", {}, text))));
    const shown = all ? found.lines : found.lines.slice(0, SHOWN);
    body.replaceChildren(...shown.map((line, i) => {
      const labels = found.axes.length ? line.at.map((level, a) => found.axes[a].levels[level].meaning) : [words.all];
      const pick = element("button", { type: "button", className: "pick", tabIndex: i ? -1 : 0 }, element("bdi", {}, labels[0]));
      pick.dataset.line = i;
      const cells = [line.value === null ? "–" : written(line.value), line.low === null ? "–" : written(line.low, -1), line.high === null ? "–" : written(line.high, 1)];
      return element("tr", {}, element("th", { scope: "row" }, pick), ...labels.slice(1).map((text) => element("td", {}, element("bdi", {}, text))),
        ...cells.map((text) => element("td", { className: "figure" }, text)), element("td", { className: line.status }, words.status[line.status]));
    }));
    at("more").hidden = found.lines.length <= SHOWN;
    at("more").textContent = all ? say(words.fewer, { count: number(SHOWN) }) : say(words.more, { count: number(found.lines.length) });
    at("lines").textContent = found.lines.length > SHOWN ? say(words.lines, { shown: number(shown.length), count: number(found.lines.length) }) : "";
  }
  /* A line of the table is read as a sentence; one of them can be reached by Tab, the others by arrows. */
  function picking() {
    const body = document.querySelector("tbody");
    body.addEventListener("focusin", ({ target }) => {
      const pick = target.closest(".pick");
      if (!pick) return;
      for (const other of body.querySelectorAll('.pick[tabindex="0"], .pick[aria-pressed]')) { other.tabIndex = -1; other.removeAttribute("aria-pressed"); other.closest("tr").classList.remove("chosen"); }
      pick.tabIndex = 0;
      pick.setAttribute("aria-pressed", "true");
      pick.closest("tr").classList.add("chosen");
      chosen = Number(pick.dataset.line);
      answered();
    });
    body.addEventListener("click", ({ target }) => target.closest("tr")?.querySelector(".pick").focus({ preventScroll: true }));
    body.addEventListener("keydown", (event) => {
      const picks = [...body.querySelectorAll(".pick")], here = picks.indexOf(event.target.closest(".pick"));
      const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: picks.length - 1 }[event.key];
      if (here < 0 || to === undefined || !picks[to]) return;
      event.preventDefault();
      picks[to].focus();
    });
  }

  /* The view as a file: a comment with the warning, a line for each combination, figures unrounded. */
  function csv() {
    const quoted = (text) => (/[",\r\n#]/.test(text) || text !== text.trim() ? `"${text.replace(/"/g, '""')}"` : text);
    const bare = (text) => text.replace(/[\u2066-\u2069]/g, "").replace(/[\r\n]+/g, " ");
    const comments = [
      ...(told.rehearsal ? [words.csv_rehearsal] : []), words.csv_warning, `${words.csv.title}: ${told.title}`, `${words.csv.epsilon}: ${told.epsilon}`,
      `${words.csv.view}: ${caption()}`, `${words.csv.chosen}: ${conditions([...state.only].map(([place, codes]) => ({ place, codes }))) || words.csv.everything}`,
      `${words.csv.confidence}: ${told.confidence}`,
    ];
    const heads = [...found.axes.map(({ place }) => columns[place].name), "released", "low", "high", "status", "rule"];
    const lines = found.lines.map((line) => [...line.at.map((level, a) => found.axes[a].levels[level].label), line.value ?? "", line.low ?? "", line.high ?? "", words.status[line.status],
      line.rule.map((rule) => words.rule[rule]).join(" + ")]);
    return [...comments.map((text) => `# ${bare(text)}`), ...[heads, ...lines].map((line) => line.map((cell) => quoted(String(cell))).join(","))].join("\r\n") + "\r\n";
  }
  function download() {
    const link = element("a", { href: URL.createObjectURL(new Blob([csv()], { type: "text/csv" })), download: "view.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  /* What the guarantees are. */
  function explained() {
    const { cells, tables, means } = told, lines = [say(words.sure_each, { confidence: told.confidence })];
    if (told.of_search) lines.push(say(words.sure_search, { rest: told.rest }));
    for (const { ways, within: [within] } of cells) lines.push(within === null ? words.sure_cells_none : say(words.sure_cells, { within: number(within), columns: ways === null ? words.any_columns : say(words.up_to_columns, { count: number(ways) }) }));
    if (tables.length) lines.push(say(words.sure_tables, { count: number(tables.length) }));
    if (means.length) lines.push(say(words.sure_means, { names: [...new Set(means.map(({ of }) => isolated(columns[of].name)))].join(", ") }));
    if (!cells.length && !tables.length && !means.length) lines.push(words.sure_nothing);
    at("rules").replaceChildren(...[...lines, ...(tables.length ? [words.sure_outside] : []), words.sure_colours].map((text) => element("li", {}, text)));
  }

  async function unpacked() {
    const bytes = Uint8Array.from(atob(told.packed), (letter) => letter.charCodeAt(0));
    const buffer = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).arrayBuffer();
    let from = 0;
    const taken = (kind, count) => new kind(buffer.slice(from, from += count * kind.BYTES_PER_ELEMENT));
    const codes = columns.map(({ labels }) => taken(labels.length <= 256 ? Uint8Array : Uint16Array, told.rows)), counts = taken(Uint32Array, told.rows);
    for (const table of told.tables) table.counts = taken(Int32Array, table.shape.reduce((one, other) => one * other, 1));
    return { codes, counts };
  }
  async function begin() {
    const table = await unpacked();
    view = viewer(told, table, rulesOf(told, told.tables));
    for (const id of ["answer", "controls", "result"]) at(id).hidden = false;
    controls();
    picking();
    explained();
    restored(location.hash);
    show();
  }
  begin().catch(() => { at("broken").hidden = false; });
  return { view: (given) => view({ ...given, only: new Map(given.only) }), csv };
})();
