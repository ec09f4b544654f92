"use strict";
/* The page: controls, the answer in words, chart, table and file of a view. Its state is in the controls and in the
   address. Texts of the release enter as text, never as markup, and in isolation from the direction around them. */
const explorer = (() => {
  const told = JSON.parse(document.getElementById("told").textContent), { words, columns } = told;
  const SHOWN = 100, SPLITS = ["rows", "columns", "panels"];
  const at = (id) => document.getElementById(id), isolated = (text) => `\u2068${text}\u2069`;
  const say = (text, given = {}) => text.replace(/\{(\w+)\}/g, (_, name) => String(given[name]));
  const number = (value) => value.toLocaleString(words.locale), form = numerals(told), draw = drawer(told);
  const every = (selector, within = document) => [...within.querySelectorAll(selector)];
  function element(name, given = {}, ...children) {
    const made = Object.assign(document.createElement(name), given);
    made.append(...children);
    return made;
  }
  let view, state, found, chosen = null, all = false;

  /* The state: a column is its place, with a g where it is taken in groups. */
  const split = (text) => (text ? { place: parseInt(text, 10), grouped: text.endsWith("g") } : null);
  const limited = (ticked, place) => ticked.length > 0 && ticked.length < columns[place].labels.length;
  function stated() {
    const only = new Map();
    columns.forEach((_, place) => {
      const ticked = every(`[data-filter="${place}"] input:checked`).map((box) => Number(box.value));
      if (limited(ticked, place)) only.set(place, ticked);
    });
    return { show: at("measure").value, split: SPLITS.map((id) => split(at(id).value)).filter(Boolean), only };
  }
  function address({ show, split: splits, only }) {
    const [kind, which] = show.split("-");
    const given = new URLSearchParams({ show: kind === "mean" ? `mean ${columns[which].name}` : show });
    for (const { place, grouped } of splits) given.append("by", columns[place].name + (grouped ? "*" : ""));
    only.forEach((codes, place) => given.append(`only ${columns[place].name}`, codes.join(".")));
    return `#${given}`;
  }
  function restored(hash) {
    const given = new URLSearchParams(hash.slice(1));
    const place = (name) => columns.findIndex((column) => column.name === name);
    const splitBy = (name) => {
      const [plain, coarse] = [place(name), name.endsWith("*") ? place(name.slice(0, -1)) : -1];
      return plain >= 0 ? String(plain) : columns[coarse]?.groups ? `${coarse}g` : "";
    };
    const splits = given.has("show") ? given.getAll("by").map(splitBy).filter(Boolean) : ["0"];
    SPLITS.forEach((id, i) => { at(id).value = splits[i] ?? ""; });
    columns.forEach(({ name }, i) => {
      const ticked = new Set((given.get(`only ${name}`) ?? "").split(".").filter(Boolean));
      for (const box of every(`[data-filter="${i}"] input`)) box.checked = ticked.has(box.value);
    });
    const show = given.get("show") ?? "count";
    refreshed(show.startsWith("mean ") ? `mean-${place(show.slice(5))}` : show);
  }

  /* Controls; what can be chosen depends on what is chosen. */
  function filter({ name, description, meanings }, place) {
    const boxes = meanings.map((meaning, code) =>
      element("label", {}, element("input", { type: "checkbox", value: code }), element("bdi", {}, meaning)));
    const values = element("div", { className: "values", role: "group", ariaLabel: name }, ...boxes);
    const summary = element("summary", {}, element("bdi", {}, name), " ", element("span", { className: "state" }));
    const made = element("details", {}, summary, element("p", { className: "hint", dir: "auto" }, description), values);
    made.dataset.filter = place;
    return made;
  }
  function controls() {
    const places = [...columns.keys()], coarse = places.filter((place) => columns[place].groups);
    const group = (label, options) => (options.length ? [element("optgroup", { label }, ...options)] : []);
    const plain = (place) => element("option", { value: `${place}` }, columns[place].name);
    const grouped = (place) =>
      element("option", { value: `${place}g` }, say(words.groups_of, { name: columns[place].name }));
    at("filters").append(...columns.map(filter));
    for (const id of SPLITS) {
      const options = [...group(words.values, places.map(plain)), ...group(words.grouped, coarse.map(grouped))];
      at(id).append(element("option", { value: "" }, words.none), ...options);
    }
    at("controls").addEventListener("change", () => { refreshed(at("measure").value); show(); });
    at("controls").addEventListener("submit", (event) => event.preventDefault());
    at("controls").addEventListener("reset", (event) => {
      event.preventDefault();
      for (const folded of every("details")) folded.open = false;
      restored("#");
      show();
    });
    at("more").addEventListener("click", () => { all = !all; listed(); });
    at("download").addEventListener("click", download);
    at("link").addEventListener("click", linked);
    addEventListener("hashchange", () => { restored(location.hash); show(); });
  }
  function refreshed(wanted) {
    const picked = SPLITS.map((id) => split(at(id).value));
    const names = picked.filter(Boolean).map(({ place }) => columns[place].name);
    SPLITS.forEach((id, i) => {
      const taken = picked.filter((one, j) => one && j !== i).map(({ place }) => place);
      for (const option of at(id).options) option.disabled = taken.includes(split(option.value)?.place);
    });
    const within = (names.length > 1 ? names.slice(0, 2) : [])
      .map((name, i) => [`share-${i}`, say(words.share_within, { name })]);
    const means = columns.flatMap(({ name, numbers }, place) =>
      (numbers ? [[`mean-${place}`, say(words.mean_of, { name })]] : []));
    const options = (pairs) => pairs.map(([value, text]) => element("option", { value }, text));
    const averaged = means.length ? [element("optgroup", { label: words.means }, ...options(means))] : [];
    const plain = [["count", words.count], ["share", words.share_all], ...within];
    at("measure").replaceChildren(...options(plain), ...averaged);
    at("measure").value = wanted;
    if (at("measure").selectedIndex < 0) at("measure").value = "count";
    for (const folded of every("[data-filter]")) {
      const place = folded.dataset.filter, ticked = every("input:checked", folded), size = columns[place].labels.length;
      folded.classList.toggle("active", limited(ticked, place));
      folded.querySelector(".state").textContent = limited(ticked, place)
        ? say(words.some, { count: number(ticked.length), all: number(size) }) : words.all;
    }
  }

  /* Words. */
  function valuesOf({ place, codes }) {
    const { shown, groups } = columns[place], group = groups?.find((one) => one.codes.join() === codes.join());
    if (codes.length > 1 && group) return isolated(group.label);
    if (codes.length > 4) return say(words.where.many, { count: number(codes.length) });
    return codes.map((code) => isolated(shown[code])).join(words.where.or);
  }
  function conditions(parts) {
    const said = parts.filter(({ place, codes }) => limited(codes, place)).sort((one, other) => one.place - other.place)
      .map((part) => say(words.where.is, { name: isolated(columns[part.place].name), values: valuesOf(part) }));
    return said.length > 1 ? said.slice(0, -1).join(", ") + words.where.and + said.at(-1) : said.join("");
  }
  function sentence(line, shown) {
    const [kind, which] = shown.split("-"), where = conditions(line.parts), answer = words.answer;
    const having = (parts) => say(words.where.have, { conditions: conditions(parts) });
    const among = (parts) => (conditions(parts) ? say(words.where.with, { conditions: conditions(parts) }) : "");
    const given = { value: line.value === null ? "" : form(shown)(line.value), all: number(told.records) };
    if (kind === "count") return say(where ? answer.count : answer.count_all, { ...given, where: having(line.parts) });
    if (kind === "mean") {
      const text = line.value === null ? answer.empty : where ? answer.mean : answer.mean_all;
      const said = line.value === null ? having(line.parts) : among(line.parts);
      return say(text, { ...given, name: isolated(columns[which].name), where: said });
    }
    const same = (one, other) => one.place === other.place && one.codes.join() === other.codes.join();
    const rest = line.parts.filter((part) => !line.base.some((one) => same(one, part)));
    const text = line.value === null ? answer.undefined : answer.share;
    return say(text, { ...given, base: among(line.base), where: having(rest) }).replace(/ +/g, " ");
  }
  function surety({ low, high, status, rule }, shown) {
    const answer = words.answer;
    if (low === null) return answer.none;
    if (rule[0] === "public") return answer.begin;
    if (rule[0] === "never") return answer.never;
    const given = { low: form(shown)(low, -1), high: form(shown)(high, 1), confidence: told.confidence };
    if (status === "estimated") return say(answer.estimated, given);
    return say(given.low === given.high ? answer.equal : answer.between, given);
  }
  function answered() {
    const line = chosen === null ? found.all : found.lines[chosen];
    const shown = chosen === null && state.show.startsWith("share") ? "count" : state.show;
    at("figure").textContent = sentence(line, shown);
    at("interval").textContent = surety(line, shown);
    at("interval").className = line.status;
  }
  const figure = () => at("measure").selectedOptions[0].textContent;
  function caption() {
    const names = state.split.map(({ place }) => isolated(columns[place].name));
    return names.length ? say(words.caption, { figure: figure(), columns: names.join(" × ") }) : figure();
  }

  /* Everything that depends on the state. */
  function show() {
    const start = performance.now();
    state = stated();
    found = view(state);
    chosen = null;
    all = false;
    at("caption").textContent = caption();
    judged();
    answered();
    drawn();
    listed();
    try { history.replaceState(null, "", address(state)); } catch { /* some frames have no address */ }
    document.documentElement.dataset.shown = (performance.now() - start).toFixed(1);
  }
  function judged() {
    const { lines, size } = found, many = (status) => lines.filter((line) => line.status === status).length;
    const sure = ["guaranteed", "estimated", "none"].find((status) => many(status) === lines.length) ?? "mixed";
    const [guaranteed, estimated] = ["guaranteed", "estimated"].map((status) => number(many(status)));
    const given = { all: number(lines.length), guaranteed, estimated };
    at("badge").hidden = !lines.length;
    at("badge").textContent = words.badge[sure];
    at("badge").className = sure;
    at("verdict").textContent = !size ? words.nothing : !lines.length ? say(words.too_many, { count: number(size) })
      : say(words.verdict[sure === "mixed" && many("estimated") ? "mixed_estimated" : sure], given);
  }
  function drawn() {
    const { lines } = found, written = form(state.show);
    const values = lines.map(({ value }) => value).filter((value) => value !== null);
    const names = state.split.map(({ place }) => columns[place].name).join(", ") || words.none;
    const ends = values.length ? [Math.min(...values), Math.max(...values)] : [];
    const [least, most] = ends.map((end) => written(end));
    const count = number(lines.length);
    const described = say(words.chart_words, { figure: figure(), columns: names, count, least, most });
    const made = lines.length ? draw(found, state.show, at("chart").clientWidth, described) : { drawn: [], legend: [] };
    if (!made) return at("chart").replaceChildren(element("p", { className: "hint" }, say(words.undrawn, { count })));
    const entries = made.legend.map(({ meaning, svg }) => element("li", {}, svg, element("bdi", {}, meaning)));
    const headed = (heads) =>
      (heads.length ? [element("figcaption", { dir: "auto" }, heads.map(isolated).join(", "))] : []);
    const panels = made.drawn.map(({ heads, svg }) => element("figure", {}, ...headed(heads), svg));
    return at("chart").replaceChildren(...(entries.length ? [element("ul", { className: "legend" }, ...entries)] : []),
      element("div", { className: made.beside ? "panels two" : "panels" }, ...panels));
  }
  function listed() {
    const { axes, lines } = found, head = words.head, written = form(state.show);
    const shown = all ? lines : lines.slice(0, SHOWN);
    const names = axes.length ? axes.map(({ place }) => columns[place].name) : [words.chosen];
    const apart = (text) => element("bdi", {}, text);
    const heading = (className) => (text) => element("th", { scope: "col", className }, apart(text));
    const figures = [head.released, head.low, head.high].map(heading("figure"));
    const heads = [...names.map(heading("")), ...figures, heading("")(head.status)];
    document.querySelector("thead tr").replaceChildren(...heads);
    document.querySelector("tbody").replaceChildren(...shown.map((line, i) => {
      const [first, ...others] = axes.length ? line.at.map((level, a) => axes[a].levels[level].meaning) : [words.all];
      const pick = element("button", { type: "button", className: "pick", tabIndex: i ? -1 : 0 }, apart(first));
      const ends = [[line.value, 0], [line.low, -1], [line.high, 1]]
        .map(([value, side]) => (value === null ? "–" : written(value, side)));
      pick.dataset.line = i;
      return element("tr", {}, element("th", { scope: "row" }, pick),
        ...others.map((text) => element("td", {}, apart(text))),
        ...ends.map((text) => element("td", { className: "figure" }, text)),
        element("td", { className: line.status }, words.status[line.status]));
    }));
    at("more").hidden = lines.length <= SHOWN;
    const count = number(lines.length), part = say(words.lines, { shown: number(shown.length), count });
    at("more").textContent = all ? say(words.fewer, { count: number(SHOWN) }) : say(words.more, { count });
    at("lines").textContent = lines.length > SHOWN ? part : "";
  }

  /* A line of the table is read as a sentence. Tab reaches one of them, arrows the others. */
  function picking() {
    const body = document.querySelector("tbody");
    body.addEventListener("focusin", ({ target }) => {
      for (const other of every(".pick", body)) {
        const here = other === target;
        other.tabIndex = here ? 0 : -1;
        other.ariaPressed = here ? "true" : null;
        other.closest("tr").classList.toggle("chosen", here);
      }
      chosen = Number(target.dataset.line);
      answered();
    });
    body.addEventListener("click", ({ target }) => {
      target.closest("tr")?.querySelector(".pick").focus({ preventScroll: true });
    });
    body.addEventListener("keydown", (event) => {
      const picks = every(".pick", body), here = picks.indexOf(event.target);
      const to = picks[{ ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: picks.length - 1 }[event.key]];
      if (!to) return;
      event.preventDefault();
      to.focus();
    });
  }

  /* The view as a file: comments with the warning, then a line for each combination, figures unrounded. */
  function csv() {
    const quoted = (text) => (/[",\r\n#]/.test(text) || text !== text.trim() ? `"${text.replace(/"/g, '""')}"` : text);
    const bare = (text) => text.replace(/[\u2066-\u2069]/g, "").replace(/[\r\n]+/g, " "), { axes, lines } = found;
    const filters = [...state.only].map(([place, codes]) => ({ place, codes }));
    const comments = [
      ...(told.rehearsal ? [words.csv_rehearsal] : []), words.csv_warning, `${words.csv.title}: ${told.title}`,
      `${words.csv.epsilon}: ${told.epsilon}`, `${words.csv.view}: ${caption()}`,
      `${words.csv.chosen}: ${conditions(filters) || words.all}`, `${words.csv.confidence}: ${told.confidence}`,
    ];
    const heads = [...axes.map(({ place }) => columns[place].name), "released", "low", "high", "status", "rule"];
    const rows = lines.map(({ at: levels, value, low, high, status, rule }) => [
      ...levels.map((level, a) => axes[a].levels[level].label), value ?? "", low ?? "", high ?? "", words.status[status],
      rule.map((name) => words.rule[name]).join(" + "),
    ]);
    const written = [heads, ...rows].map((cells) => cells.map((cell) => quoted(String(cell))).join(","));
    return [...comments.map((text) => `# ${bare(text)}`), ...written, ""].join("\r\n");
  }
  function download() {
    const file = new Blob([csv()], { type: "text/csv" });
    const link = element("a", { href: URL.createObjectURL(file), download: "view.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  async function linked() {
    try {
      await navigator.clipboard.writeText(location.href);
      at("linked").textContent = words.linked;
    } catch {
      at("linked").textContent = location.href;
    }
  }

  /* What the guarantees are. */
  function explained() {
    const { cells, tables, means, confidence, rest } = told;
    const names = [...new Set(means.map(({ of }) => isolated(columns[of].name)))];
    const bounded = ({ ways, within: [within] }) => (within === null ? words.sure.cells_none : say(words.sure.cells, {
      within: number(within), columns: ways === null ? words.sure.any : say(words.sure.up_to, { count: number(ways) }),
    }));
    const lines = [
      [true, say(words.sure.each, { confidence })],
      [told.of_search, say(words.sure.search, { rest })],
      ...cells.map((one) => [true, bounded(one)]),
      [tables.length, say(words.sure.tables, { count: number(tables.length) })],
      [means.length, say(words.sure.means, { names: names.join(", ") })],
      [told.nevers.length, words.sure.nevers],
      [!cells.length && !tables.length && !means.length, words.sure.nothing],
      [told.replicates.length, say(words.sure.replicates, { count: number(told.replicates.length) })],
      [tables.length, words.sure.outside],
      [true, words.sure.drawn],
    ];
    at("rules").replaceChildren(...lines.filter(([holds]) => holds).map(([, text]) => element("li", {}, text)));
  }

  /* The order of the bytes is that of `packed` in documents/explorer.py. */
  async function unpacked() {
    const bytes = Uint8Array.from(atob(told.packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const buffer = await new Response(stream).arrayBuffer();
    let from = 0;
    const taken = (kind, many) => new kind(buffer.slice(from, from += many * kind.BYTES_PER_ELEMENT));
    const cells = (places) => product(places.map((place) => columns[place].labels.length));
    const kindOf = ({ labels: { length } }) => (length <= 2 ** 8 ? Uint8Array : length <= 2 ** 16 ? Uint16Array : Uint32Array);
    const counted = told.records < 2 ** 32 ? Uint32Array : Float64Array;
    const codesOf = (rows) => columns.map((column) => taken(kindOf(column), rows));
    const tableOf = (rows) => ({ rows, codes: codesOf(rows), counts: taken(counted, rows) });
    const table = tableOf(told.rows);
    for (const one of told.tables) one.counts = taken(Float64Array, product(one.shape));
    const nevers = told.nevers.map((places) => ({ columns: places, forbidden: taken(Uint8Array, cells(places)) }));
    const drawnAgain = () => ({ ...table, counts: taken(counted, table.rows) });
    const replicates = told.replicates.map((rows) => ({ from: drawnAgain(), made: tableOf(rows) }));
    return [{ ...table, replicates }, nevers];
  }
  async function begin() {
    const [table, nevers] = await unpacked();
    view = viewer(told, table, rulesOf(told, told.tables, nevers));
    for (const id of ["answer", "controls", "result"]) at(id).hidden = false;
    controls();
    picking();
    explained();
    restored(location.hash);
    show();
    let width = at("chart").clientWidth;
    new ResizeObserver(() => {
      if (at("chart").clientWidth === width) return;
      width = at("chart").clientWidth;
      drawn();
    }).observe(at("chart"));
    const banner = at("banner"), root = document.documentElement;
    if (banner) new ResizeObserver(() => root.style.setProperty("--banner", `${banner.offsetHeight}px`)).observe(banner);
  }
  begin().catch(() => { at("broken").hidden = false; });
  return { view: (given) => view({ ...given, only: new Map(given.only) }), csv };
})();
