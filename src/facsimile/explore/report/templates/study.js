"use strict";
(() => {
  const told = JSON.parse(document.getElementById("study").textContent);
  const raised = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
  const order = new Intl.Collator("en", { numeric: true });

  /* A dataset's columns as rows with named fields. */
  function rowsOf(columns) {
    const fields = Object.entries(columns).map(([name, given]) =>
      Array.isArray(given) ? [name, (i) => given[i]] : [name, (i) => given.texts[given.at[i]]]);
    const first = Object.values(columns)[0] ?? [];
    return Array.from({ length: (first.at ?? first).length }, (_, i) =>
      Object.fromEntries(fields.map(([name, of]) => [name, of(i)])));
  }

  function number(value) {
    const power = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)) + 1e-12);
    if (power < -4 || power > 8) {
      const mantissa = Number((value / 10 ** power).toPrecision(4)).toString();
      return `${mantissa} × 10${[...String(power)].map((digit) => raised[digit]).join("")}`.replace("-", "−");
    }
    return value.toLocaleString("en-GB", { maximumSignificantDigits: 4 }).replace("-", "−");
  }

  const written = {
    text: (value) => value,
    prose: (value) => value,
    count: (value) => value.toLocaleString("en-GB"),
    number,
    share: (value) => `${(100 * value).toFixed(1)}\u00a0%`,
    percent: (value) => `${(100 * value).toFixed(2)}\u00a0%`,
    points: (value) => (value ? (value > 0 ? "+" : "−") + Math.abs(value).toFixed(3) : "0.000"),
    fixed: (value) => value.toFixed(3).replace("-", "−"),
    exact: (value) => String(Number(value.toFixed(4))),
  };

  function cell(row, head) {
    const value = row[head.field];
    if (value === null) return "–";
    if (head.kind === "interval") return `${(100 * value).toFixed(1)}–${(100 * row[head.end]).toFixed(1)}\u00a0%`;
    return written[head.kind](value);
  }

  function element(name, given = {}, ...children) {
    const made = Object.assign(document.createElement(name), given);
    made.append(...children);
    return made;
  }

  /* A table that sorts, filters and shows all of its rows when asked. */
  function sheet(name, about) {
    const place = document.querySelector(`[data-sheet="${name}"]`);
    const table = place.querySelector("table");
    const body = table.querySelector("tbody");
    const heads = [...table.querySelectorAll("thead th")];
    let lines = [], sorted = null, all = false, words = [];
    const output = element("output");
    const more = element("button", { type: "button" });
    const tools = place.querySelector(".tools");
    if (about.filtered) {
      const box = element("input", { type: "search", placeholder: "Filter: words that a row holds" });
      box.setAttribute("aria-label", "Filter the rows");
      box.addEventListener("input", () => { words = box.value.toLowerCase().split(/\s+/).filter(Boolean); show(); });
      tools.append(box);
    }
    tools.append(more, output);
    more.addEventListener("click", () => { all = !all; show(); });
    heads.forEach((head, place) => {
      const button = element("button", { type: "button" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const figure = about.heads[place].look === "figure";
        const down = sorted?.place === place ? !sorted.down : figure;
        sorted = { place, down };
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        show();
      });
    });

    function arranged() {
      const found = lines.filter((line) => words.every((word) => line.text.includes(word)));
      if (!sorted) return found;
      const { field } = about.heads[sorted.place];
      const sign = sorted.down ? -1 : 1;
      return found.sort((one, other) => {
        const [a, b] = [one.row[field], other.row[field]];
        if (a === null || b === null) return (a === null) - (b === null);
        return sign * (typeof a === "number" ? a - b : order.compare(a, b));
      });
    }

    function show() {
      const found = arranged();
      const shown = all ? found : found.slice(0, told.shown);
      body.replaceChildren(...shown.map(({ cells }) => element("tr", {}, ...cells.map((text, place) => {
        const given = place ? { className: about.heads[place].look } : { scope: "row" };
        return element(place ? "td" : "th", { textContent: text, ...given });
      }))));
      more.hidden = found.length <= told.shown;
      more.textContent = all ? `Show the first ${told.shown}` : `Show all ${found.length.toLocaleString("en-GB")}`;
      output.textContent = `${shown.length.toLocaleString("en-GB")} of ${lines.length.toLocaleString("en-GB")} rows`;
      tools.hidden = !about.filtered && lines.length <= told.shown;
    }

    return (rows) => {
      lines = rows.map((row) => {
        const cells = about.heads.map((head) => cell(row, head));
        return { row, cells, text: cells.join("\n").toLowerCase() };
      });
      show();
    };
  }

  const fill = {};
  for (const [name, about] of Object.entries(told.sheets)) {
    const shown = sheet(name, about);
    (fill[about.dataset] ??= []).push(shown);
    shown(rowsOf(told.datasets[about.dataset]));
  }

  /* Charts, one after the other, so that the page stays responsive. */
  const views = {};
  async function draw() {
    for (const [name, { spec, datasets }] of Object.entries(told.charts)) {
      const place = document.querySelector(`[data-chart="${name}"]`);
      for (const data of spec.data) if (datasets.includes(data.name)) data.values = rowsOf(told.datasets[data.name]);
      const { view } = await vegaEmbed(place, spec, {
        mode: "vega", renderer: "svg", ast: true, downloadFileName: name,
        actions: { export: true, source: false, compiled: false, editor: false },
      });
      views[name] = { view, datasets };
      await new Promise((done) => setTimeout(done));
    }
    document.documentElement.dataset.drawn = Object.keys(views).length;
  }

  async function choose(option) {
    await drawn;
    for (const [key, columns] of Object.entries(option.datasets)) {
      const rows = rowsOf(columns);
      for (const shown of fill[key] ?? []) shown(rows);
      for (const { view, datasets } of Object.values(views)) {
        if (!datasets.includes(key)) continue;
        view.data(key, rows);
        for (const [signal, value] of Object.entries(option.signals)) view.signal(signal, value);
      }
    }
    for (const { view } of Object.values(views)) await view.runAsync();
  }

  const drawn = draw();
  for (const list of document.querySelectorAll("select[data-choice]")) {
    list.addEventListener("change", () => choose(told.choices[list.dataset.choice][list.value]));
    list.closest(".choice").hidden = false;
  }
})();
