"use strict";

// Everything that is shown as text: numbers, tables, and what does not fit.
const tables = (() => {
  const { chosen, models, settings } = state;
  const byId = (id) => document.getElementById(id);

  function element(tag, text, className) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function valueCell(cell, { value, bounds, clipped }) {
    cell.replaceChildren(element("span", format.number(value), "value"));
    if (clipped) {
      const sign = element("span", "†", "clipped");
      sign.title = "clipped to the range of the measure";
      cell.append(sign);
    }
    // Where value and limits are all clipped, the limits say nothing.
    if (bounds && !(clipped && bounds[0] === bounds[1])) cell.append(" ", element("small", format.span(...bounds)));
  }

  // ------------------------------------------------------------------ one model

  const HEADLINE = ["roc_auc", "average_precision", "f1", "matthews_corrcoef"];

  function showHeadline(now, naive) {
    byId("headline").replaceChildren(
      ...HEADLINE.map((name) => {
        const entry = element("div");
        const value = element("dd");
        valueCell(value, now.measures[name]);
        value.append(
          element("small", `naive ${format.number(naive.measures[name].value)}`, "naive"),
        );
        value.dataset.measure = name;
        entry.append(element("dt", state.measureOf(name).title), value);
        return entry;
      }),
    );
  }

  const CELLS = [
    ["Positive", ["truePositive", "falseNegative"]],
    ["Negative", ["falsePositive", "trueNegative"]],
  ];

  function showContingency(id, rate, ends) {
    const table = byId(id);
    const cells = correction.contingency(rate, rate.size);
    const range = ends?.map((end) => correction.contingency(end, end.size));
    const header = (text, scope) => {
      const made = element("th", text);
      made.scope = scope;
      return made;
    };
    const head = element("thead");
    head.append(element("tr"));
    head.rows[0].append(
      element("td"),
      header("Predicted positive", "col"),
      header("Predicted negative", "col"),
    );
    const body = element("tbody");
    for (const [title, names] of CELLS) {
      const row = element("tr");
      row.append(header(title, "row"));
      for (const name of names) {
        const right = name.startsWith("true");
        const cell = element("td", format.amount(cells[name]), right ? "right" : "wrong");
        cell.dataset.cell = name;
        cell.dataset.value = cells[name];
        cell.classList.toggle("impossible", cells[name] < -0.05);
        if (range) {
          const [low, high] = range.map((end) => end[name]).sort((a, b) => a - b);
          cell.append(" ", element("small", `${format.amount(low)}–${format.amount(high)}`));
        }
        row.append(cell);
      }
      body.append(row);
    }
    table.replaceChildren(table.caption, head, body);
  }

  function showMeasures(now, naive) {
    for (const part of document.querySelectorAll(".model-measures")) {
      part.hidden = Number(part.dataset.model) !== chosen.model;
      if (part.hidden) continue;
      for (const row of part.querySelectorAll("tr[data-measure]")) {
        const name = row.dataset.measure;
        const [plain, corrected] = row.querySelectorAll("td.live");
        plain.textContent = format.number(naive.measures[name].value);
        valueCell(corrected, now.measures[name]);
        corrected.dataset.value = now.measures[name].value;
      }
    }
  }

  function showStatus(model, now) {
    const said = [];
    if (!state.fits(model, settings(model).mixture)) {
      said.push("Prior and purity do not fit the data: labeled and unlabeled rows differ too much.");
    }
    const clipped = Object.values(now.measures).filter((one) => one.clipped).length;
    if (clipped === 1) said.push("† One measure lies outside its possible range and is clipped.");
    if (clipped > 1) {
      said.push(`† ${clipped} measures lie outside their possible range and are clipped.`);
    }
    const text = said.join(" ");
    // Said again only if it has changed, for those who hear it.
    if (byId("status").textContent !== text) byId("status").textContent = text;
  }

  // ------------------------------------------------------------------ several models

  const order = { key: null, down: true };

  function sortKey({ model, now }) {
    if (order.key === "name") return model.name;
    if (order.key === "naive") return model.measures.roc_auc.naive;
    const { value } = now[order.key];
    return Number.isNaN(value) ? -Infinity : value;
  }

  function compare(a, b) {
    const [x, y] = [sortKey(a), sortKey(b)];
    const ascending = typeof x === "string" ? x.localeCompare(y) : x - y;
    return order.down ? -ascending : ascending;
  }

  function showModels() {
    const table = byId("models");
    if (!table) return;
    const rows = new Map([...table.tBodies[0].rows].map((row) => [Number(row.dataset.model), row]));
    const shown = models.map((model) => ({
      model,
      now: state.evaluate(model, { ...settings(model), bias: 1 }).measures,
    }));
    for (const { model, now } of shown) {
      const row = rows.get(model.index);
      row.classList.toggle("chosen", model.index === chosen.model);
      row.querySelector("button").setAttribute("aria-pressed", model.index === chosen.model);
      for (const cell of row.querySelectorAll("td[data-key]")) {
        // Limits belong to what was evaluated.
        const { low, high } = model.measures[cell.dataset.key];
        const bounds = state.moved(model) || low === null ? undefined : [low, high];
        valueCell(cell, { ...now[cell.dataset.key], bounds });
      }
    }
    if (order.key === null) return;
    shown.sort(compare);
    table.tBodies[0].append(...shown.map(({ model }) => rows.get(model.index)));
  }

  function button(className, ...content) {
    const made = element("button", undefined, className);
    made.type = "button";
    made.append(...content);
    return made;
  }

  // Make rows choose their model, and columns sort.
  function prepareModels(choose) {
    const table = byId("models");
    if (!table) return;
    for (const row of table.tBodies[0].rows) {
      const name = row.querySelector("bdi");
      const made = button("plain");
      name.replaceWith(made);
      made.append(name);
      made.addEventListener("click", () => choose(Number(row.dataset.model)));
    }
    const headers = [...table.tHead.rows[0].cells];
    for (const header of headers) {
      const { key } = header.dataset;
      const made = button("plain sort", header.textContent);
      header.replaceChildren(made);
      made.addEventListener("click", () => {
        order.down = order.key === key ? !order.down : key !== "name";
        order.key = key;
        for (const other of headers) other.removeAttribute("aria-sort");
        header.setAttribute("aria-sort", order.down ? "descending" : "ascending");
        showModels();
      });
    }
  }

  // Make chosen thresholds move the slider.
  function prepareChosen(move) {
    for (const row of byId("chosen")?.tBodies[0].rows ?? []) {
      const cell = row.querySelector(".threshold");
      const made = button("plain", cell.textContent);
      cell.replaceChildren(made);
      const [model, threshold] = [row.dataset.model, row.dataset.threshold].map(Number);
      made.addEventListener("click", () => move(model, threshold));
    }
  }

  return {
    prepareChosen,
    prepareModels,
    showContingency,
    showHeadline,
    showMeasures,
    showModels,
    showStatus,
  };
})();
