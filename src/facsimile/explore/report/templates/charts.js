"use strict";
/* Charts as plain SVG, and numbers as people read them. A kind of chart draws rows with named fields.
   Colours are safe for the colour-blind (Okabe and Ito), and a colour never speaks alone: families and
   configurations differ in shape too, schemes in their dashes, real and synthetic in lightness. */
const charts = (() => {
  const [INK, SOFT, GREY, PALE, ACCENT, GRID, EDGE] =
    ["#1b262c", "#5a676e", "#8b979e", "#e4edf2", "#0b5a7d", "#e6ecef", "#b9c5cb"];
  const [LESS, MORE, UNKNOWN, REAL, JUDGE] = ["#0b5a7d", "#c1520c", "#e9edef", "#98a4ab", "#e69f00"];
  const LINES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1b262c", "#8b979e"];
  const SHAPES = ["circle", "square", "diamond", "up", "cross", "down"];
  const DASHES = ["", "6 3", "2 2"];
  const FAMILIES = {
    privbayes: ["#0072b2", "circle"], mwem: ["#e69f00", "square"], pep: ["#cc79a7", "diamond"],
    "mwem-tables": ["#a87400", "square"], "pep-tables": ["#8f4a73", "diamond"], mst: ["#009e73", "up"],
    aim: ["#d55e00", "cross"], workload: ["#56b4e9", "down"],
  };
  const MARKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
  const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
  const MOST_VALUES = 60, RIGHT = 18, THICK = { "stroke-width": 2 }, MIDDLE = { "text-anchor": "middle" };

  /* Numbers. */
  const minus = (text) => text.replace("-", "−");
  const raised = (text) => [...text].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("");
  function number(value) {
    const form = { maximumSignificantDigits: 4 };
    const [mantissa, power] = value.toLocaleString("en-GB", { ...form, notation: "scientific" }).split("E");
    if (value && (power < -4 || power > 8)) return minus(`${mantissa} × 10${raised(power)}`);
    return minus(value.toLocaleString("en-GB", form));
  }
  const written = {
    text: (value) => value,
    prose: (value) => value,
    count: (value) => value.toLocaleString("en-GB"),
    number,
    share: (value) => `${(100 * value).toFixed(1)}\u00a0%`,
    percent: (value) => `${(100 * value).toFixed(2)}\u00a0%`,
    points: (value) => (value ? (value > 0 ? "+" : "−") + Math.abs(value).toFixed(3) : "0.000"),
    fixed: (value) => minus(value.toFixed(3)),
    exact: (value) => String(Number(value.toFixed(4))),
  };
  function cell(row, { field, format = "text", end }) {
    const value = row[field];
    if (value === null || value === undefined) return "–";
    return end ? `${(100 * value).toFixed(1)}–${(100 * row[end]).toFixed(1)}\u00a0%` : written[format](value);
  }

  /* Shapes. */
  function make(name, given = {}, ...inside) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(given)) if (value !== undefined && value !== "") made.setAttribute(key, value);
    made.append(...inside);
    return made;
  }
  const round = (value) => Math.round(10 * value) / 10;
  const rect = (x, y, width, height, fill, given = {}) =>
    make("rect", { x: round(x), y: round(y), width: round(Math.max(0, width)), height: round(height), fill, ...given });
  const line = (x1, y1, x2, y2, stroke, given = {}) =>
    make("line", { x1: round(x1), y1: round(y1), x2: round(x2), y2: round(y2), stroke, ...given });
  const text = (x, y, words, given = {}) =>
    make("text", { x: round(x), y: round(y), fill: INK, "font-size": 12, ...given }, words);
  const outlines = {
    circle: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", square: "M-3.6 -3.6h7.2v7.2h-7.2z", diamond: "M0 -5L4.2 0L0 5L-4.2 0z",
    up: "M0 -4.6L4.4 3.4H-4.4z", down: "M0 4.6L4.4 -3.4H-4.4z", cross: "M-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
  };
  const point = (x, y, fill, shape = "circle") =>
    make("path", { d: outlines[shape], transform: `translate(${round(x)} ${round(y)})`, fill });
  const pen = document.createElement("canvas").getContext("2d");
  function wide(words, size = 12) {
    pen.font = `${size}px ${FONT}`;
    return pen.measureText(words).width;
  }
  function cut(words, room, size = 12) {
    if (wide(words, size) <= room) return words;
    let kept = words;
    while (kept && wide(`${kept}…`, size) > room) kept = kept.slice(0, -1);
    return `${kept}…`;
  }
  /* A label in two lines where it is too long for one and a colon or a comma cuts it in two. */
  function lines(words, most, size = 12) {
    const parts = words.replace(", ", ": ").split(": ");
    return parts.length === 2 && wide(words, size) > most ? parts : [words];
  }
  /* Names down the page: how much room they take, and whether some need two lines. */
  function margin(names, width, size = 12) {
    const most = Math.min(190, Math.max(90, width * 0.42)), every = names.map((name) => lines(name, most, size));
    const widest = Math.max(...every.flat().map((part) => wide(part, size)));
    return { most, left: Math.min(most, widest) + 10, twofold: every.some((parts) => parts.length > 1) };
  }
  function labelled(words, x, middle, most, size = 12) {
    const parts = lines(words, most, size), given = { "font-size": size, "text-anchor": "end" };
    const first = middle + size * 0.35 - ((parts.length - 1) / 2) * (size + 1);
    const made = parts.map((part, i) => text(x, first + i * (size + 1), cut(part, most, size), given));
    return make("g", {}, make("title", {}, words), ...made);
  }

  /* Scales. */
  const distinct = (rows, field) => [...new Set(rows.map((row) => row[field]))];
  function steps(low, high, wanted) {
    const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
    return power * [1, 2, 5, 10].find((by) => rough / power <= by * 1.0001);
  }
  function linear(values, range, { domain, zero, most = 6 } = {}) {
    let [low, high] = domain ?? [Math.min(...values), Math.max(...values)];
    if (zero) [low, high] = [Math.min(0, low), Math.max(0, high)];
    if (low === high) [low, high] = [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
    const by = steps(low, high, Math.max(2, Math.min(most, (range[1] - range[0]) / 70)));
    if (!domain) [low, high] = [Math.floor(low / by + 1e-9) * by, Math.ceil(high / by - 1e-9) * by];
    const at = (value) => range[0] + ((value - low) / (high - low)) * (range[1] - range[0]);
    const first = Math.ceil(low / by - 1e-9), count = Math.floor(high / by + 1e-9) - first;
    const ticks = Array.from({ length: count + 1 }, (_, i) => Number(((first + i) * by).toPrecision(12)));
    return Object.assign(at, { ticks });
  }
  function logarithmic([low, high], range, ticks) {
    const inside = (value) => Math.min(high, Math.max(low, value));
    const at = (value) => range[0] + (Math.log(inside(value) / low) / Math.log(high / low)) * (range[1] - range[0]);
    return Object.assign(at, { ticks: ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001) });
  }
  function ticked(value, form) {
    if (form === "share") return `${Number((100 * value).toPrecision(4))}\u00a0%`;
    return minus(value.toLocaleString("en-GB", { maximumSignificantDigits: 5 }));
  }
  function mixed(share) {
    const to = share < 0 ? LESS : MORE, part = Math.min(1, Math.abs(share));
    return `rgb(${[1, 3, 5].map((i) => Math.round(255 + part * (parseInt(to.slice(i, i + 2), 16) - 255))).join(",")})`;
  }

  /* A picture: marks that tell their figures, a legend above them. */
  function picture(width) {
    const inside = [], legend = { height: 0 };
    return {
      width,
      add: (...marks) => inside.push(...marks),
      tell(mark, row, told) {
        mark.setAttribute("class", "mark");
        mark.hint = told.map((head) => [head.words, cell(row, head)]);
        inside.push(mark);
      },
      named(names, left) {
        let x = left, y = 12;
        for (const [words, fill, shape, dash] of names) {
          const size = wide(words) + 30, marks = {
            bar: () => rect(-5, -5, 10, 10, fill),
            line: () => line(-9, 0, 9, 0, fill, { ...THICK, "stroke-dasharray": dash }),
          };
          const mark = marks[shape]?.() ?? point(0, 0, fill, shape), said = text(shape === "line" ? 14 : 9, 4, words);
          if (x > left && x + size > width) [x, y] = [left, y + 19];
          inside.push(make("g", { transform: `translate(${round(x + 8)} ${y})` }, mark, said));
          x += size + (shape === "line" ? 8 : 0);
        }
        legend.height = names.length ? y + 12 : 0;
        return legend.height;
      },
      done(height) {
        return make("svg", {
          viewBox: `0 0 ${round(width)} ${round(height)}`, width: round(width), height: round(height), "font-family": FONT,
        }, ...inside);
      },
    };
  }
  const hints = (...told) => told.map((entry) => {
    const [words, field, format, end] = entry.split("|");
    return { words, field, format, end };
  });
  function broken(p, [value, words], x, top, bottom) {
    const drawn = line(x(value), top, x(value), bottom, INK, { "stroke-dasharray": "5 4", "stroke-width": 1.2 });
    p.tell(drawn, { value }, hints(`${words}|value|number`));
  }
  /* Rows of labels with something on a common scale. `own`: what the scale must hold, and how a row is drawn. */
  function across(c, rows, own) {
    const names = distinct(rows, "label"), p = picture(c.width), right = c.width - RIGHT;
    const { left, most, twofold } = margin(names, c.width);
    const top = p.named(own.names ?? [], left) + (c.title ? 36 : 20);
    const values = rows.flatMap(own.values ?? (() => [])).filter(Number.isFinite);
    if (c.line) values.push(c.line[0]);
    const x = own.scale?.([left, right]) ?? linear(values.length ? values : [0, 1], [left, right], own);
    const step = Math.max(own.step, twofold ? 27 : 0), bottom = top + step * names.length;
    if (c.title) p.add(text((left + right) / 2, top - 22, c.title, { ...MIDDLE, fill: SOFT }));
    for (const tick of x.ticks) {
      p.add(line(x(tick), top, x(tick), bottom, GRID), text(x(tick), top - 6, ticked(tick, c.form), MIDDLE));
    }
    p.add(line(left, top, right, top, EDGE), line(left, top, left, bottom, EDGE));
    names.forEach((name, i) => p.add(labelled(name, left - 8, top + (i + 0.5) * step, most)));
    if (c.line) broken(p, c.line, x, top, bottom);
    for (const row of rows) own.draw(p, row, top + (names.indexOf(row.label) + 0.5) * step, x);
    return p.done(bottom + 8);
  }
  const band = (x, low, high, y, tall) => rect(x(low), y - tall / 2, x(high) - x(low), tall, PALE);
  const known = (...values) => values.every((value) => value !== null && value !== undefined);

  /* Shares or chances against an epsilon, a line for each name. */
  function against(c, rows, own) {
    const p = picture(c.width), left = 58, right = c.width - RIGHT, names = distinct(rows, own.by);
    const styles = names.map((_, i) => [LINES[i % LINES.length], own.dashed ? DASHES[i % DASHES.length] : ""]);
    const shape = own.dashed ? "line" : "circle";
    const top = p.named(names.map((name, i) => [name, styles[i][0], shape, styles[i][1]]), left) + 10;
    const bottom = top + own.height, x = own.scale([left + 10, right - 10]);
    const y = linear([0, 1], [bottom, top], { domain: [0, 1] });
    for (const share of [0, 0.2, 0.4, 0.6, 0.8, 1]) {
      p.add(line(left, y(share), right, y(share), GRID));
      p.add(text(left - 6, y(share) + 4, ticked(share, "share"), { "text-anchor": "end" }));
    }
    for (const tick of x.ticks) {
      p.add(line(x(tick), top, x(tick), bottom, GRID), text(x(tick), bottom + 16, ticked(tick), MIDDLE));
    }
    p.add(line(left, bottom, right, bottom, EDGE), line(left, top, left, bottom, EDGE));
    p.add(text((left + right) / 2, bottom + 34, c.title, { ...MIDDLE, fill: SOFT }));
    const turned = `translate(12 ${round((top + bottom) / 2)}) rotate(-90)`;
    p.add(text(0, 0, own.said, { ...MIDDLE, fill: SOFT, transform: turned }));
    if (c.line) broken(p, c.line, x, top, bottom);
    names.forEach((name, i) => {
      const mine = rows.filter((row) => row[own.by] === name);
      own.draw(p, mine, x, y, ...styles[i], i - (names.length - 1) / 2);
    });
    return p.done(bottom + 40);
  }
  const stroked = (stroke) => ({ fill: "none", stroke, ...THICK });
  const path = (spots, stepped) => spots.map(([x, y], i) => {
    if (i && stepped) return `H${round(x)}V${round(y)}`;
    return `${i ? "L" : "M"}${round(x)} ${round(y)}`;
  }).join("");

  /* Squares of two lists of names, `one` down the page and `other` across it, coloured from white. Names across
     stand above; where they are too long, turned below. */
  function squares(c, rows, own) {
    const down = c.down ?? distinct(rows, "one"), over = c.across ?? distinct(rows, "other"), p = picture(c.width);
    const size = own.size ?? 12, { left, most, twofold } = margin(down, c.width, size);
    const broad = Math.min(own.cell ?? Infinity, (c.width - left - 2) / over.length);
    const longest = Math.max(...over.map((name) => wide(name, size))), flat = longest <= broad - 6;
    const high = Math.max(own.high, twofold ? 2 * size + 7 : 0);
    const top = (own.title ? 20 : 0) + (own.gauge ? gauge(p, own.gauge, left) : 0) + (flat ? 20 : 4);
    const right = left + broad * over.length, bottom = top + high * down.length;
    if (own.title) p.add(text((left + right) / 2, 13, own.title, { ...MIDDLE, fill: SOFT }));
    p.add(rect(left, top, right - left, bottom - top, own.empty ?? "#fff"));
    over.forEach((name, i) => {
      const x = left + (i + 0.5) * broad, y = bottom + 10;
      if (flat) p.add(text(x, top - 6, name, { "font-size": size, "text-anchor": "middle" }));
      else if (i % Math.ceil(size / broad) === 0) {
        const turned = { "font-size": size, "text-anchor": "end", transform: `rotate(-50 ${round(x + 3)} ${round(y)})` };
        p.add(text(x + 3, y, cut(name, 120, size), turned));
      }
    });
    down.forEach((name, i) => p.add(labelled(name, left - 6, top + (i + 0.5) * high, most, size)));
    const places = [down, over].map((names) => new Map(names.map((name, i) => [name, i])));
    for (const row of rows) {
      const share = own.share(row), shown = share === null ? "" : own.shown?.(row) ?? "";
      if (share === null) continue;
      const x = left + places[1].get(row.other) * broad, y = top + places[0].get(row.one) * high;
      p.tell(rect(x, y, broad, high, mixed(share), { stroke: "#eef2f4", "stroke-width": 0.5 }), row, own.hints);
      if (shown && wide(shown, 10) < broad - 2) {
        const given = { "font-size": 10, "text-anchor": "middle", fill: Math.abs(share) > 0.6 ? "#fff" : INK };
        p.add(text(x + broad / 2, y + high / 2 + 3.5, shown, { ...given, "pointer-events": "none" }));
      }
    }
    return p.done(bottom + (flat ? 4 : Math.min(120, longest) * 0.78 + 16));
  }
  function gauge(p, limit, left) {
    p.add(text(left, 12, "points", { fill: SOFT }));
    Array.from({ length: 41 }, (_, i) => p.add(rect(left + i * 3, 18, 3.2, 10, mixed(i / 20 - 1))));
    [-limit, 0, limit].forEach((value, i) => {
      const anchor = ["start", "middle", "end"][i];
      p.add(text(left + i * 61.5, 41, number(value), { "font-size": 11, "text-anchor": anchor }));
    });
    return 50;
  }

  const ESTIMATE = ["accepted trials|accepted|count", "of|trials|count", "counted in|counted", "accepted|share|share",
    "95 % interval|low|interval|high"];
  const kinds = {
    /* label, family, share, low, high, … */
    acceptance: (c, rows) => across(c, rows, {
      names: distinct(rows, "family").sort().map((name) => [name, ...(FAMILIES[name] ?? [GREY, "circle"])]),
      domain: [0, 1], step: 17,
      draw(p, row, y, x) {
        const [colour, shape] = FAMILIES[row.family] ?? [GREY, "circle"];
        const told = hints("configuration|identifier", "settings|hyperparameters", "state|state", ...ESTIMATE);
        p.tell(line(x(row.low), y, x(row.high), y, colour, { ...THICK, "stroke-opacity": 0.6 }), row, told);
        p.tell(point(x(row.share), y, colour, shape), row, told);
      },
    }),
    /* one (family), other (band), configurations */
    population: (c, rows) => {
      const most = Math.log1p(Math.max(...rows.map((row) => row.configurations)));
      return squares(c, rows, {
        high: 30, title: "accepted trials, up to %", shown: (row) => written.count(row.configurations),
        share: (row) => -Math.log1p(row.configurations) / (most || 1),
        hints: hints("family|one", "accepted trials, up to %|other", "configurations|configurations|count"),
      });
    },
    /* label, q05 to q95, values, … : all over their limit */
    criteria: (c, rows) => {
      const [low, high] = c.domain, marks = c.width < 500 ? MARKS.filter((mark) => Math.log10(mark) % 1 === 0) : MARKS;
      return across(c, rows, {
        scale: (range) => logarithmic([low / 1.1, high * 1.1], range, marks), step: 38,
        draw(p, row, y, x) {
          const at = (value) => x(Math.min(high, Math.max(low, value ?? high)));
          const told = hints("criterion|label", "trials|trials|count", "not met in|failed|count", "median ÷ limit|q50|number");
          row.values.forEach((value, i) => {
            const place = { cx: round(at(value)), cy: round(y + 14 * (2 * ((i * 0.618034) % 1) - 1)) };
            p.add(make("circle", { ...place, r: 1.7, fill: ACCENT, opacity: 0.5 }));
          });
          p.tell(rect(at(row.q25), y - 7, Math.max(1, at(row.q75) - at(row.q25)), 14, GREY, { opacity: 0.45 }), row, told);
          p.tell(line(at(row.q05), y, at(row.q95), y, INK), row, told);
          p.tell(line(at(row.q50), y - 9, at(row.q50), y + 9, INK, { "stroke-width": 3 }), row, told);
        },
      });
    },
    /* variant, total, release, low, high: in steps, since between two totals one buys what the smaller does */
    curve: (c, rows) => against(c, rows, {
      by: "variant", dashed: true, height: 300, said: "chance of a release",
      scale(range) {
        const totals = [...rows.map((row) => row.total), c.line[0]];
        return linear(totals, range, { domain: [Math.min(...totals), Math.max(...totals)] });
      },
      draw(p, mine, x, y, colour, dash) {
        const spots = (field) => mine.map((row) => [x(row.total), y(row[field])]);
        const back = mine.slice(0, -1).reverse().map((row) => `V${round(y(row.low))}H${round(x(row.total))}`).join("");
        const last = `V${round(y(mine.at(-1).low))}`;
        p.add(make("path", { d: `${path(spots("high"), true)}${last}${back}z`, fill: colour, opacity: 0.12 }));
        p.add(make("path", { d: path(spots("release"), true), ...stroked(colour), "stroke-dasharray": dash }));
        const said = ["chance of a release|release|share", "range|low|interval|high"];
        const told = hints("scheme|variant", "total epsilon|total|exact", ...said);
        for (const row of mine) p.tell(point(x(row.total), y(row.release), colour), row, told);
      },
    }),
    /* configuration, epsilon, share, low, high, … */
    finalists: (c, rows) => {
      const levels = distinct(rows, "epsilon").sort((a, b) => a - b);
      return against(c, rows, {
        by: "configuration", height: 270, said: "accepted trials",
        scale: (range) => logarithmic([levels[0] / 1.03, levels.at(-1) * 1.03], range, levels),
        draw(p, mine, x, y, colour, dash, aside) {
          const at = (row) => x(row.epsilon) + 11 * aside;
          const told = hints("configuration|configuration", "epsilon|epsilon|number", ...ESTIMATE);
          const pale = { ...THICK, "stroke-opacity": 0.4 };
          for (const row of mine) p.tell(line(at(row), y(row.low), at(row), y(row.high), colour, pale), row, told);
          p.add(make("path", { d: path(mine.map((row) => [at(row), y(row.share)])), ...stroked(colour) }));
          for (const row of mine) p.tell(point(at(row), y(row.share), colour), row, told);
        },
      });
    },
    /* label, fit, judge */
    time: (c, rows) => across(c, rows, {
      names: [["fit", ACCENT, "bar"], ["judge", JUDGE, "bar"]], values: (row) => [row.fit + row.judge], zero: true, step: 26,
      draw(p, row, y, x) {
        const told = hints("family|label", "fit, CPU seconds|fit|number", "judge, CPU seconds|judge|number");
        p.tell(rect(x(0), y - 8, x(row.fit) - x(0), 16, ACCENT), row, told);
        p.tell(rect(x(row.fit), y - 8, x(row.fit + row.judge) - x(row.fit), 16, JUDGE), row, told);
      },
    }),
    /* column, label, real, synthetic, real_share, synthetic_share: of long columns the values that differ most */
    values: (c, rows) => {
      const mine = rows.filter((row) => row.column === c.column);
      const far = [...mine].sort((a, b) => Math.abs(b.points) - Math.abs(a.points)).slice(0, MOST_VALUES);
      return across(c, mine.length > MOST_VALUES ? mine.filter((row) => far.includes(row)) : mine, {
        names: [["real", REAL, "bar"], ["synthetic", ACCENT, "bar"]], zero: true, most: 4, step: 19,
        values: (row) => [row.real_share, row.synthetic_share],
        draw(p, row, y, x) {
          const shares = ["real, share|real_share|share", "synthetic, share|synthetic_share|share"];
          const told = hints("value|label", "real|real|count", "synthetic|synthetic|count", ...shares);
          p.tell(rect(x(0), y - 8, x(row.real_share) - x(0), 8, REAL), row, told);
          p.tell(rect(x(0), y, x(row.synthetic_share) - x(0), 8, ACCENT), row, told);
        },
      });
    },
    /* of, among and a field, both ways; its colour is full at the limit */
    matrix: (c, rows) => {
      const both = rows.flatMap((row) => [{ ...row, one: row.of, other: row.among }, { ...row, one: row.among, other: row.of }]);
      return squares(c, both, {
        high: c.across.length > 6 ? 22 : 34, share: (row) => (known(row[c.field]) ? row[c.field] / c.limit : null),
        shown: (row) => minus((Math.round(100 * row[c.field]) / 100 + 0).toFixed(2)),
        hints: hints("column|one", "with|other", `${c.field}|${c.field}|fixed`),
      });
    },
    /* one, other, real, synthetic, points: every combination of two columns */
    cells: (c, rows) => {
      const limit = Math.max(...rows.map((row) => Math.abs(row.points))) || 1;
      return squares(c, rows, {
        high: 18, cell: 34, size: 11, gauge: limit, share: (row) => row.points / limit,
        hints: hints("row|one", "column|other", "real|real|count", "synthetic|synthetic|count", "points|points|points"),
      });
    },
    /* one (a group), other (a column), value, shown, words; grey where there is no value */
    tiles: (c, rows) => squares(c, rows, {
      high: 25, empty: UNKNOWN, size: 11, shown: (row) => row.shown,
      share: (row) => (known(row.value) ? row.value / c.limit : null),
      hints: hints("of|one", "with|other", "value|value|fixed", "in figures|words"),
    }),
    /* label, original, released, threshold: a band of what a criterion allows around the real figure */
    dumbbells: (c, rows) => across(c, rows, {
      names: [["real", REAL, "circle"], ["synthetic", ACCENT, "diamond"]], step: 22,
      values: ({ original: real, released, threshold }) =>
        [real, released, ...(known(real, threshold) ? [real - threshold, real + threshold] : [])].filter(known),
      draw(p, row, y, x) {
        const { original: real, released, threshold } = row;
        const told = hints("of|label", "real|original|number", "synthetic|released|number");
        if (known(real, threshold)) p.add(band(x, real - threshold, real + threshold, y, 16));
        if (known(real, released)) p.add(line(x(real), y, x(released), y, GREY, THICK));
        if (known(real)) p.tell(point(x(real), y, REAL), row, told);
        if (known(released)) p.tell(point(x(released), y, ACCENT, "diamond"), row, told);
      },
    }),
    /* label and a field */
    bars: (c, rows) => across(c, rows, {
      values: (row) => [row[c.field]], zero: true, step: 21,
      draw(p, row, y, x) {
        const told = hints("group|label", `${c.title}|${c.field}|share`, ...(c.words ? [`where|${c.words}`] : []));
        if (known(row[c.field])) p.tell(rect(x(0), y - 6.5, x(row[c.field]) - x(0), 13, ACCENT), row, told);
      },
    }),
    /* label, contender, low, middle, high; with a band that is allowed also `allowed` */
    ranges: (c, rows) => {
      const letters = distinct(rows, "contender").sort(), form = c.form === "share" ? "percent" : "number";
      const style = (letter) => [LINES, SHAPES].map((every) => every["ABCDEF".indexOf(letter)]);
      return across(c, rows, {
        names: letters.map((letter) => [letter, ...style(letter)]), step: 12 * letters.length + 8,
        values: (row) => [row.low, row.high, ...(row.allowed ? [-row.allowed, row.allowed] : [])],
        draw(p, row, y, x) {
          const i = letters.indexOf(row.contender), mine = y + 12 * (i - (letters.length - 1) / 2);
          const [colour, shape] = style(row.contender), figures = [`median|middle|${form}`, `from|low|${form}`, `to|high|${form}`];
          const told = hints("of|label", "configuration|contender", ...figures), pale = { ...THICK, "stroke-opacity": 0.55 };
          if (row.allowed && !i) p.add(band(x, -row.allowed, row.allowed, y, 12 * letters.length));
          p.tell(line(x(row.low), mine, x(row.high), mine, colour, pale), row, told);
          p.tell(point(x(row.middle), mine, colour, shape), row, told);
        },
      });
    },
  };
  /* `first` and `from`: which rows are drawn; `named`: the field that is a row's label. */
  function draw(about, rows, width) {
    const some = rows.slice(about.from ?? 0, about.first);
    const labelled = about.named ? some.map((row) => ({ ...row, label: row[about.named] })) : some;
    return kinds[about.kind]({ ...about, width }, labelled);
  }
  return { cell, draw, kinds: Object.keys(kinds) };
})();
