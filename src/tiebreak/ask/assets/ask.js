// SPDX-License-Identifier: BSD-3-Clause
"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const csrf = document.querySelector("meta[name=csrf]").content;
  const answers = [...document.querySelectorAll("[data-outcome]")];
  const KEYS = { ArrowLeft: "left", ArrowDown: "tie", ArrowRight: "right", b: "both_bad", s: "skip" };
  const WAIT = 250; // ms after a new pair in which a second press is not meant for it
  let state = null, current = null, shownAt = 0, busy = false, ahead = null, early = 0;

  // The key was in the address; from now on the cookie has it.
  if (location.search) history.replaceState(null, "", "/");

  function notice(text, good = false) {
    const box = find("notice");
    box.textContent = text || "";
    box.hidden = !text;
    box.classList.toggle("good", good);
  }

  async function call(path, body) {
    for (let wait = 500; ; wait = Math.min(2 * wait, 8000)) {
      let response;
      try {
        response = await fetch(path, body && {
          method: "POST", body: JSON.stringify(body),
          headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
        });
        const reply = await response.json();
        if (response.ok) { notice(""); return reply; }
        throw new Error(reply.error || response.statusText);
      } catch (error) {
        if (response) throw error;
        // The server is away: the same answer is sent until it is acknowledged.
        notice("No connection to tiebreak ask. Your answer is kept here, and sent again…");
      }
      await new Promise((done) => setTimeout(done, wait));
    }
  }

  function fill(side, html) {
    const card = find(side);
    card.innerHTML = html;
    card.classList.remove("chosen", "tap");
    card.scrollTop = 0;
    const media = card.querySelector("img, audio, video");
    if (media) {
      // A picture is a button; what plays has its own.
      card.classList.toggle("tap", media.tagName === "IMG");
      media.addEventListener("error", () => {
        card.classList.remove("tap");
        card.innerHTML = "<p class='broken'>This item cannot be shown. Please skip.</p>";
      });
      if (media.alt) media.alt = `The item on the ${side}`;
    }
  }

  function show() {
    const question = state.questions[0];
    const none = !question;
    for (const id of ["cards", "buttons", "others"]) find(id).hidden = none && id !== "others";
    answers.forEach((button) => { button.disabled = none; });
    find("undo").disabled = state.last === null;
    progress();
    if (none) {
      find("prompt").hidden = true;
      notice("You have answered every pair. Thank you!", true);
      current = null;
      return;
    }
    if (current !== question.number) {
      current = question.number;
      fill("left", question.left);
      fill("right", question.right);
      find("prompt").innerHTML = question.prompt;
      find("prompt").hidden = !question.prompt;
      for (const card of [find("left"), find("right")]) { // the keyboard scrolls a long text
        card.tabIndex = card.scrollHeight > card.clientHeight ? 0 : -1;
      }
      shownAt = performance.now();
    }
    const next = state.questions[1];
    ahead = document.createElement("div"); // not in the page; what it holds is loaded
    ahead.innerHTML = next ? next.left + next.right : "";
  }

  function progress() {
    const p = state.progress, percent = Math.round(100 * p.share);
    find("done").style.width = `${percent}%`;
    find("track").setAttribute("aria-valuenow", percent);
    const own = state.done === p.answers ? "" : ` (${state.done} yours)`;
    find("progress").textContent = `${p.answers.toLocaleString("en")} answer${p.answers === 1 ? "" : "s"}${own} · ${p.words}`;
  }

  async function act(path, body) {
    if (busy) return;
    busy = true;
    document.body.setAttribute("aria-busy", "true");
    try {
      state = await call(path, body);
      show();
      if (!find("board").hidden) board();
    } catch (error) {
      notice(error.message);
      find("left").classList.remove("chosen");
      find("right").classList.remove("chosen");
    } finally {
      busy = false;
      document.body.removeAttribute("aria-busy");
    }
  }

  function answer(outcome) {
    const waited = performance.now() - shownAt;
    if (current === null) return;
    if (busy || waited < WAIT) { ignore(); return; }
    if (!answers.some((button) => button.dataset.outcome === outcome)) return;
    if (outcome !== "skip" && outcome !== "both_bad") {
      find("left").classList.toggle("chosen", outcome !== "right");
      find("right").classList.toggle("chosen", outcome !== "left");
    }
    act("/api/answer", { question: current, outcome, seconds: waited / 1000 });
  }

  // A press before anybody can have seen the pair is not its answer: say so.
  function ignore() {
    early += 1;
    const line = find("ignored");
    line.textContent = `Too early: ignored. Wait until you see the pair (${early} so far).`;
    line.classList.remove("flash");
    void line.offsetWidth; // so that it flashes again
    line.classList.add("flash");
  }

  function undo() {
    if (state && state.last !== null) act("/api/undo", { question: state.last });
  }

  async function board() {
    const found = await call("/api/board");
    const low = Math.min(...found.board.map((row) => row.lower));
    const high = Math.max(...found.board.map((row) => row.upper));
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const title of ["rank", "item", "rating", `${100 * state.progress.level} % interval`]) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = title;
      head.append(cell);
    }
    const body = table.createTBody();
    for (const row of found.board) {
      const line = body.insertRow();
      for (const value of [row.rank, row.item, Math.round(row.rating)]) {
        const cell = line.insertCell();
        if (value === row.item && row.picture) {
          const image = document.createElement("img");
          Object.assign(image, { src: row.picture, alt: "", loading: "lazy" });
          cell.append(image);
        }
        const text = document.createElement("bdi");
        text.textContent = value;
        cell.append(text);
        if (typeof value === "number") cell.className = "number";
      }
      const cell = line.insertCell(), ns = "http://www.w3.org/2000/svg";
      const svg = document.createElementNS(ns, "svg");
      svg.setAttribute("viewBox", "0 0 160 12");
      svg.setAttribute("width", "160");
      svg.setAttribute("height", "12");
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", `${Math.round(row.lower)} to ${Math.round(row.upper)}`);
      const x = (value) => 4 + 152 * (value - low) / (high - low || 1);
      const bar = document.createElementNS(ns, "line");
      for (const [name, value] of Object.entries({ x1: x(row.lower), x2: x(row.upper), y1: 6, y2: 6, stroke: "currentColor", "stroke-width": 1.5, opacity: 0.6 })) bar.setAttribute(name, value);
      const dot = document.createElementNS(ns, "circle");
      for (const [name, value] of Object.entries({ cx: x(row.rating), cy: 6, r: 3.5, fill: "currentColor" })) dot.setAttribute(name, value);
      svg.append(bar, dot);
      cell.append(svg);
    }
    find("board").replaceChildren(table);
  }

  for (const side of ["left", "right"]) {
    find(side).addEventListener("click", () => { if (find(side).classList.contains("tap")) answer(side); });
  }
  answers.forEach((button) => button.addEventListener("click", () => answer(button.dataset.outcome)));
  find("undo").addEventListener("click", undo);
  find("show").addEventListener("click", () => {
    const open = find("board").hidden;
    find("board").hidden = !open;
    find("show").setAttribute("aria-expanded", String(open));
    find("show").textContent = open ? "Hide the ranking" : "Show the ranking so far";
    if (open) board();
  });
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("audio, video, input")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "z" || key === "Backspace") undo();
    else if (KEYS[key]) answer(KEYS[key]);
    else return;
    event.preventDefault();
  });
  act("/api/state");
})();
