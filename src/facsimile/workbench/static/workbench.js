"use strict";
// Forms are sent and pages renewed without losing the reader's place; edges, thresholds and budgets ask as they move.

const WAIT = 1000;
const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
const count = (number) => number.toLocaleString("en-GB");
document.documentElement.classList.add("js");

async function ask(name, asked, signal) {
  const answer = await fetch(`/ask/${name}?${new URLSearchParams(asked)}`, { signal });
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.json();
}

// One question at a time of a kind: a later one takes the place of an earlier one.
function asker(name, asked, then) {
  let running = null;
  return async () => {
    running?.abort();
    const mine = (running = new AbortController());
    const given = asked();
    try {
      then(await ask(name, given, mine.signal), given);
    } catch (error) {
      if (error.name !== "AbortError") lost(true);
    }
  };
}

function element(name, parts = {}, text) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(parts)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// --- renewing the page

const dirty = () => $(".dirty") !== null;

async function renew(answer) {
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.querySelector("main");
  if (!next) return location.reload();
  const open = new Map($$("details[id]").map((one) => [one.id, one.open]));
  const focused = document.activeElement?.closest("[id]")?.id;
  const at = scrollY;
  $("main").replaceWith(next);
  const who = page.querySelector("#who");
  if (who) $("#who").replaceWith(who);
  Object.assign(document.body.dataset, page.body.dataset);
  document.title = page.title;
  for (const one of $$("details[id]")) if (open.has(one.id) && one.id !== "who") one.open = open.get(one.id) || one.open;
  prepare(next);
  if (focused && document.getElementById(focused)) document.getElementById(focused).focus({ preventScroll: true });
  scrollTo(0, at);
}

async function show(address) {
  const answer = await fetch(address);
  history.replaceState(null, "", address);
  await renew(answer);
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  event.preventDefault();
  const button = event.submitter;
  if (button) button.disabled = true;
  try {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (!answer.ok) throw new Error(answer.statusText);
    if (new URL(answer.url).pathname !== location.pathname) history.pushState(null, "", answer.url);
    await renew(answer);
    const told = $("#told .told");
    if (told) told.scrollIntoView({ block: "nearest" });
  } catch {
    lost(true);
    if (button) button.disabled = false;
  }
});

document.addEventListener("input", (event) => {
  const form = event.target.closest("form");
  if (form && $(".decide", form)) form.classList.add("dirty");
});

function lost(gone) {
  const told = $("#meanwhile");
  if (!gone) return;
  told.hidden = false;
  $(".told", told).textContent = "The workbench does not answer. Is it still running where it was started?";
}

async function news() {
  try {
    const found = await ask("news", {});
    const { text, log } = document.body.dataset;
    const jobs = JSON.stringify(found.jobs);
    const changed = found.text !== text || String(found.log) !== log;
    const waiting = $("[data-working]") !== null;
    const moved = news.before !== undefined && (news.before !== jobs || news.busy !== found.busy);
    if (changed && dirty()) $("#meanwhile").hidden = false;
    else if (changed || (waiting && (moved || !found.busy)))
      await renew(await fetch(location.pathname));
    [news.before, news.busy] = [jobs, found.busy];
  } catch {
    lost(true);
  }
  setTimeout(news, WAIT);
}

document.addEventListener("click", (event) => {
  if (event.target.id === "renew") show(location.pathname);
});

// --- bins

function edges(form) {
  const svg = $("svg", form);
  const table = $(`[data-bins="${form.dataset.column}-${form.dataset.alternative}"] tbody`);
  const low = Number(form.dataset.low);
  const high = Number(form.dataset.high);
  const decimals = Number(form.dataset.decimals);
  const step = 10 ** -decimals;
  const all = () => $$(".edge", svg);
  const value = (edge) => Number(edge.getAttribute("aria-valuenow"));
  const x = (number) => ((number - low) / (high - low)) * 1000;
  let chosen = null;

  const look = asker(
    "bins",
    () => ({ column: form.dataset.column, alternative: form.dataset.alternative, edges: form.elements.edges.value }),
    (found, given) => {
      const told = $(".asked", form) || form.insertBefore(element("p", { class: "asked", role: "status" }), $(".tools", form));
      told.textContent = found.refused || "";
      if (found.refused) return;
      table.replaceChildren(
        ...found.bins.map(([label, records, number, values]) => {
          const row = element("tr");
          const head = element("th", { scope: "row" }, label);
          if (values) head.append(" ", element("small", {}, values));
          const rare = records !== null && records < 50 ? "figure rare" : "figure";
          row.append(head, element("td", { class: rare }, records === null ? "" : count(records)));
          row.append(element("td", { class: "figure" }, number));
          return row;
        }),
      );
      if (found.rows) {
        const [records, distinct, rarest, unique, row] = found.rows;
        const words = { records: count(records), distinct: count(distinct), rarest: `${count(rarest)}×` };
        Object.assign(words, { unique: count(unique), row: row.join(", ") });
        for (const [name, text] of Object.entries(words)) $(`[data-row="${name}"]`).textContent = text;
      }
      form.dataset.answered = given.edges;
    },
  );

  function place(edge, number) {
    const [least, most] = ["min", "max"].map((end) => Number(edge.getAttribute(`aria-value${end}`)));
    const kept = Math.min(most, Math.max(least, Math.round(number / step) * step)).toFixed(decimals);
    const written = String(Number(kept));
    if (written === edge.getAttribute("aria-valuenow")) return;
    edge.setAttribute("aria-valuenow", written);
    edge.setAttribute("transform", `translate(${x(Number(written)).toFixed(2)} 0)`);
    $("text", edge).textContent = written;
    edge.classList.add("moved");
    settle();
  }

  function settle() {
    const found = all().sort((a, b) => value(a) - value(b));
    found.forEach((edge, i) => {
      const before = found[i - 1];
      const after = found[i + 1];
      if (before) edge.setAttribute("aria-valuemin", (value(before) + step).toFixed(decimals));
      if (after) edge.setAttribute("aria-valuemax", (value(after) - step).toFixed(decimals));
    });
    form.elements.edges.value = found.map((edge) => edge.getAttribute("aria-valuenow")).join(",");
    form.classList.add("dirty");
    crowd();
    look();
  }

  // Figures that would lie on each other are shown when their edge is looked at.
  function crowd() {
    let last = -Infinity;
    for (const edge of all().sort((a, b) => value(a) - value(b))) {
      const here = x(value(edge));
      const wide = edge.getAttribute("aria-valuenow").length * 14 + 12;
      edge.classList.toggle("crowded", here - last < wide);
      if (here - last >= wide) last = here;
    }
  }

  function grab(edge) {
    edge.addEventListener("focus", () => {
      all().forEach((one) => one.classList.toggle("chosen", one === edge));
      chosen = edge;
    });
    edge.addEventListener("pointerdown", (event) => {
      edge.setPointerCapture(event.pointerId);
      edge.focus();
      event.preventDefault();
    });
    edge.addEventListener("pointermove", (event) => {
      if (!edge.hasPointerCapture(event.pointerId)) return;
      const at = svg.getScreenCTM().inverse();
      place(edge, low + ((event.clientX * at.a + at.e) / 1000) * (high - low));
    });
    edge.addEventListener("keydown", (event) => {
      const far = Math.max(step, Math.round((high - low) / 40 / step) * step);
      const moves = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step, PageDown: -far, PageUp: far };
      if (event.key in moves) place(edge, value(edge) + moves[event.key]);
      else if (event.key === "Home") place(edge, Number(edge.getAttribute("aria-valuemin")));
      else if (event.key === "End") place(edge, Number(edge.getAttribute("aria-valuemax")));
      else if (event.key === "Delete") remove(edge);
      else return;
      event.preventDefault();
    });
  }

  function remove(edge) {
    if (!edge || all().length < 2) return;
    edge.remove();
    chosen = null;
    settle();
  }

  $("[data-join]", form).addEventListener("click", () => remove(chosen || all()[0]));
  $("[data-split]", form).addEventListener("click", () => {
    const at = Number(form.elements.at.value || NaN);
    const widest = [low, ...all().map(value).sort((a, b) => a - b), high];
    let middle = 0;
    for (let i = 1; i < widest.length - 1; i++) if (widest[i + 1] - widest[i] > widest[middle + 1] - widest[middle]) middle = i;
    const number = Number.isFinite(at) ? at : (widest[middle] + widest[middle + 1]) / 2;
    const edge = all()[0].cloneNode(true);
    edge.setAttribute("aria-valuemin", low);
    edge.setAttribute("aria-valuemax", high);
    edge.setAttribute("aria-label", "New edge");
    edge.setAttribute("aria-valuenow", "");
    svg.append(edge);
    grab(edge);
    place(edge, number);
    form.elements.at.value = "";
    edge.focus();
  });
  all().forEach(grab);
  crowd();
}

// --- thresholds, budgets, rules, plans

function threshold(form) {
  const slider = $("[type=range]", form);
  const choices = slider.dataset.choices.split(" ");
  const exact = form.elements.threshold;
  const look = asker(
    "threshold",
    () => ({ criterion: form.dataset.criterion, threshold: exact.value, epsilon: form.elements.epsilon?.value ?? "" }),
    (found, given) => {
      const verdict = $("[data-verdict]", form);
      verdict.textContent = found.refused || "";
      if (found.refused) return;
      for (const name of ["noise", "quiet", "needed"]) $(`[data-cost=${name}]`, form).textContent = found[name] ?? (found.known ? "out of reach" : "not known");
      $("[data-cost=noise]", form).classList.toggle("rare", found.loud);
      if (found.below_fresh) verdict.textContent = "Not even another sample of the same people would reach this.";
      else if (found.below_predicted) verdict.textContent = "Fewer than nine of ten candidates are predicted to reach this.";
      form.dataset.answered = given.threshold;
    },
  );
  slider.addEventListener("input", () => {
    exact.value = choices[slider.value];
    slider.setAttribute("aria-valuetext", exact.value);
    look();
  });
  form.elements.epsilon?.addEventListener("input", (event) => event.target.checkValidity() && look());
  exact.addEventListener("input", () => {
    if (!exact.checkValidity()) return;
    const near = choices.findIndex((one) => Number(one) >= Number(exact.value));
    slider.value = near < 0 ? choices.length - 1 : near;
    slider.setAttribute("aria-valuetext", exact.value);
    look();
  });
}

function spending(form) {
  const look = asker(
    "budget",
    () => Object.fromEntries(["total", "generator", "test", "once"].map((name) => [name, form.elements[name].value])),
    (found) => {
      const verdict = $("[data-verdict]", form);
      verdict.textContent = found.refused || (found.over ? `The parts add up to ${found.total}, more than the declared total.` : `The parts add up to ${found.total}.`);
      if (found.refused) return;
      for (const name of ["total", "guesses", "odds"]) $(`[data-budget=${name}]`).textContent = found[name];
      $("[data-budget=bar]").setAttribute("width", found.guesses * 10);
      const bars = found.slices.map(([x, width, name, epsilon], tone) => {
        const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
        const said = document.createElementNS("http://www.w3.org/2000/svg", "title");
        said.textContent = `${name}: ${epsilon}`;
        for (const [key, value] of Object.entries({ x, width, y: 0, height: 60, class: `tone${tone % 6}` })) bar.setAttribute(key, value);
        bar.append(said);
        return bar;
      });
      $("[data-budget=slices]").replaceChildren(...bars);
    },
  );
  form.addEventListener("input", (event) => event.target.name !== "why" && look());
}

function rule(form) {
  const told = $(".asked", form);
  const look = asker(
    "rule",
    () => ({ never: form.elements.never.value }),
    (found) => {
      const broken = found.records === null ? "" : ` ${count(found.records ?? 0)} public records break it.`;
      told.textContent = found.refused || `${found.sentence}${broken}`;
    },
  );
  let soon = 0;
  form.elements.never.addEventListener("input", () => {
    clearTimeout(soon);
    soon = setTimeout(() => form.elements.never.value.trim() && look(), 200);
  });
}

function curve(form) {
  const mark = () => {
    const chosen = form.elements.point.value;
    $$("circle[data-point]", form).forEach((one) => one.classList.toggle("chosen", one.dataset.point === chosen));
  };
  $$("circle[data-point]", form).forEach((one) =>
    one.addEventListener("click", () => {
      const radio = $(`[name=point][value="${one.dataset.point}"]`, form);
      radio.checked = true;
      radio.focus();
      form.classList.add("dirty");
      mark();
    }),
  );
  form.addEventListener("change", mark);
}

function prepare(within) {
  $$("[data-edges]", within).forEach(edges);
  $$("[data-threshold]", within).forEach(threshold);
  $$("[data-spending]", within).forEach(spending);
  $$("[data-rule]", within).forEach(rule);
  $$("[data-curve]", within).forEach(curve);
}

prepare(document);
setTimeout(news, WAIT);
