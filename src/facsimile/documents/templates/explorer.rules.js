"use strict";
/* What the released table says, and what is known of the original: the rules of documents/explorer.py.
   A box is a list of {place, codes}, a part for each column that it constrains. An interval is {low, high}, or null
   where nothing is known. All that comes of noise was computed before: here it is added, multiplied, intersected. */

const product = (numbers) => numbers.reduce((one, other) => one * other, 1);
const total = (numbers) => numbers.reduce((one, other) => one + other, 0);

function rulesOf(told, tables, nevers) {
  const n = told.records, TINY = 1e-6;
  const size = (place) => told.columns[place].labels.length;
  const among = (value, least, most) => Math.min(most, Math.max(least, value));
  const counts = (low, high) => ({ low: among(low, 0, n), high: among(high, 0, n) });
  const cellsIn = (box) => product(box.map((part) => part.codes.length));
  const covering = (box) => told.cells.find(({ ways }) => ways === null || box.length <= ways);

  /* Both hold: their overlap. Where there is none one of them has failed, and nobody knows which: all between. */
  function meet(one, other) {
    if (!one || !other) return one ?? other;
    const low = Math.max(one.low, other.low), high = Math.min(one.high, other.high);
    if (low <= high) return { low, high };
    return { low: Math.min(one.low, other.low), high: Math.max(one.high, other.high) };
  }

  /* Cells: so many times U. A product of sets is a signed sum of cells: of those inside, of those outside less all
     records, or column by column of whichever are fewer, the other bins and the whole column or its own bins. */
  function limitOf(box, rules) {
    return covering(box)?.within[rules - 1] ?? null;
  }
  function fewest(box) {
    const inside = box.map(({ codes }) => codes.length);
    const outside = box.map(({ place, codes }) => 1 + size(place) - codes.length);
    const all = product(box.map(({ place }) => size(place)));
    const mixed = product(inside.map((many, i) => Math.min(many, outside[i])));
    return Math.min(all - product(inside), product(outside) - 1, mixed);
  }
  function byCells(box, value, rules) {
    const limit = limitOf(box, rules);
    return limit === null ? null : counts(value - fewest(box) * limit, value + fewest(box) * limit);
  }

  /* Table: y(A) − (J/K)(Σy − n) ± h(J). */
  for (const table of tables) {
    table.all = product(table.shape);
    table.sum = total([...table.counts]);
    table.steps = table.shape.map((_, i) => product(table.shape.slice(i + 1)));
    table.sizes = table.shape.map((many) => Array(many).fill(0));
    table.groups.forEach((groups, i) => groups.forEach((group) => { table.sizes[i][group] += 1; }));
    table.widths = new Map(Object.entries(table.half).map(([key, pairs]) => [key, new Map(pairs)]));
    table.lists = table.shape.map((many) => [...Array(many).keys()]);
    table.known = new WeakMap();
  }
  /* The groups that a part is made of; null where it cuts one, or the table lacks the column. */
  function groupsIn(table, part) {
    if (!table.known.has(part)) {
      const i = table.columns.indexOf(part.place), held = new Map();
      for (const code of i < 0 ? [] : part.codes) {
        const group = table.groups[i][code];
        held.set(group, (held.get(group) ?? 0) + 1);
      }
      const whole = i >= 0 && [...held].every(([group, codes]) => codes === table.sizes[i][group]);
      table.known.set(part, whole ? { i, groups: [...held.keys()] } : null);
    }
    return table.known.get(part);
  }
  /* Of the tables that have the box, the one with the smallest half width. */
  function narrowest(box, rules, parts) {
    let best = null;
    for (const table of tables) {
      const widths = table.widths.get(`${rules}/${parts}`);
      if (!widths || box.length > table.columns.length) continue;
      const found = box.map((part) => groupsIn(table, part));
      if (found.includes(null)) continue;
      const free = table.all / product(found.map(({ i }) => table.shape[i]));
      const taken = free * product(found.map(({ groups }) => groups.length));
      const half = widths.get(Math.min(taken, table.all - taken));
      if (half !== undefined && (!best || half < best.half)) best = { table, found, taken, half };
    }
    return best;
  }
  function byTable(box, rules, parts) {
    const best = narrowest(box, rules, parts);
    if (!best) return null;
    const { table, found, taken, half } = best;
    const lists = [...table.lists];
    for (const { i, groups } of found) lists[i] = groups;
    const summed = (i, at) => (i === lists.length ? table.counts[at]
      : total(lists[i].map((group) => summed(i + 1, at + group * table.steps[i]))));
    const middle = summed(0, 0) - (taken / table.all) * (table.sum - n);
    return counts(Math.ceil(middle - half - TINY), Math.floor(middle + half + TINY));
  }

  /* A rule of the plan that no record of the original breaks leaves nothing in the box. */
  const every = told.columns.map(({ labels }) => [...labels.keys()]);
  const never = (box) => nevers.some(({ columns, forbidden }) => {
    const lists = columns.map((place) => box.find((part) => part.place === place)?.codes ?? every[place]);
    const all = (i, at) => (i === lists.length ? forbidden[at]
      : lists[i].every((code) => all(i + 1, at * size(columns[i]) + code)));
    return all(0, 0);
  });

  /* A count by the rules that exist: `rules` of them share what may fail, `parts` counts make one interval. */
  function known(box, value, { cells, noisy }, rules, parts) {
    if (!box.length) return { low: n, high: n };
    if (never(box)) return { low: 0, high: 0 };
    return meet(cells ? byCells(box, value, rules) : null, noisy ? byTable(box, rules, parts) : null);
  }
  const named = (exist, more = []) => [...(exist.cells ? ["cells"] : []), ...(exist.noisy ? ["table"] : []), ...more];

  function count(box, value) {
    const exist = { cells: Boolean(covering(box)), noisy: Boolean(narrowest(box, 2, 1)) };
    const found = known(box, value, exist, exist.cells + exist.noisy, 1);
    return found && { ...found, rule: !box.length ? ["public"] : never(box) ? ["never"] : named(exist) };
  }

  /* The part a of b, c the rest of it: a/b rises with a and falls with b and c. */
  function share(box, value, base, whole) {
    if (!base.length || never(box)) {
      const found = count(box, value);
      return found && { ...found, low: found.low / n, high: found.high / n };
    }
    const exist = { cells: Boolean(covering(box)), noisy: Boolean(narrowest(box, 2, 2) && narrowest(base, 2, 2)) };
    const rules = exist.cells + exist.noisy;
    const a = known(box, value, exist, rules, 2), b = known(base, whole, exist, rules, 2);
    if (!a || !b) return null;
    const c = exist.cells ? rest(box, value, base, whole, rules) : { low: 0, high: n };
    const least = a.low / Math.min(b.high, a.low + c.high), most = a.high / Math.max(b.low, a.high + c.low);
    const low = Number.isNaN(least) ? 0 : among(least, 0, 1), high = Number.isNaN(most) ? 1 : among(most, 0, 1);
    return { low, high, rule: named(exist) };
  }
  function rest(box, value, base, whole, rules) {
    const limit = limitOf(box, rules);
    const codesIn = (place) => base.find((part) => part.place === place)?.codes.length ?? size(place);
    if (limit === null) return { low: 0, high: n };
    const apart = product(box.map(({ place }) => codesIn(place))) - cellsIn(box);
    const half = limit * Math.min(apart, fewest(box) + fewest(base));
    return counts(whole - value - half, whole - value + half);
  }

  /* Mean: the extremes of Σxr/Σr over r in their intervals, and the criterion where it asked about this group. */
  function extremes(numbers, bins) {
    const order = [...numbers.keys()].sort((i, j) => numbers[i] - numbers[j]);
    const sums = (end) => [total(bins.map((bin, i) => bin[end] * numbers[i])), total(bins.map((bin) => bin[end]))];
    let [low, high, [least, few], [most, many]] = [Infinity, -Infinity, sums("low"), sums("high")];
    for (const i of [...order, null]) {
      if (few > 0) low = Math.min(low, least / few);
      if (many > 0) high = Math.max(high, most / many);
      if (i === null) break;
      const wide = bins[i].high - bins[i].low;
      least += wide * numbers[i];
      few += wide;
      most -= wide * numbers[i];
      many -= wide;
    }
    return low <= high ? { low, high } : null;
  }
  const asked = (box, of) => told.means.filter((one) => one.of === of).flatMap(({ groups, within }) => groups
    .filter(({ codes }) => {
      const parts = Object.entries(codes).filter(([place, held]) => held.length < size(Number(place)));
      return parts.length === box.length && box.every((part) => codes[part.place]?.join() === part.codes.join());
    }).map((group) => ({ ...group, within })))[0];
  const single = told.columns.map(({ labels }, place) => labels.map((_, code) => ({ place, codes: [code] })));
  function mean(box, of, values) {
    const codes = box.find((part) => part.place === of)?.codes ?? [...values.keys()], parts = values.length;
    const numbers = codes.map((code) => told.columns[of].numbers[code]);
    const others = box.filter((part) => part.place !== of);
    const boxes = codes.map((code) => (parts > 1 ? [...others, single[of][code]] : others));
    const exist = { cells: Boolean(covering(boxes[0])), noisy: boxes.every((one) => narrowest(one, 3, parts)) };
    const group = exist.cells || exist.noisy || !box.length ? asked(box, of) : undefined;
    const rules = exist.cells + exist.noisy + Boolean(group), limit = group?.within[rules - 1] ?? null;
    const bins = boxes.map((one, i) => known(one, values[codes[i]], exist, rules, parts));
    let found = bins.includes(null) ? null : extremes(numbers, bins);
    if (limit !== null) {
      const records = total(codes.map((code) => values[code])), surely = total(bins.map((one) => one?.low ?? 0));
      const least = box.length ? Math.max(surely, (exist.cells && byCells(box, records, rules)?.low) || 0) : n;
      const half = limit * Math.max(1, group.counted / least);
      if (least > 0) found = meet(found, { low: group.centre - half, high: group.centre + half });
    }
    if (!found) return null;
    const ends = [Math.min(...numbers), Math.max(...numbers)];
    const rule = named(exist, limit === null ? [] : ["mean"]);
    return { low: among(found.low, ...ends), high: among(found.high, ...ends), rule };
  }
  return { count, share, mean, size };
}

/* A view of the table: what is shown, split by up to three columns, among the records that filters keep.
   A state is {show, split: [{place, grouped}], only: Map of place to codes}; show is count, share, share-0 (within each
   value of the first column), share-1, or mean-PLACE. */
function viewer(told, table, rules) {
  const MOST = 20000;
  const boxed = (parts) => parts.filter(({ place, codes }) => codes.length < rules.size(place))
    .sort((one, other) => one.place - other.place);
  const numbersOf = (of) => told.columns[of].numbers;

  function axis({ place, grouped }, only) {
    const { labels, shown, groups } = told.columns[place], kept = new Set(only.get(place) ?? labels.keys());
    const plain = () => labels.map((label, code) => ({ label, meaning: shown[code], codes: [code] }));
    const levels = (grouped ? groups.map(({ label, codes }) => ({ label, meaning: label, codes })) : plain())
      .map((level) => ({ ...level, part: { place, codes: level.codes.filter((code) => kept.has(code)) } }))
      .filter(({ part }) => part.codes.length);
    return { place, levels };
  }

  /* Counts of every combination, and of every bin of the averaged column within it. */
  function counted({ codes, counts, rows }, axes, others, bins, of) {
    const found = new Float64Array(bins * product(axes.map(({ levels }) => levels.length)));
    const maps = axes.map(({ place, levels }) => {
      const map = new Int32Array(rules.size(place)).fill(-1);
      levels.forEach(({ part }, level) => part.codes.forEach((code) => { map[code] = level; }));
      return { own: codes[place], map, many: levels.length };
    });
    const masks = others.map((part) => {
      const mask = new Uint8Array(rules.size(part.place));
      for (const code of part.codes) mask[code] = 1;
      return { own: codes[part.place], mask };
    });
    next: for (let row = 0; row < rows; row++) {
      for (const { own, mask } of masks) if (!mask[own[row]]) continue next;
      let at = 0;
      for (const { own, map, many } of maps) {
        const level = map[own[row]];
        if (level < 0) continue next;
        at = at * many + level;
      }
      found[at * bins + (bins > 1 ? codes[of][row] : 0)] += counts[row];
    }
    return found;
  }

  /* The figure itself; null where it is not defined. */
  function figure(kind, of, values, whole) {
    const records = total(values);
    if (kind === "count") return records;
    if (kind === "share") return whole ? records / whole : null;
    return records ? total(values.map((one, code) => one * numbersOf(of)[code])) / records : null;
  }
  function interval(kind, of, box, values, base, whole) {
    if (kind === "count") return [rules.count(box, total(values)), 0, told.records];
    if (kind === "share") return [rules.share(box, total(values), base, whole), 0, 1];
    const codes = box.find((part) => part.place === of)?.codes ?? [...values.keys()];
    const own = codes.map((code) => numbersOf(of)[code]);
    return [rules.mean(box, of, values), Math.min(...own), Math.max(...own)];
  }
  /* An interval of everything that is possible says nothing. */
  function judged([found, least, most]) {
    const says = found && (found.low > least || found.high < most || least === most);
    if (says) return { ...found, status: "guaranteed", least, most };
    return { low: null, high: null, rule: [], status: "none", least, most };
  }

  /* Estimates by replicates, where nothing is guaranteed: s² = Σ(T(S*) − T(R*))²/R, and T(S) ± κs. */
  function estimated(lines, measured) {
    const open = lines.filter(({ status, value }) => status === "none" && value !== null);
    if (!open.length || !table.replicates.length) return;
    const pairs = table.replicates.map(({ made, from }) => [measured(made), measured(from)]);
    for (const line of open) {
      const errors = pairs.map((pair) => pair.map((at) => at(line.index)))
        .map(([made, from]) => (made === null || from === null ? NaN : made - from));
      const reach = told.kappa * Math.sqrt(total(errors.map((error) => error ** 2)) / errors.length);
      if (!(reach > 0)) continue;
      const low = Math.max(line.least, line.value - reach), high = Math.min(line.most, line.value + reach);
      Object.assign(line, { low, high, status: "estimated", rule: ["replicates"] });
    }
  }

  return function view({ show, split, only }) {
    const axes = split.map((one) => axis(one, only)), filters = [...only].map(([place, codes]) => ({ place, codes }));
    const others = filters.filter(({ place }) => !split.some((one) => one.place === place));
    const [kind, which] = show.split("-"), of = kind === "mean" ? Number(which) : null;
    const bins = of === null ? 1 : rules.size(of), size = product(axes.map(({ levels }) => levels.length));
    const steps = axes.map((_, i) => product(axes.slice(i + 1).map(({ levels }) => levels.length)));
    const levelsAt = (index) => axes.map(({ levels }, i) => Math.floor(index / steps[i]) % levels.length);
    /* A share is of the records in a value of one column and in a panel, or of all. */
    const based = (i) => kind === "share" && which !== undefined && (i === Number(which) || i > 1);
    const whatever = kind === "mean" ? "mean" : "count", values = [...counted(table, [], filters, bins, of)];
    const known = judged(interval(whatever, of, boxed(filters), values));
    const all = { index: 0, parts: filters, value: figure(whatever, of, values), ...known };
    estimated([all], (data) => {
      const again = counted(data, [], filters, bins, of);
      return () => figure(whatever, of, again);
    });
    if (!size || size > MOST) return { axes, size, all, lines: [] };

    const places = Array.from({ length: size }, (_, index) => levelsAt(index));
    const keys = places.map((at) => at.filter((_, i) => based(i)).join());
    function gathered(data) {
      const found = counted(data, axes, others, bins, of), wholes = new Map();
      if (kind === "share") keys.forEach((key, index) => wholes.set(key, (wholes.get(key) ?? 0) + found[index]));
      const values = (index) => found.subarray(index * bins, (index + 1) * bins);
      return { values, whole: (index) => wholes.get(keys[index]) };
    }
    const { values: valuesAt, whole } = gathered(table);
    const lines = places.map((at, index) => {
      const parts = [...at.map((level, i) => axes[i].levels[level].part), ...others];
      const held = at.flatMap((level, i) => (based(i) ? [axes[i].levels[level].part] : []));
      const base = [...held, ...filters.filter(({ place }) => !held.some((part) => part.place === place))];
      const own = [...valuesAt(index)], sought = interval(kind, of, boxed(parts), own, boxed(base), whole(index));
      return { index, at, parts, base, value: figure(kind, of, own, whole(index)), ...judged(sought) };
    });
    estimated(lines, (data) => {
      const again = gathered(data);
      return (index) => figure(kind, of, again.values(index), again.whole(index));
    });
    return { axes, size, all, lines };
  };
}
