// SPDX-License-Identifier: BSD-3-Clause
"use strict";
// Sorts, filters, pins, switches, copies and compares. The tables in the page are the data;
// what they do not hold is in one block of JSON. Names are only ever written as text.
(() => {
  const find = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const data = JSON.parse(find("data").textContent);
  const percent = `${+(100 * data.level).toFixed(6)} %`;
  const make = (tag, attributes = {}, ...children) => {
    const drawn = ["svg", "path", "use", "text"].includes(tag);
    const node = drawn ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const press = (buttons, chosen) => buttons.forEach((b) => b.setAttribute("aria-pressed", String(b === chosen)));
  const choose = (field, choices, act) => {
    const buttons = choices.map(([key, text]) => {
      const button = make("button", { type: "button", "data-key": key, dir: "auto" }, text);
      button.addEventListener("click", () => { press(buttons, button); act(key); });
      return button;
    });
    field.append(...buttons);
    press(buttons, buttons[0]);
    return buttons;
  };
  all(".hint, .copies, .chips, .copy, .controls").forEach((part) => { part.hidden = false; });

  // ---- the boards: that of all results, and those of categories
  const number = (text) => {
    const value = text.replaceAll(",", "").replace("−", "-").replace("∞", "Infinity");
    return value === "–" || value === "" ? NaN : Number(value);
  };
  const read = (table, groups) => {
    const keys = [...table.tHead.rows[0].cells].map((head) => head.dataset.key);
    return [...table.tBodies[0].rows].map((row, place) => {
      const text = Object.fromEntries(keys.map((key, k) => [key, row.cells[k].textContent.trim()]));
      const name = row.cells[1].querySelector("bdi");
      const [lower, upper] = (text.interval || "–").split(" to ").map(number);
      const [best, worst = best] = (text.ranks || "–").split("–").map(number);
      return {
        row, place, text, short: name.textContent, name: name.title || name.textContent, low: (name.title || name.textContent).toLocaleLowerCase(),
        provisional: Boolean(row.querySelector("i")), best: best === 1, letters: new Set(((groups && groups[place]) || "").split(" ").filter(Boolean)),
        rank: place, rating: number(text.rating), lower, upper, interval: lower, ranks: best + worst / 1e6,
        votes: number(text.votes || "–"), wins: number(text.wins || "–"), ties: number(text.ties || "–"), losses: number(text.losses || "–"),
      };
    });
  };
  const board = find("board");
  const boards = new Map();
  if (board) {
    boards.set("", read(board, data.groups[""]));
    for (const part of all("details[data-category]")) {
      boards.set(part.dataset.category, read(part.querySelector("table"), data.groups[part.dataset.category]));
    }
  }
  const main = boards.get("") || [];
  const together = (a, b) => [...a.letters].some((letter) => b.letters.has(letter));
  const collator = new Intl.Collator(undefined, { numeric: true });
  const state = { board: "", sort: "rank", up: true, query: "", pinned: null, first: 0, limit: 100 };
  const listeners = [];  // are told of the pinned name

  const listed = () => {
    const wanted = state.query.trim().toLocaleLowerCase();
    const list = boards.get(state.board).filter((item) => item.low.includes(wanted));
    const sign = state.up ? 1 : -1;
    const key = state.sort;
    if ((key === "item" || key === "group") && list.some((item) => item[key] === undefined)) {
      // Texts are compared once, and then by their places.
      const ordered = [...boards.get(state.board)].sort((a, b) => collator.compare(a.text[key], b.text[key]) || a.place - b.place);
      ordered.forEach((item, k) => { item[key] = k; });
    }
    return list.sort((a, b) => {
      // What has no number comes last in both directions.
      if (Number.isNaN(a[key]) || Number.isNaN(b[key])) return Number.isNaN(a[key]) - Number.isNaN(b[key]) || a.place - b.place;
      return sign * (a[key] - b[key]) || (key === "rating" ? sign : 1) * (a.place - b.place);
    });
  };

  const say = (item) => {
    const parts = [`rating ${item.text.rating}`];
    if (!Number.isNaN(item.lower)) parts[0] += ` (${item.text.interval}, with ${percent} confidence)`;
    parts.push(`rank ${item.text.rank}${item.text.ranks ? `, could be ${item.text.ranks}` : ""}`);
    if (item.text.votes) parts.push(`${item.text.votes} ${data.nouns.votes}: ${item.text.wins} won, ${item.text.ties} tied, ${item.text.losses} lost`);
    if (item.provisional) parts.push("provisional: few results");
    return parts;
  };

  // ---- the plot
  const rows = find("rows");
  const tip = find("tip");
  const showTip = (item, near) => {
    tip.replaceChildren(make("b", { dir: "auto" }, item.name), ...say(item).map((line) => make("div", {}, line)));
    tip.hidden = false;
    const box = near.getBoundingClientRect();
    const left = Math.min(box.left + box.width / 2, window.innerWidth - tip.offsetWidth - 12);
    const below = box.bottom + tip.offsetHeight + 12 < window.innerHeight;
    tip.style.left = `${Math.max(8, left) + window.scrollX}px`;
    tip.style.top = `${(below ? box.bottom + 6 : box.top - tip.offsetHeight - 6) + window.scrollY}px`;
  };
  const hideTip = () => { tip.hidden = true; };
  // Round numbers, and the axis of ratings with their intervals, as the page was drawn.
  const ticks = (low, high) => {
    const rough = (high - low) / 6;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((size) => size >= rough * (1 - 1e-9));
    const values = [];
    for (let k = Math.ceil(low / step - 1e-9); k <= Math.floor(high / step + 1e-9); k += 1) values.push(step * k);
    return [values, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))];
  };
  const range = (items) => {
    const of = (key) => items.map((item) => item[key]).filter(Number.isFinite);
    const ratings = of("rating").length ? of("rating") : [0, 1];
    const [worst, best] = [Math.min(...ratings), Math.max(...ratings)];
    const margin = best > worst ? 0.25 * (best - worst) : Infinity;
    const low = Math.max(Math.min(worst, ...of("lower")), worst - margin);
    const high = Math.min(Math.max(best, ...of("upper")), best + margin);
    const pad = 0.02 * (high - low) || 0.5;
    return [low - pad, high + pad];
  };
  const on = ([low, high], value) => Math.round(10 * Math.min(1000, Math.max(0, 1000 * (value - low) / (high - low)))) / 10;
  let axis = [0, 1];
  const place = (value) => on(axis, value);
  const drawAxis = (items) => {
    axis = range(items);
    const [values, digits] = ticks(...axis);
    find("grid").replaceChildren(...values.map((value) => make("path", { class: "grid", d: `M${place(value)} 0V20` })));
    find("plot").querySelector(".axis").replaceChildren(...values.map((value) =>
      make("text", { x: `${place(value) / 10}%`, y: 14 }, value.toFixed(digits).replace("-", "−"))));
    const rug = find("plot").querySelector(".span");
    if (rug) {
      const whole = range(boards.get(state.board));
      rug.setAttribute("d", `M${on(whole, axis[0])} 11H${on(whole, axis[1])}`);
      rug.previousElementSibling.setAttribute("d", [...new Set(boards.get(state.board).map((item) => on(whole, item.rating)))].map((x) => `M${x} 0v8`).join(""));
    }
  };
  const plotRow = (item) => {
    const x = place(item.rating);
    const svg = make("svg", { class: "track", viewBox: "0 0 1000 20", preserveAspectRatio: "none", "aria-hidden": "true" }, make("use", { href: "#grid" }));
    if (!Number.isNaN(item.lower)) svg.append(make("path", { class: "iv", d: `M${place(item.lower)} 10H${place(item.upper)}` }));
    svg.append(make("path", { class: "dot", d: `M${x} 10h0` }));
    const link = make("a", { href: `#item=${encodeURIComponent(item.name)}` }, make("bdi", {}, item.short));
    const value = make("span", { class: "value" }, make("b", {}, item.text.rating));
    if (!Number.isNaN(item.lower)) value.append(" ", make("span", {}, item.text.interval));
    const line = make("li", { class: "row" }, make("span", { class: "rank" }, item.text.rank), make("span", { class: "name" }, link), svg, value);
    line.classList.toggle("shade", item.best);
    line.classList.toggle("provisional", item.provisional);
    line.addEventListener("mouseenter", () => showTip(item, line));
    line.addEventListener("mouseleave", hideTip);
    link.addEventListener("focus", () => { if (link.matches(":focus-visible")) showTip(item, line); });
    link.addEventListener("blur", hideTip);
    line.addEventListener("click", (event) => { event.preventDefault(); pin(state.pinned === item.name ? null : item.name); });
    return line;
  };
  let drawn = [];
  const drawPlot = (list) => {
    const count = data.page;
    state.first = Math.max(0, Math.min(state.first, Math.floor((list.length - 1) / count) * count));
    drawn = list.slice(state.first, state.first + count);
    drawAxis(list.length > count ? drawn : boards.get(state.board).slice(0, count));
    rows.replaceChildren(...drawn.map(plotRow));
    const links = all("a", rows);
    links.forEach((link, k) => { link.tabIndex = k ? -1 : 0; });
    const pager = find("back").parentElement;
    pager.hidden = list.length <= count;
    find("where").textContent = `${(state.first + 1).toLocaleString("en")}–${(state.first + drawn.length).toLocaleString("en")} of ${list.length.toLocaleString("en")}`;
    find("back").disabled = state.first === 0;
    find("forward").disabled = state.first + count >= list.length;
    all("#plot .paged").forEach((part) => { part.hidden = true; });
  };

  // ---- the table: the rows of the page, put in order; of many only the first
  const body = board && board.tBodies[0];
  const dress = (item) => {
    if (item.dressed || !item.text.interval) return;
    item.dressed = true;
    [...item.row.cells].forEach((cell, k) => { if (k > 2 && k !== 6) cell.classList.add("wide"); });
    item.row.cells[1].append(make("span", { class: "under" }, item.text.interval));
  };
  let list = [];
  const drawTable = () => {
    const shown = list.slice(0, state.limit);
    shown.forEach(dress);
    body.replaceChildren(...shown.map((item) => item.row));
    const more = find("more");
    more.hidden = list.length <= shown.length;
    more.querySelector("output").textContent = `${shown.length.toLocaleString("en")} of ${list.length.toLocaleString("en")} rows.`;
    for (const head of board.tHead.rows[0].cells) {
      const mine = head.dataset.key === state.sort;
      head.setAttribute("aria-sort", mine ? (state.up ? "ascending" : "descending") : "none");
    }
  };
  const draw = () => {
    hideTip();
    list = listed();
    drawPlot(list);
    drawTable();
    const total = boards.get(state.board).length;
    find("found").textContent = state.query.trim() ? `${list.length.toLocaleString("en")} of ${total.toLocaleString("en")} ${data.nouns.items}` : "";
    showPinned();
  };

  // ---- the pinned item
  const showPinned = () => {
    const line = find("pinned");
    const item = boards.get(state.board).find((one) => one.name === state.pinned);
    drawn.forEach((one, k) => {
      rows.children[k].classList.toggle("pinned", one === item);
      rows.children[k].classList.toggle("faded", Boolean(item) && one !== item && together(one, item));
    });
    if (state.marked) state.marked.classList.remove("pinned");
    state.marked = item && item.row;
    if (item) item.row.classList.add("pinned");
    line.hidden = !item;
    if (item) {
      const close = make("button", { type: "button" }, "Unpin");
      close.addEventListener("click", () => pin(null));
      const same = boards.get(state.board).filter((one) => one !== item && together(one, item)).length;
      const told = item.letters.size
        ? `With ${percent} confidence ${same ? `${same} other${same > 1 ? "s" : ""} cannot be told apart from it (faded).` : "it can be told apart from all others."} All are compared at once.` : "";
      line.replaceChildren(make("b", {}, make("bdi", {}, item.name)), `: ${say(item).join("; ")}. ${told}`, close);
    }
    listeners.forEach((listen) => listen(state.pinned));
  };
  const pin = (name) => {
    state.pinned = name;
    const hash = name === null ? "" : `#item=${encodeURIComponent(name)}`;
    history.replaceState(null, "", location.pathname + location.search + hash);
    showPinned();
  };
  const follow = () => {
    const match = /^#item=(.*)$/.exec(location.hash);
    if (!match) return;
    let name = match[1];
    try { name = decodeURIComponent(name); } catch { /* a name with a bare % */ }
    const place = list.findIndex((item) => item.name === name);
    if (place < 0) return;
    state.pinned = name;
    state.first = Math.floor(place / data.page) * data.page;
    drawPlot(list);
    showPinned();
    rows.children[place - state.first].scrollIntoView({ block: "center" });
  };

  if (board) {
    const sorted = (key) => {
      const upFirst = ["rank", "item", "group", "ranks"].includes(key);
      [state.up, state.sort] = [state.sort === key ? !state.up : upFirst, key];
      state.first = 0;
      draw();
    };
    const kinds = [["rank", "Rating"], ["item", "Name"], ...(main.some((item) => item.text.votes) ? [["votes", data.nouns.votes]] : [])];
    const sorts = choose(find("sorts"), kinds, (key) => { state.sort = null; sorted(key); });
    for (const head of board.tHead.rows[0].cells) {
      const button = make("button", { type: "button" }, head.textContent);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        sorted(head.dataset.key);
        press(sorts, sorts.find((one) => one.dataset.key === state.sort));
      });
    }
    if (boards.size > 1) {
      choose(find("switch"), [["", "All"], ...[...boards.keys()].slice(1).map((name) => [name, name])], (name) => {
        [state.board, state.first] = [name, 0];
        draw();
      });
      all("details[data-category]").forEach((part) => { part.querySelector(".scroll").hidden = true; if (!part.querySelector("p")) part.hidden = true; });
    }
    find("search").addEventListener("input", (event) => { state.query = event.target.value; state.first = 0; draw(); });
    find("back").addEventListener("click", () => { state.first -= data.page; draw(); });
    find("forward").addEventListener("click", () => { state.first += data.page; draw(); });
    all("[data-more]").forEach((button) => button.addEventListener("click", () => {
      state.limit = button.dataset.more === "all" ? Infinity : state.limit + Number(button.dataset.more);
      drawTable();
    }));
    rows.addEventListener("keydown", (event) => {
      const links = all("a", rows);
      const now = links.indexOf(document.activeElement);
      const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: links.length - 1 }[event.key];
      if (event.key === "Escape") pin(null);
      if (to === undefined || !links[to]) return;
      event.preventDefault();
      links.forEach((link, k) => { link.tabIndex = k === to ? 0 : -1; });
      links[to].focus();
    });
    window.addEventListener("hashchange", follow);
    window.addEventListener("beforeprint", () => { state.kept = state.limit; state.limit = Infinity; drawTable(); });
    window.addEventListener("afterprint", () => { state.limit = state.kept; drawTable(); });
    draw();
    follow();
  }

  // ---- copying
  const copy = async (text) => {
    try { await navigator.clipboard.writeText(text); } catch {
      const area = make("textarea", { readonly: "" });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };
  const forms = {
    markdown: (heads, lines) => [heads, heads.map((_, k) => (k === 1 ? ":---" : "---:")), ...lines.map((line) => line.map((cell) => cell.replace(/[\\`*_[\]<>&|#~]/g, "\\$&")))]
      .map((line) => `| ${line.join(" | ")} |\n`).join(""),
    csv: (heads, lines) => [heads, ...lines].map((line) => line.map((cell) => {
      const plain = cell.replace(/^−(?=\d)/, "-");
      // A spreadsheet must not take a name for a formula.
      const safe = /^[=+\-@\t\r]/.test(plain) && Number.isNaN(Number(plain)) ? `'${plain}` : plain;
      return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    }).join(",")).join("\n") + "\n",
  };
  all("[data-copy]").forEach((button) => button.addEventListener("click", async () => {
    const keys = [...board.tHead.rows[0].cells].map((head) => head.dataset.key);
    const heads = [...board.tHead.rows[0].cells].map((head) => head.textContent.trim());
    const lines = list.map((item) => keys.map((key) => (key === "item" ? item.name : item.text[key])));
    await copy(forms[button.dataset.copy](heads, lines));
    find("copied").textContent = `Copied ${lines.length.toLocaleString("en")} rows as ${button.textContent}.`;
  }));
  all(".copy").forEach((button) => button.addEventListener("click", async () => {
    await copy(button.previousElementSibling.textContent.trim());
    button.textContent = "Copied";
  }));

  // ---- what the model predicts of two items, by their place in the table
  const model = data.compare;
  const logistic = (x) => 1 / (1 + Math.exp(-x));
  const cumulative = (d, kappa) => {
    const [left, right] = [logistic(-d - Math.log(kappa)), logistic(d - Math.log(kappa))];
    return [left, Math.max(0, 1 - left - right), right];
  };
  const davidson = (d, nu) => {
    const logits = [-d / 2, Math.log(nu), d / 2];
    const top = Math.max(...logits);
    const odds = logits.map((x) => Math.exp(x - top));
    const sum = odds[0] + odds[1] + odds[2];
    return odds.map((x) => x / sum);
  };
  const predict = (i, j, edge) => {
    let d = model.strengths[j] - model.strengths[i] - edge;
    if (model.doubts) d /= Math.sqrt(1 + model.doubts[i] + model.doubts[j]);
    if (model.tie === null) return [0, 1, 0];
    if (model.link === "threshold") return [Number(d < -model.tie), Number(Math.abs(d) <= model.tie), Number(d > model.tie)];
    if (model.link === "cumulative") return cumulative(d, model.tie);
    if (model.link === "davidson") return davidson(d, model.tie);
    // Ratings: the tie is p0, the probability between equals, of one model or the mean of both.
    const [p, share] = [model.tie, model.davidson];
    const both = [davidson(d, 2 * p / (1 - p)), cumulative(d / (1 + p), (1 + p) / (1 - p))];
    return both[0].map((x, k) => share * x + (1 - share) * both[1][k]);
  };

  if (find("comparer")) {
    find("comparer").hidden = false;
    const places = new Map();
    main.forEach((item, i) => {
      if (model.strengths[i] === null) return;
      let name = item.short;
      for (let k = 2; places.has(name); k += 1) name = `${item.short} (${k})`;
      places.set(name, i);
    });
    find("names").append(...[...places.keys()].map((value) => make("option", { value })));
    const [left, right, advantage] = [find("left"), find("right"), find("advantage")];
    // Names are isolated, so that one written from right to left leaves the rest alone.
    const named = (input) => `\u2068${input.value}\u2069`;
    const show = () => {
      const [i, j] = [places.get(left.value), places.get(right.value)];
      const verdict = find("verdict");
      const good = i !== undefined && j !== undefined && i !== j;
      find("odds").toggleAttribute("hidden", !good || model.link === "threshold");
      find("chances").replaceChildren();
      if (!good) {
        verdict.textContent = i !== undefined && i === j ? "Choose two different items."
          : `Choose from the list: there is no ${named(i === undefined ? left : right)}.`;
        return;
      }
      const chances = predict(i, j, advantage && advantage.checked ? model.advantage : 0);
      const likely = chances.indexOf(Math.max(...chances));
      const better = named(likely ? right : left);
      if (model.link === "threshold") {
        verdict.textContent = likely === 1 ? `${named(left)} and ${named(right)} are too close to call: a tie.` : `${better} is better.`;
        return;
      }
      verdict.textContent = likely === 1 ? `A tie between ${named(left)} and ${named(right)} is the most likely outcome.` : `${better} is more likely to win.`;
      let start = 0;
      [...find("odds").children].forEach((part, k) => {
        part.setAttribute("x", 300 * start);
        part.setAttribute("width", 300 * chances[k]);
        start += chances[k];
      });
      find("chances").append(...[`${named(left)} wins`, "Tie", `${named(right)} wins`].map((label, k) =>
        make("div", {}, make("strong", {}, `${(100 * chances[k]).toFixed(1)} %`), make("span", {}, label))));
    };
    [left.value, right.value] = places.keys();
    for (const input of [left, right, advantage]) if (input) input.addEventListener("input", show);
    show();
  }

  // ---- who beats whom
  const versus = find("versus");
  if (versus && data.matrix) {
    const { items, wins, ties } = data.matrix;
    const n = items.length;
    const lines = [...versus.tBodies[0].rows];
    const heads = [...versus.tHead.rows[0].cells].slice(1);
    const names = lines.map((line) => line.cells[0].textContent);
    const whole = items.map((item, i) => (item === null ? names[i] : main[item].name));
    let [mode, sortedBy] = ["observed", null];
    const games = (i, j) => wins[i][j] + wins[j][i] + ties[i][j];
    const observed = (i, j) => (wins[i][j] + ties[i][j] / 2) / games(i, j);
    const expected = (i, j) => { const [a, b] = predict(items[i], items[j], 0); return a + b / 2; };
    const value = (i, j) => {
      if (i === j || !games(i, j)) return NaN;
      return { observed, expected, difference: (a, b) => observed(a, b) - expected(a, b) }[mode](i, j);
    };
    const text = (i, j) => {
      const share = Math.round(100 * value(i, j));
      return mode === "difference" ? `${share > 0 ? "+" : share < 0 ? "−" : ""}${Math.abs(share)}` : String(share);
    };
    const paint = () => {
      lines.forEach((line, i) => [...line.cells].slice(1).forEach((cell, j) => {
        const v = value(i, j);
        if (Number.isNaN(v)) return;
        const fade = mode === "expected" ? 1 : games(i, j) / (games(i, j) + 8);
        const step = Math.round(9 * fade * Math.max(-1, Math.min(1, mode === "difference" ? 4 * v : 2 * (v - 0.5))));
        cell.className = `${step < 0 ? "n" : "p"}${Math.abs(step)}`;
        cell.textContent = text(i, j);
      }));
    };
    const detail = (i, j) => {
      const line = find("cell");
      if (i === j || !games(i, j)) { line.textContent = "These two never met."; return; }
      const more = model && model.link !== "threshold" && items[i] !== null && items[j] !== null ? ` Expected: ${(100 * expected(i, j)).toFixed(0)} %.` : "";
      line.textContent = `\u2068${names[i]}\u2069 against \u2068${names[j]}\u2069: ${+wins[i][j].toFixed(2)} won, ${+ties[i][j].toFixed(2)} tied, ${+wins[j][i].toFixed(2)} lost: ${(100 * observed(i, j)).toFixed(0)} % of the points.${more}`;
    };
    find("cell").hidden = false;
    let focused = null;
    lines.forEach((line, i) => {
      const button = make("button", { type: "button" }, ...line.cells[0].childNodes);
      line.cells[0].append(button);
      button.addEventListener("click", () => pin(state.pinned === whole[i] ? null : whole[i]));
      [...line.cells].slice(1).forEach((cell, j) => {
        cell.tabIndex = i + j === 0 ? 0 : -1;
        if (i + j === 0) focused = cell;
        cell.addEventListener("mouseenter", () => detail(i, j));
        cell.addEventListener("focus", () => { focused.tabIndex = -1; focused = cell; cell.tabIndex = 0; detail(i, j); });
      });
    });
    versus.tBodies[0].addEventListener("keydown", (event) => {
      const cell = event.target.closest("td");
      const move = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
      if (!cell || !move) return;
      const line = versus.tBodies[0].rows[cell.parentElement.sectionRowIndex + move[0]];
      const next = line && line.cells[cell.cellIndex + move[1]];
      if (next && next.tagName === "TD") { event.preventDefault(); next.focus(); }
    });
    heads.forEach((head, j) => {
      const button = make("button", { type: "button" }, ...head.firstElementChild.childNodes);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        sortedBy = sortedBy === j ? null : j;
        heads.forEach((one, k) => one.classList.toggle("sorted", k === sortedBy));
        const order = [...Array(n).keys()];
        const key = (i) => (Number.isNaN(value(i, j)) ? -Infinity : value(i, j));
        if (sortedBy !== null) order.sort((a, b) => key(b) - key(a) || a - b);
        versus.tBodies[0].replaceChildren(...order.map((i) => lines[i]));
      });
    });
    listeners.push((name) => {
      const i = whole.indexOf(name);
      lines.forEach((line, k) => line.classList.toggle("pinned", k === i));
    });
    if (find("modes")) {
      find("modes").hidden = false;
      choose(find("modes"), [["observed", "Observed"], ["expected", "Expected by the model"], ["difference", "Difference"]], (key) => { mode = key; paint(); });
    }
    if (board) showPinned();
  }

  // ---- lines over time that are grey until asked for
  all(".chips button").forEach((button) => button.addEventListener("click", () => {
    const asked = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(asked));
    all(`path[data-line="${button.dataset.line}"]`).forEach((line) => {
      line.classList.toggle("asked", asked);
      if (asked) line.parentElement.append(line);
    });
  }));
})();
