"use strict";

// Numbers, tables and the status line.
const tables = (() => {
  const { chosen, models, settings } = state;
  const byId = (id) => document.getElementById(id);

  function element(tag, text, className) {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (className) node.className = className;
    return node;
  }

  // Show a value with its confidence interval, or its bounds under labeling bias.
  function fillCell(cell, { value, interval, bounds, clipped }) {
    cell.replaceChildren(element("span", format.number(value), "value"));
    if (clipped) {
      const mark = element("span", "†", "clipped");
      mark.title = "clipped to the range of the measure";
      cell.append(mark);
    }
    const range = bounds ?? interval;
    // A range that clipping reduced to a point is not informative.
    if (range && !(clipped && range[0] === range[1])) {
      cell.append(" ", element("small", format.span(...range)));
    }
  }

  // ------------------------------------------------------------------ one model

  const HEADLINE = ["roc_auc", "average_precision", "f1", "matthews_corrcoef"];

  function showHeadline(model, corrected, naive) {
    const { short } = state.rangeKind(model);
    const feasible = state.isFeasible(model, settings(model).mixture);
    byId("headline").replaceChildren(
      ...HEADLINE.map((name) => {
        const entry = element("div");
        const value = element("dd");
        fillCell(value, corrected.measures[name]);
        if (short) value.append(element("small", short, "no-interval"));
        if (!feasible) {
          entry.className = "impossible";
          value.append(element("small", "impossible: the data rule this out", "ruled-out"));
        }
        value.append(
          element("small", `naive ${format.number(naive.measures[name].value)}`, "naive"),
        );
        value.dataset.measure = name;
        entry.append(element("dt", state.findMeasure(name).title), value);
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
      const cell = element("th", text);
      cell.scope = scope;
      return cell;
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
        const cell = element("td", format.count(cells[name]), right ? "right" : "wrong");
        cell.dataset.cell = name;
        cell.dataset.value = cells[name];
        cell.classList.toggle("impossible", cells[name] < -0.05);
        if (range) {
          const [low, high] = range.map((end) => end[name]).sort((a, b) => a - b);
          cell.append(" ", element("small", `${format.count(low)}–${format.count(high)}`));
        }
        row.append(cell);
      }
      body.append(row);
    }
    table.replaceChildren(table.caption, head, body);
  }

  function showMeasures(model, corrected, naive) {
    const { column, long } = state.rangeKind(model);
    byId("interval-note").textContent = long;
    for (const part of document.querySelectorAll(".model-measures")) {
      part.hidden = Number(part.dataset.model) !== chosen.model;
      if (part.hidden) continue;
      part.querySelector(".range-kind").textContent = column;
      for (const row of part.querySelectorAll("tr[data-measure]")) {
        const name = row.dataset.measure;
        const [naiveCell, correctedCell] = row.querySelectorAll("td.live");
        naiveCell.textContent = format.number(naive.measures[name].value);
        fillCell(correctedCell, corrected.measures[name]);
        correctedCell.dataset.value = corrected.measures[name].value;
      }
    }
  }

  function showStatus(model, corrected) {
    const messages = [];
    if (!state.isFeasible(model, settings(model).mixture)) {
      messages.push("The data rule out this combination of prior and purity.");
    }
    const clipped = Object.values(corrected.measures).filter((result) => result.clipped).length;
    if (clipped === 1) messages.push("† One measure was outside its range and is clipped.");
    if (clipped > 1) messages.push(`† ${clipped} measures were outside their range and are clipped.`);
    const text = messages.join(" ");
    // Screen readers announce every change, so leave unchanged text alone.
    if (byId("status").textContent !== text) byId("status").textContent = text;
  }

  // ------------------------------------------------------------------ several models

  const order = { key: null, descending: true };

  function sortKey({ model, measures }) {
    if (order.key === "name") return model.name;
    if (order.key === "naive") return model.measures.roc_auc.naive;
    const { value } = measures[order.key];
    return Number.isNaN(value) ? -Infinity : value;
  }

  function compare(a, b) {
    const [x, y] = [sortKey(a), sortKey(b)];
    const ascending = typeof x === "string" ? x.localeCompare(y) : x - y;
    return order.descending ? -ascending : ascending;
  }

  function showModels() {
    const table = byId("models");
    if (!table) return;
    const rows = new Map([...table.tBodies[0].rows].map((row) => [Number(row.dataset.model), row]));
    const entries = models.map((model) => ({
      model,
      measures: state.evaluate(model, { ...settings(model), bias: 1 }).measures,
    }));
    for (const { model, measures } of entries) {
      const row = rows.get(model.index);
      row.classList.toggle("chosen", model.index === chosen.model);
      row.querySelector("button").setAttribute("aria-pressed", model.index === chosen.model);
      for (const cell of row.querySelectorAll("td[data-key]")) {
        fillCell(cell, measures[cell.dataset.key]);
      }
    }
    if (order.key === null) return;
    entries.sort(compare);
    table.tBodies[0].append(...entries.map(({ model }) => rows.get(model.index)));
  }

  function button(className, ...content) {
    const node = element("button", undefined, className);
    node.type = "button";
    node.append(...content);
    return node;
  }

  // Clicking a row selects its model; clicking a column sorts by it.
  function prepareModels(selectModel) {
    const table = byId("models");
    if (!table) return;
    for (const row of table.tBodies[0].rows) {
      const name = row.querySelector("bdi");
      const selector = button("plain");
      name.replaceWith(selector);
      selector.append(name);
      selector.addEventListener("click", () => selectModel(Number(row.dataset.model)));
    }
    const headers = [...table.tHead.rows[0].cells];
    for (const header of headers) {
      const { key } = header.dataset;
      const sorter = button("plain sort", header.textContent);
      header.replaceChildren(sorter);
      sorter.addEventListener("click", () => {
        order.descending = order.key === key ? !order.descending : key !== "name";
        order.key = key;
        for (const other of headers) other.removeAttribute("aria-sort");
        header.setAttribute("aria-sort", order.descending ? "descending" : "ascending");
        showModels();
      });
    }
  }

  // Clicking a chosen threshold moves the slider to it.
  function prepareChosen(moveThreshold) {
    for (const row of byId("chosen")?.tBodies[0].rows ?? []) {
      const cell = row.querySelector(".threshold");
      const mover = button("plain", cell.textContent);
      cell.replaceChildren(mover);
      const [model, threshold] = [row.dataset.model, row.dataset.threshold].map(Number);
      mover.addEventListener("click", () => moveThreshold(model, threshold));
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
