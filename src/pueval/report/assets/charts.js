"use strict";

// Draws data into figures, independently of the sliders.
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

  // ------------------------------------------------------------------ scores

  const logit = (p) => Math.log(p / (1 - p));

  // The positions of the bin edges on the axis, and its ticks.
  function scoreAxis({ axis, edges }) {
    if (axis === "scores") {
      const positions = edges.map((_, k) => k);
      const step = Math.ceil(edges.length / 12);
      const ticks = positions.filter((k) => k % step === 0);
      return {
        edges: [...positions.map((k) => k - 0.5), edges.length - 0.5],
        ticks,
        tickFormat: (k) => format.significant(edges[k], 4),
        label: "Score",
        position: (score) => {
          const k = edges.findIndex((edge) => edge >= score);
          return (k < 0 ? edges.length : k) - 0.5;
        },
      };
    }
    if (axis === "logit") {
      const probabilities = [1e-4, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999, 0.9999];
      const inside = probabilities.filter((p) => p >= edges[0] && p <= edges[edges.length - 1]);
      return {
        edges: edges.map(logit),
        ticks: inside.map(logit),
        tickFormat: (x) => format.significant(1 / (1 + Math.exp(-x)), 6),
        label: "Score (log-odds scale)",
        position: logit,
      };
    }
    if (axis === "rank") {
      return {
        edges,
        ticks: [0, 0.25, 0.5, 0.75, 1],
        tickFormat: (x) => `${100 * x}%`,
        label: "Rank (share of rows that score lower)",
        position: (_, rank) => rank,
      };
    }
    return { edges, ticks: 6, tickFormat: undefined, label: "Score", position: (score) => score };
  }

  const steps = (edges, heights) =>
    heights.flatMap((y, k) => [
      { x: edges[k], y },
      { x: edges[k + 1], y },
    ]);

  // Series are { heights, color, filled }, with a height per bin.
  function drawScores(figure, { histogram, series, threshold, rank, description }) {
    const axis = scoreAxis(histogram);
    const width = widthOf(figure);
    const [first, last] = [axis.edges[0], axis.edges[axis.edges.length - 1]];
    const thresholdPosition = axis.position(threshold, rank);
    const marks = [Plot.gridY({ ticks: 5 })];
    for (const { heights, color, filled } of series) {
      const points = steps(axis.edges, heights);
      marks.push(
        filled
          ? Plot.areaY(points, { x: "x", y1: 0, y2: "y", fill: color, fillOpacity: 0.28 })
          : Plot.line(points, { x: "x", y: "y", stroke: color, strokeWidth: 1.75 }),
      );
    }
    marks.push(Plot.ruleY([0], { stroke: "var(--axis)" }));
    if (thresholdPosition >= first && thresholdPosition <= last) {
      marks.push(Plot.ruleX([thresholdPosition], { stroke: "var(--text)", strokeDasharray: "3 3" }));
    }
    show(figure, {
      width,
      height: Math.min(Math.max(width * 0.38, 220), 330),
      x: { domain: [first, last], label: axis.label, ticks: axis.ticks, tickFormat: axis.tickFormat },
      y: {
        label: "Share of rows",
        ticks: 5,
        tickFormat: (share) => `${format.significant(100 * share, 3)}%`,
        nice: true,
      },
      marks,
      description,
    });
  }

  // ------------------------------------------------------------------ sensitivity

  const GRID = 60;

  // Round levels that divide a range into about `parts` parts.
  function roundLevels(low, high, parts = 8) {
    if (!(high > low)) return [];
    const rough = (high - low) / parts;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((size) => size >= rough);
    const levels = [];
    for (let k = Math.floor(low / step) + 1; k * step < high; k++) {
      levels.push(Number((k * step).toPrecision(12)));
    }
    return levels;
  }

  const shade = (k, n) =>
    `color-mix(in oklab, var(--high) ${Math.round((100 * (k + 0.5)) / n)}%, var(--low))`;

  // A cross at the evaluated values, and a dot at the sliders.
  const dots = (evaluated, current) => [
    Plot.dot(evaluated ? [evaluated] : [], {
      x: "x",
      y: "y",
      r: 6,
      symbol: "times",
      stroke: "var(--ink)",
      strokeWidth: 2.5,
    }),
    Plot.dot([current], {
      x: "x",
      y: "y",
      r: 5.5,
      fill: "var(--ink)",
      stroke: "var(--paper)",
      strokeWidth: 2,
    }),
  ];

  // Draw a grid of values over prior and purity; `largestPrior(purity)` bounds the feasible region.
  function drawSensitivity(figure, options) {
    const { value, largestPrior, priors, purities, evaluated, current, description } = options;
    const width = Math.min(widthOf(figure), 720);
    // An extra cell on each side makes the contours run straight into the edge.
    const cell = ([low, high]) => (high - low) / (GRID - 2);
    const at = (k, range) => clip(range[0] + (k - 0.5) * cell(range), ...range);
    const values = new Float64Array(GRID * GRID).fill(NaN);
    let [least, most] = [Infinity, -Infinity];
    for (let j = 0; j < GRID; j++) {
      const purity = at(j, purities);
      for (let i = 0; i < GRID; i++) {
        const prior = at(i, priors);
        if (prior >= purity) continue;
        const result = value(prior, purity);
        values[j * GRID + i] = result;
        if (prior <= largestPrior(purity) && Number.isFinite(result)) {
          least = Math.min(least, result);
          most = Math.max(most, result);
        }
      }
    }
    const levels = roundLevels(least, most);
    const colors = Array.from({ length: levels.length + 1 }, (_, k) => shade(k, levels.length + 1));
    const span = purities[1] - purities[0];
    const boundary = Array.from({ length: 201 }, (_, k) => {
      const purity = purities[0] + (k / 200) * span;
      return { x: Math.min(Math.max(largestPrior(purity), priors[0]), purity), y: purity };
    });
    const covered = boundary.some(({ x }) => x < priors[1]);
    // The infeasible region extends beyond the frame, which clips it.
    const [below, above] = [boundary[0], boundary[200]];
    const edge = [{ ...below, y: below.y - span }, ...boundary, { ...above, y: above.y + span }];
    show(figure, {
      width,
      height: Math.max(width * 0.56, 260),
      x: { domain: priors, label: "Prior", ticks: 6 },
      y: { domain: purities, label: "Purity", ticks: 6 },
      color: { type: "threshold", domain: levels, range: colors },
      marks: [
        Plot.contour(values, {
          width: GRID,
          height: GRID,
          x1: priors[0] - cell(priors),
          x2: priors[1] + cell(priors),
          y1: purities[0] - cell(purities),
          y2: purities[1] + cell(purities),
          fill: (d) => d,
          interpolate: "none",
          thresholds: [least - 1, ...levels],
          stroke: "var(--page)",
          strokeWidth: 0.75,
          clip: true,
        }),
        covered
          ? ["var(--page)", "url(#hatch)"].map((fill) =>
              Plot.areaX(edge, { y: "y", x1: "x", x2: () => 2 * priors[1], fill, clip: true }),
            )
          : null,
        Plot.ruleY([purities[0]], { stroke: "var(--axis)" }),
        covered
          ? Plot.line(edge, { x: "x", y: "y", stroke: "var(--warn)", strokeWidth: 1.5, clip: true })
          : null,
        ...dots(
          evaluated && { x: evaluated.prior, y: evaluated.purity },
          { x: current.prior, y: current.purity },
        ),
      ],
      description,
    });
    return { levels, colors, covered };
  }

  // Draw values over the prior alone, for clean labels.
  function drawByPrior(figure, { value, priors, evaluated, current, y, description }) {
    const width = Math.min(widthOf(figure), 720);
    const point = ({ prior }) => ({ x: prior, y: value(prior, 1) });
    const line = Array.from({ length: 201 }, (_, k) =>
      point({ prior: Math.min((k / 200) * priors[1], 0.999) }),
    );
    show(figure, {
      width,
      height: Math.max(width * 0.45, 240),
      x: { domain: priors, label: "Prior", ticks: 6 },
      y: { label: y, ticks: 6, nice: true, grid: true },
      marks: [
        Plot.line(line, { x: "x", y: "y", stroke: "var(--corrected)", strokeWidth: 2.25 }),
        ...dots(evaluated && { ...point(evaluated) }, point(current)),
      ],
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

  return { drawByPrior, drawCurves, drawEstimates, drawScores, drawSensitivity, showLegend };
})();
