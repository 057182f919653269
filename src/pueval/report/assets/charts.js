"use strict";

// Draws data into figures, independently of the sliders: what all plots share, curves and estimates.
const charts = (() => {
  const { clip } = correction;

  const LAYOUT = {
    className: "chart",
    marginLeft: 48,
    marginBottom: 42,
    marginTop: 24,
    marginRight: 18,
  };

  // Put a plot into its figure. Remove the style element that Plot adds: the page's security policy
  // would block it, and the page's style sheet replaces it.
  function show(figure, { description, ...options }) {
    const container = figure.querySelector(".plot");
    const plot = Plot.plot({ ...LAYOUT, ...options });
    plot.querySelectorAll("style").forEach((style) => style.remove());
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", description);
    container.replaceChildren(plot);
  }

  // Entries are { text, mark, color, name }; a name may be in a right-to-left script.
  function showLegend(figure, entries) {
    figure.querySelector(".legend").replaceChildren(
      ...entries.map(({ mark, color, name, text }) => {
        const entry = document.createElement("span");
        const swatch = document.createElement("i");
        swatch.className = `swatch ${mark}`;
        if (color) swatch.style.setProperty("--color", color);
        entry.append(swatch);
        if (name !== undefined) {
          const isolated = document.createElement("bdi");
          isolated.className = "name";
          isolated.textContent = format.shorten(name, 40);
          entry.append(" ", isolated);
        }
        entry.append(` ${text}`);
        return entry;
      }),
    );
  }

  const widthOf = (figure) => Math.max(figure.querySelector(".plot").clientWidth, 240);

  // Drop points within `distance` of the last kept one.
  function spaceOut(points, distance) {
    const kept = [];
    points.forEach((point, i) => {
      const last = kept[kept.length - 1];
      const near =
        last && Math.abs(last.x - point.x) < distance && Math.abs(last.y - point.y) < distance;
      if (!near || i === points.length - 1) kept.push(point);
    });
    return kept;
  }

  // Points less than a third of a pixel apart are indistinguishable.
  const drawable = (points, width) => spaceOut(points, 1 / (3 * width));

  const SHARES = { domain: [0, 1], ticks: 5, tickFormat: (x) => format.significant(x, 2) };

  // Draw ROC or precision-recall curves: lines { points, color, dashed, faint }, an optional band
  // between two lines, and dots { x, y, color }.
  function drawCurves(figure, options) {
    const { lines, curve, band, diagonal, level, x, y, describe, description } = options;
    const width = Math.min(widthOf(figure), 460);
    const marks = [
      Plot.gridX({ ticks: 5 }),
      Plot.gridY({ ticks: 5 }),
      Plot.ruleX([0], { stroke: "var(--axis)" }),
      Plot.ruleY([0], { stroke: "var(--axis)" }),
    ];
    if (diagonal) {
      marks.push(
        Plot.line([{ x: 0, y: 0 }, { x: 1, y: 1 }], { x: "x", y: "y", stroke: "var(--axis)" }),
      );
    }
    if (level !== undefined) marks.push(Plot.ruleY([level], { stroke: "var(--axis)" }));
    if (band) {
      const outline = [...drawable(band[0], width), ...drawable(band[1], width).reverse()];
      marks.push(
        Plot.line(outline, {
          x: "x",
          y: "y",
          curve: "linear-closed",
          fill: options.bandColor,
          fillOpacity: 0.18,
          stroke: "none",
        }),
      );
    }
    for (const { points, color, dashed, faint } of lines) {
      marks.push(
        Plot.line(drawable(points, width), {
          x: "x",
          y: "y",
          curve,
          stroke: color,
          strokeWidth: faint ? 1.25 : 2.25,
          strokeDasharray: dashed ? "5 4" : undefined,
          clip: true,
        }),
      );
    }
    marks.push(
      Plot.dot(options.dots, {
        x: "x",
        y: "y",
        r: 5,
        fill: "color",
        stroke: "var(--page)",
        strokeWidth: 2,
      }),
    );
    const main = lines[lines.length - 1];
    marks.push(
      Plot.tip(
        // The pointer cannot distinguish more points than these.
        spaceOut(main.points, 0.01),
        Plot.pointer({ x: "x", y: "y", title: describe, maxRadius: 30 }),
      ),
    );
    show(figure, {
      width,
      height: width * 0.92,
      x: { ...SHARES, label: x },
      y: { ...SHARES, label: y },
      color: { type: "identity" },
      marks,
      description,
    });
  }

  // ------------------------------------------------------------------ estimates of the prior

  // Estimates are { name, value, low, high, used }.
  function drawEstimates(figure, { estimates, upper, description }) {
    const width = Math.min(widthOf(figure), 720);
    const ends = estimates.flatMap(({ value, low, high }) => [value, low, high]);
    const most = Math.max(...ends.filter(Number.isFinite), upper ?? 0);
    show(figure, {
      width,
      height: 70 + 30 * estimates.length,
      marginLeft: 150,
      marginTop: 8,
      x: { domain: [0, Math.min(1, most * 1.08)], label: "Prior", ticks: width < 480 ? 3 : 6, grid: true },
      y: { type: "band", domain: estimates.map(({ name }) => name), label: null, tickSize: 0 },
      marks: [
        Plot.ruleX(upper === null ? [] : [upper], {
          stroke: "var(--warn)",
          strokeDasharray: "4 3",
          strokeWidth: 1.5,
        }),
        Plot.link(
          estimates.filter(({ low }) => low !== null),
          {
            x1: "low",
            x2: "high",
            y1: "name",
            y2: "name",
            stroke: ({ used }) => (used ? "var(--corrected)" : "var(--naive)"),
            strokeWidth: 3,
            strokeOpacity: 0.55,
          },
        ),
        Plot.dot(estimates, {
          x: "value",
          y: "name",
          r: 5,
          fill: ({ used }) => (used ? "var(--corrected)" : "var(--naive)"),
        }),
      ],
      color: { type: "identity" },
      description,
    });
  }

  return { drawCurves, drawEstimates, show, showLegend, widthOf };
})();
