"use strict";
(() => {
  const told = JSON.parse(document.getElementById("study").textContent);
  const order = new Intl.Collator("en", { numeric: true });

  /* A dataset's columns as rows with named fields. */
  function rowsOf(columns) {
    const fields = Object.entries(columns).map(([name, given]) =>
      Array.isArray(given) ? [name, (i) => given[i]] : [name, (i) => given.texts[given.at[i]]]);
    const first = Object.values(columns)[0] ?? [];
    return Array.from({ length: (first.at ?? first).length }, (_, i) =>
      Object.fromEntries(fields.map(([name, of]) => [name, of(i)])));
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
    const tools = place.querySelector(".tools"), scroll = place.querySelector(".scroll");
    const beyond = element("p", { className: "beyond" }, "More columns to the right →");
    place.append(beyond);
    const look = () => { beyond.hidden = scroll.scrollLeft + scroll.clientWidth >= scroll.scrollWidth - 2; };
    scroll.addEventListener("scroll", look);
    new ResizeObserver(look).observe(scroll);
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
      look();
    }

    return (rows) => {
      lines = rows.map((row) => {
        const cells = about.heads.map((head) => charts.cell(row, head));
        return { row, cells, text: cells.join("\n").toLowerCase() };
      });
      show();
    };
  }

  const datasets = {};
  const rowsNamed = (name) => (datasets[name] ??= rowsOf(told.datasets[name]));
  const lists = {};
  for (const list of document.querySelectorAll("select[data-pick]")) lists[list.dataset.pick] = list;
  const picked = (name, field, rows) => (field ? rows.filter((row) => row[field] === lists[name].value) : rows);
  const fill = Object.fromEntries(Object.entries(told.sheets).map(([name, about]) => {
    const shown = sheet(name, about);
    return [name, () => shown(picked(name, about.picked, rowsNamed(name)))];
  }));
  for (const filled of Object.values(fill)) filled();

  /* Charts fill the width they have, and are drawn again when it changes. */
  function draw(name) {
    const place = document.querySelector(`[data-chart="${name}"]`), about = told.charts[name];
    const rows = picked(name, about.picked, rowsNamed(about.dataset));
    place.querySelector("svg")?.remove();
    place.prepend(charts.draw(about, rows, place.clientWidth));
  }
  const widths = new Map();
  const watched = new ResizeObserver((changes) => {
    for (const { target } of changes) {
      if (widths.get(target) === target.clientWidth || !target.clientWidth) continue;
      widths.set(target, target.clientWidth);
      draw(target.dataset.chart);
    }
  });
  async function drawAll() {
    for (const name of Object.keys(told.charts)) {
      const place = document.querySelector(`[data-chart="${name}"]`);
      draw(name);
      place.append(menu(name, place));
      widths.set(place, place.clientWidth);
      watched.observe(place);
      await new Promise((done) => setTimeout(done));
    }
    document.documentElement.dataset.drawn = Object.keys(told.charts).length;
  }

  /* A chart as a file: the drawing itself, or a picture of it at twice its size. */
  function menu(name, place) {
    const save = (address, ending) => element("a", { href: address, download: `${name}.${ending}` }).click();
    const source = () => {
      const drawn = new XMLSerializer().serializeToString(place.querySelector("svg"));
      return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawn)}`;
    };
    const [svg, png] = ["SVG", "PNG"].map((kind) => element("button", { type: "button" }, `Save as ${kind}`));
    svg.addEventListener("click", () => save(source(), "svg"));
    png.addEventListener("click", async () => {
      const picture = element("img", { src: source() });
      await picture.decode();
      const canvas = element("canvas", { width: 2 * picture.width, height: 2 * picture.height });
      const pen = canvas.getContext("2d");
      pen.fillStyle = "#fff";
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
      save(canvas.toDataURL("image/png"), "png");
    });
    const summary = element("summary", { title: "Save the chart" }, "⋯");
    return element("details", {}, summary, element("div", {}, svg, png));
  }

  /* The figures of the mark below the pointer. */
  const hint = element("div", { className: "hint", hidden: true });
  document.body.append(hint);
  document.addEventListener("pointermove", (event) => {
    const mark = event.target.hint ? event.target : null;
    hint.hidden = !mark;
    if (!mark) return;
    const said = ([words, text]) => element("div", {}, element("span", {}, words), element("strong", {}, text));
    hint.replaceChildren(...mark.hint.map(said));
    const [x, y] = [event.clientX + 14, event.clientY + 14], { width, height } = hint.getBoundingClientRect();
    hint.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 8))}px`;
    hint.style.top = `${y + height > innerHeight ? event.clientY - height - 10 : y}px`;
  });

  for (const [name, list] of Object.entries(lists)) {
    list.addEventListener("change", () => {
      draw(name);
      if (told.sheets[name]?.picked) fill[name]();
    });
    list.closest(".choice").hidden = false;
  }
  drawAll();
})();
