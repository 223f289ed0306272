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
    const drawn = ["svg", "path", "use", "text", "rect", "circle"].includes(tag);
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

  // ---- parts of the page, which a phone shows closed
  const parts = all("details.part");
  const unfold = () => {
    const part = location.hash.length > 1 && !location.hash.includes("=") && find(location.hash.slice(1));
    if (part && part.matches("section")) { part.querySelector(".part").open = true; part.scrollIntoView(); }
  };
  if (window.matchMedia("(max-width: 40rem)").matches) parts.forEach((part) => { part.open = false; });
  window.addEventListener("hashchange", unfold);
  all("nav a, .distrust a").forEach((link) => link.addEventListener("click", () => setTimeout(unfold)));
  unfold();

  // ---- the boards: that of all results, and those of categories
  const number = (text) => {
    const value = text.replaceAll(",", "").replace("−", "-").replace("∞", "Infinity");
    return value === "–" || value === "" ? NaN : Number(value);
  };
  const read = (table, groups) => {
    const keys = [...table.tHead.rows[0].cells].map((head) => head.dataset.key);
    return [...table.tBodies[0].rows].map((row, place) => {
      const text = {};
      keys.forEach((key, k) => { if (key) { text[key] = row.cells[k].textContent.trim(); row.cells[k].dataset.key = key; } });
      const name = row.cells[1].querySelector("bdi");
      const [lower, upper] = (text.interval || "–").split(" to ").map(number);
      const [best, worst = best] = (text.ranks || "–").split("–").map(number);
      return {
        row, place, text, name: name.title || name.textContent, low: (name.title || name.textContent).toLocaleLowerCase(),
        provisional: row.classList.contains("provisional"), letters: new Set(((groups && groups[place]) || "").split(" ").filter(Boolean)),
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
  const state = { board: "", sort: "rank", up: true, query: "", pinned: null, limit: data.page };
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

  // ---- pictures: round numbers, and the axis of ratings with their intervals, as the page was drawn
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
    const margin = best > worst ? best - worst : Infinity;
    const low = Math.max(Math.min(worst, ...of("lower")), worst - margin);
    const high = Math.min(Math.max(best, ...of("upper")), best + margin);
    const pad = 0.02 * (high - low) || 0.5;
    return [low - pad, high + pad];
  };
  let axis = [0, 1];
  const place = (value) => Math.round(10 * Math.min(1000, Math.max(0, 1000 * (value - axis[0]) / (axis[1] - axis[0])))) / 10;
  const drawAxis = (items) => {
    axis = range(items);
    const [values, digits] = ticks(...axis);
    find("grid").replaceChildren(...values.map((value) => make("path", { class: "grid", d: `M${place(value)} 0V20` })));
    board.querySelector(".axis").replaceChildren(...values.map((value) =>
      make("text", { x: `${place(value) / 10}%`, y: 14 }, value.toFixed(digits).replace("-", "−"))));
    find("open")?.toggleAttribute("hidden", !items.some((item) => item.lower < axis[0] || item.upper > axis[1]));
  };
  const picture = (item) => {
    const x = place(item.rating);
    const svg = make("svg", { class: "track", viewBox: "0 0 1000 20", preserveAspectRatio: "none", "aria-hidden": "true" }, make("use", { href: "#grid" }));
    if (!Number.isNaN(item.lower)) svg.append(make("path", { class: "iv", d: `M${place(item.lower)} 10H${place(item.upper)}` }));
    if (item.lower < axis[0]) svg.append(make("path", { class: "open", d: "M12 4L0 10L12 16" }));
    if (item.upper > axis[1]) svg.append(make("path", { class: "open", d: "M988 4L1000 10L988 16" }));
    svg.append(make("path", { class: "dot", d: `M${x} 10h0` }));
    return svg;
  };

  // ---- the table: the rows of the page, put in order; of many only the first
  const body = board && board.tBodies[0];
  const dress = (item) => {
    if (!item.dressed) {
      item.dressed = true;
      const name = item.row.cells[1];
      item.link = make("a", { href: `#item=${encodeURIComponent(item.name)}`, "aria-expanded": "false" }, name.querySelector("bdi"));
      name.prepend(...all("img", name), item.link);
      item.row.addEventListener("click", (event) => { event.preventDefault(); pin(state.pinned === item.name ? null : item.name); });
    }
    const cell = item.row.querySelector(".picture") || item.row.insertCell(2);
    cell.className = "picture";
    cell.replaceChildren(picture(item));
  };
  let list = [];
  let details = null;
  const draw = () => {
    list = listed();
    // The pinned item is shown, however far below it stands.
    const shown = list.filter((item, k) => k < state.limit || item.name === state.pinned);
    drawAxis(boards.get(state.board).slice(0, Math.max(data.page, shown.length)).concat(list.length > state.limit ? [] : shown));
    shown.forEach(dress);
    details?.remove();
    body.replaceChildren(...shown.map((item) => item.row));
    shown.forEach((item, k) => { item.link.tabIndex = k ? -1 : 0; });
    const more = find("more");
    more.hidden = list.length <= shown.length;
    more.querySelector("output").textContent = `${shown.length.toLocaleString("en")} of ${list.length.toLocaleString("en")} rows.`;
    for (const head of all("[data-key]", board.tHead)) {
      const mine = head.dataset.key === state.sort;
      head.setAttribute("aria-sort", mine ? (state.up ? "ascending" : "descending") : "none");
    }
    const total = boards.get(state.board).length;
    find("found").textContent = state.query.trim() ? `${list.length.toLocaleString("en")} of ${total.toLocaleString("en")} ${data.nouns.items}` : "";
    showPinned();
  };

  // ---- the pinned item, with its details
  const say = (item, same) => {
    const parts = [`Rating ${item.text.rating}`];
    if (!Number.isNaN(item.lower)) parts[0] += ` (${item.text.interval}, with ${percent} confidence)`;
    parts.push(`rank ${item.text.rank}${item.text.ranks ? `, could be ${item.text.ranks}` : ""}`);
    if (item.text.group) parts.push(`group ${[...item.letters].join(" ")}`);
    if (item.text.votes) parts.push(`${item.text.votes} ${data.nouns.votes}: ${item.text.wins} won, ${item.text.ties} tied, ${item.text.losses} lost`);
    if (item.provisional) parts.push("provisional: few results");
    const told = item.letters.size ? ` ${same ? `${same} other${same > 1 ? "s" : ""} cannot be told apart from it (faded).` : "It can be told apart from all others."} All are compared at once, with ${percent} confidence.` : "";
    return `${parts.join("; ")}.${told}`;
  };
  const showPinned = () => {
    const rows = boards.get(state.board) || [];
    const item = rows.find((one) => one.name === state.pinned);
    details?.remove();
    rows.forEach((one) => {
      if (!one.dressed) return;
      one.row.classList.toggle("pinned", one === item);
      one.row.classList.toggle("faded", Boolean(item) && one !== item && together(one, item));
      one.link.setAttribute("aria-expanded", String(one === item));
    });
    if (item && item.row.isConnected && body.contains(item.row)) {
      const same = rows.filter((one) => one !== item && together(one, item)).length;
      const close = make("button", { type: "button" }, "Unpin");
      close.addEventListener("click", () => pin(null));
      const text = make("p", { id: "pinned", "aria-live": "polite" }, make("b", {}, make("bdi", {}, item.name)), ` ${say(item, same)} `, close);
      details = make("tr", { class: "details" }, make("td", { colspan: item.row.cells.length }, text));
      item.row.after(details);
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
    draw();
    list[place].row.scrollIntoView({ block: "center" });
  };

  if (board) {
    const sorted = (key) => {
      const upFirst = ["rank", "item", "group", "ranks"].includes(key);
      [state.up, state.sort] = [state.sort === key ? !state.up : upFirst, key];
      draw();
    };
    for (const head of all("[data-key]", board.tHead)) {
      const button = make("button", { type: "button" }, head.textContent);
      head.replaceChildren(button);
      button.addEventListener("click", () => sorted(head.dataset.key));
    }
    if (boards.size > 1) {
      const [facts, sentence] = [document.querySelector(".kicker"), document.querySelector(".standfirst")];
      const whole = [sentence.textContent, facts.textContent];
      choose(find("switch"), [["", "All"], ...[...boards.keys()].slice(1).map((name) => [name, name])], (name) => {
        state.board = name;
        const [best, count] = name === "" ? whole : data.headlines[name];
        sentence.firstElementChild.replaceChildren(...(name ? [make("b", {}, make("bdi", {}, name)), ": "] : []), best);
        facts.textContent = count;
        draw();
      });
      all("details[data-category]").forEach((part) => { part.querySelector(".scroll").hidden = true; if (!part.querySelector("p")) part.hidden = true; });
    }
    find("search").addEventListener("input", (event) => { state.query = event.target.value; draw(); });
    all("[data-more]").forEach((button) => button.addEventListener("click", () => {
      state.limit = button.dataset.more === "all" ? Infinity : state.limit + Number(button.dataset.more);
      draw();
    }));
    body.addEventListener("keydown", (event) => {
      const links = all("th a", body);
      const now = links.indexOf(document.activeElement);
      const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: links.length - 1 }[event.key];
      if (event.key === "Escape") pin(null);
      if (to === undefined || !links[to]) return;
      event.preventDefault();
      links.forEach((link, k) => { link.tabIndex = k === to ? 0 : -1; });
      links[to].focus();
    });
    window.addEventListener("hashchange", follow);
    draw();
    follow();
  }
  window.addEventListener("beforeprint", () => {
    Object.assign(state, { kept: state.limit, limit: Infinity, closed: parts.filter((part) => !part.open) });
    state.closed.forEach((part) => { part.open = true; });
    if (board) draw();
  });
  window.addEventListener("afterprint", () => {
    state.limit = state.kept;
    state.closed.forEach((part) => { part.open = false; });
    if (board) draw();
  });

  // ---- charts as SVG: each text, shape and colored box, where it stands on the page
  const numbers = (value) => Math.round(100 * value) / 100;
  const path = (shape, at) => {
    let [x, y, command] = [0, 0, ""];
    const tokens = shape.getAttribute("d").match(/[A-Za-z]|-?[\d.]+(?:e-?\d+)?/g) || [];
    const flat = [];
    for (let k = 0; k < tokens.length;) {
      if (/[A-Za-z]/.test(tokens[k])) { command = tokens[k]; k += 1; }
      if (command === "Z") { flat.push("Z"); command = ""; continue; }
      const next = () => { k += 1; return Number(tokens[k - 1]); };
      const [fromX, fromY] = command === command.toLowerCase() ? [x, y] : [0, 0];
      if ("Hh".includes(command)) x = fromX + next();
      else if ("Vv".includes(command)) y = fromY + next();
      else [x, y] = [fromX + next(), fromY + next()];
      flat.push(`${command === "M" ? "M" : "L"}${at(x, y).join(" ")}`);
    }
    return flat.join("");
  };
  const chartSvg = (chart) => {
    const frame = chart.getBoundingClientRect();
    const whole = chart.querySelector(".scroll") || chart;
    const out = [];
    const put = (tag, attributes, ...children) => out.push(make(tag, attributes, ...children));
    const color = (value) => (/rgba\(.*, 0\)$|transparent|none/.test(value) ? null : value);
    const write = (text, left, base, style) => put("text", {
      x: numbers(left), y: numbers(base), fill: style.color,
      "font-family": "sans-serif", "font-size": style.fontSize, "font-weight": style.fontWeight === "400" ? null : style.fontWeight,
    }, text);
    const walk = (node) => {
      if (node.nodeType === Node.TEXT_NODE) {
        const selection = document.createRange();
        selection.selectNodeContents(node);
        // A text of several lines is written word by word.
        const words = selection.getClientRects().length > 1 ? /\S+/g : /\S.*\S|\S/gs;
        for (const word of node.data.matchAll(words)) {
          selection.setStart(node, word.index);
          selection.setEnd(node, word.index + word[0].length);
          const box = selection.getBoundingClientRect();
          if (box.width) write(word[0], box.left - frame.left, box.bottom - frame.top - 0.24 * box.height, getComputedStyle(node.parentElement));
        }
        return;
      }
      if (node.nodeType !== Node.ELEMENT_NODE || !node.checkVisibility() || node.matches("figcaption, button.svg, .pager, .defs, .details, img")) return;
      const style = getComputedStyle(node);
      const box = node.getBoundingClientRect();
      if (node.tagName === "svg" || node.ownerSVGElement) {
        const matrix = node.getScreenCTM();
        const at = (x, y) => [numbers(matrix.a * x + matrix.c * y + matrix.e - frame.left), numbers(matrix.b * x + matrix.d * y + matrix.f - frame.top)];
        const paint = {
          fill: color(style.fill) || "none", stroke: color(style.stroke), "stroke-width": parseFloat(style.strokeWidth), "stroke-linecap": style.strokeLinecap,
          "stroke-dasharray": style.strokeDasharray === "none" ? null : style.strokeDasharray, opacity: style.opacity === "1" ? null : style.opacity, "fill-opacity": style.fillOpacity === "1" ? null : style.fillOpacity,
        };
        if (node.tagName === "path") put("path", { d: path(node, at), ...paint });
        else if (node.tagName === "line") put("path", { d: `M${numbers(box.left - frame.left)} ${numbers(box.top - frame.top)}L${numbers(box.right - frame.left)} ${numbers(box.bottom - frame.top)}`, ...paint });
        else if (node.tagName === "circle") put("circle", { cx: numbers(box.left + box.width / 2 - frame.left), cy: numbers(box.top + box.height / 2 - frame.top), r: numbers(box.width / 2), ...paint });
        else if (node.tagName === "use") {
          const from = node.ownerSVGElement.getScreenCTM();
          for (const shape of all("path", find(node.getAttribute("href").slice(1)))) {
            const [, x] = /M([\d.]+)/.exec(shape.getAttribute("d"));
            const left = numbers(from.a * Number(x) + from.e - frame.left);
            put("path", { d: `M${left} ${numbers(from.f - frame.top)}v${numbers(20 * from.d)}`, stroke: getComputedStyle(shape).stroke });
          }
        } else if (node.tagName === "text") {
          const start = node.getStartPositionOfChar(0);
          const [left, base] = at(start.x, start.y);
          out.push(make("text", { x: left, y: base, fill: color(style.fill) || style.color, "font-family": "sans-serif", "font-size": numbers(parseFloat(style.fontSize) * matrix.a), "font-weight": style.fontWeight === "400" ? null : style.fontWeight },
            all("tspan", node).find((part) => part.checkVisibility())?.textContent || node.textContent));
        } else node.childNodes.forEach(walk);
        return;
      }
      if (color(style.backgroundColor)) put("rect", { x: numbers(box.left - frame.left), y: numbers(box.top - frame.top), width: numbers(box.width), height: numbers(box.height), fill: style.backgroundColor });
      node.childNodes.forEach(walk);
    };
    walk(chart);
    const ground = getComputedStyle(document.body);
    const width = Math.ceil(Math.max(frame.width, whole.scrollWidth)) + 16;
    const height = Math.ceil(chart.lastElementChild.matches("figcaption") ? chart.lastElementChild.getBoundingClientRect().top - frame.top : frame.height) + 28;
    put("text", { x: 0, y: height - 20, fill: ground.color, "font-family": "sans-serif", "font-size": 11 }, data.source);
    const svg = make("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `-8 -8 ${width} ${height}`, width, height },
      make("rect", { x: -8, y: -8, width, height, fill: ground.backgroundColor }), ...out);
    return new XMLSerializer().serializeToString(svg);
  };
  for (const chart of all("[data-chart]")) {
    const button = make("button", { type: "button", class: "svg", "aria-label": `Save the chart ${chart.dataset.chart} as SVG` }, "SVG");
    button.addEventListener("click", () => {
      const link = make("a", { download: `${chart.dataset.chart}.svg` });
      link.href = URL.createObjectURL(new Blob([chartSvg(chart)], { type: "image/svg+xml" }));
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    });
    (chart.querySelector("figcaption") || chart).append(" ", button);
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
    const columns = all("[data-key]", board.tHead);
    const [keys, heads] = [columns.map((head) => head.dataset.key), columns.map((head) => head.textContent.trim())];
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
      if (model && model.strengths[i] === null) return;
      const short = item.row.cells[1].querySelector("bdi").textContent;
      let name = short;
      for (let k = 2; places.has(name); k += 1) name = `${short} (${k})`;
      places.set(name, i);
    });
    find("names").append(...[...places.keys()].map((value) => make("option", { value })));
    const [left, right, advantage] = [find("left"), find("right"), find("advantage")];
    // Names are isolated, so that one written from right to left leaves the rest alone.
    const named = (input) => `\u2068${input.value}\u2069`;
    const points = (x) => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(Math.abs(x) < 10 ? 1 : 0)}`;
    // What `tiebreak versus` says of the two, from the same function.
    const between = (i, j) => {
      const row = (data.versus || []).find(([a, b]) => (a === i && b === j) || (a === j && b === i));
      if (!row) return data.versus ? `tiebreak versus says how sure that is; the report has it of the first ${data.compared}.` : "";
      const [first, , gap, lower, upper, probability, p, won, tied, lost] = row;
      if (gap === null) return "They never meet, not even through others.";
      const turned = first === j;
      const [d, low, high, share] = turned ? [-gap, -upper, -lower, 1 - probability] : [gap, lower, upper, probability];
      const sure = p < 1 - data.level;
      const verdict = sure ? `${named(d > 0 ? left : right)} is better than ${named(d > 0 ? right : left)}` : `The results do not separate ${named(left)} from ${named(right)}`;
      const record = won === undefined ? "" : won + tied + lost ? ` They met ${+(won + tied + lost).toFixed(1)} times: ${named(left)} won ${+(turned ? lost : won).toFixed(1)}, tied ${+tied.toFixed(1)}, lost ${+(turned ? won : lost).toFixed(1)}.` : " They never met directly.";
      return `${verdict} (p ${p < 1e-4 ? "< .0001" : `= ${p.toFixed(4).replace(/^0/, "")}`}): ${points(d)} points, ${percent} interval ${points(low)} to ${points(high)}; ${named(left)} is better with probability ${(100 * share).toFixed(1)} %.${record}`;
    };
    const show = () => {
      const [i, j] = [places.get(left.value), places.get(right.value)];
      const verdict = find("verdict");
      const good = i !== undefined && j !== undefined && i !== j;
      find("odds").toggleAttribute("hidden", !good || !model || model.link === "threshold");
      find("between").textContent = good ? between(i, j) : "";
      find("chances").replaceChildren();
      if (!good) {
        verdict.textContent = i !== undefined && i === j ? "Choose two different items."
          : `Choose from the list: there is no ${named(i === undefined ? left : right)}.`;
        return;
      }
      verdict.textContent = "";
      if (!model) return;
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
