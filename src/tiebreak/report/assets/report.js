// SPDX-License-Identifier: BSD-3-Clause
"use strict";
// Sorting, searching and comparing. Names are only ever written as text.
(() => {
  const find = (id) => document.getElementById(id);

  const board = find("board");
  if (board) {
    const heads = [...board.tHead.rows[0].cells];
    const body = board.tBodies[0];
    const rows = [...body.rows];
    const byName = new Intl.Collator(undefined, { numeric: true });

    const text = (row, column) => row.cells[column].textContent;
    const number = (row, column) => {
      const value = row.cells[column].dataset.v;
      return value === undefined ? NaN : Number(value);
    };

    const sort = (column) => {
      const head = heads[column];
      const isText = head.dataset.kind === "text";
      const now = head.getAttribute("aria-sort");
      // Names and ranks start from the first, numbers of merit from the largest.
      const upFirst = isText || column === 0 || head.textContent.includes("rank");
      const up = now === "none" ? upFirst : now === "descending";
      const sign = up ? 1 : -1;
      rows.sort((a, b) => {
        if (isText) return sign * byName.compare(text(a, column), text(b, column));
        const [x, y] = [number(a, column), number(b, column)];
        // What has no number comes last in both directions.
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
        return x === y ? 0 : sign * (x < y ? -1 : 1);
      });
      body.append(...rows);
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
    };
    heads.forEach((head, column) =>
      head.querySelector("button").addEventListener("click", () => sort(column)));

    const search = find("search");
    search.closest("[hidden]").hidden = false;
    const names = new Map(rows.map((row) => {
      const name = row.cells[1].querySelector("bdi");
      return [row, (name.title || name.textContent).toLocaleLowerCase()];
    }));
    search.addEventListener("input", () => {
      const wanted = search.value.trim().toLocaleLowerCase();
      let count = 0;
      for (const row of rows) {
        row.hidden = !names.get(row).includes(wanted);
        count += !row.hidden;
      }
      find("found").textContent = wanted ? `${count} of ${rows.length} items` : "";
    });
  }

  const block = find("strengths");
  if (block) {
    const model = JSON.parse(block.textContent);
    const places = new Map(model.names.map((name, i) => [name, i]));
    for (const name of model.names) {
      const option = document.createElement("option");
      option.value = name;
      find("names").append(option);
    }
    // What right is ahead by; less where strengths are little known.
    const difference = (i, j, edge) => {
      const d = model.strengths[j] - model.strengths[i] - edge;
      return model.doubts ? d / Math.sqrt(1 + model.doubts[i] + model.doubts[j]) : d;
    };
    const logistic = (x) => 1 / (1 + Math.exp(-x));

    // Probabilities of left, tie and right for d = right - left.
    const probabilities = (d) => {
      if (model.tie === null) return [0, 1, 0];
      if (model.link === "threshold") {
        return [Number(d < -model.tie), Number(Math.abs(d) <= model.tie), Number(d > model.tie)];
      }
      if (model.link === "cumulative") {
        const t = Math.log(model.tie);
        const [left, right] = [logistic(-d - t), logistic(d - t)];
        return [left, Math.max(0, 1 - left - right), right];
      }
      const logits = [-d / 2, Math.log(model.tie), d / 2];
      const top = Math.max(...logits);
      const odds = logits.map((x) => Math.exp(x - top));
      const sum = odds[0] + odds[1] + odds[2];
      return odds.map((x) => x / sum);
    };

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
        const wrong = i === undefined ? left : right;
        verdict.textContent = i !== undefined && i === j
          ? "Choose two different items."
          : `Choose an item from the list: there is no ${named(wrong)}.`;
        return;
      }
      const edge = advantage && advantage.checked ? model.advantage : 0;
      const chances = probabilities(difference(i, j, edge));
      const likely = chances.indexOf(Math.max(...chances));
      verdict.textContent = likely === 1
        ? `A tie between ${named(left)} and ${named(right)} is the most likely outcome.`
        : `${named(likely ? right : left)} is more likely to win.`;
      if (model.link === "threshold") {
        verdict.textContent = likely === 1
          ? `${named(left)} and ${named(right)} are too close to call: a tie.`
          : `${named(likely ? right : left)} is better.`;
        return;
      }
      const labels = [`${named(left)} wins`, "Tie", `${named(right)} wins`];
      let start = 0;
      [...find("odds").children].forEach((part, k) => {
        part.setAttribute("x", 300 * start);
        part.setAttribute("width", 300 * chances[k]);
        start += chances[k];
      });
      labels.forEach((label, k) => {
        const line = document.createElement("div");
        const value = document.createElement("strong");
        value.textContent = `${(100 * chances[k]).toFixed(1)} %`;
        const words = document.createElement("span");
        words.textContent = label;
        line.append(value, words);
        find("chances").append(line);
      });
    };

    [left.value, right.value] = model.names;
    for (const input of [left, right, advantage]) {
      if (input) input.addEventListener("input", show);
    }
    for (const input of [left, right]) {
      // A full field hides all other names in the list of suggestions.
      input.addEventListener("focus", () => input.select());
    }
    find("comparer").hidden = false;
    show();
  }
})();
