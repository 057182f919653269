"use strict";

// One measure over prior and purity.
const sensitivityPicture = (() => {
  const { settings } = state;
  const { clip } = correction;
  const byId = (id) => document.getElementById(id);

  // ------------------------------------------------------------------ drawing

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

  function bandTexts(levels) {
    const ends = levels.map((level) => format.significant(level, 3));
    if (!ends.length) return ["all values"];
    return [
      `below ${ends[0]}`,
      ...ends.slice(1).map((end, i) => `${ends[i]}–${end}`),
      `above ${ends[ends.length - 1]}`,
    ];
  }

  const HALO = { fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 4 };

  // A cross at the evaluated values, and a dot with its value at the sliders.
  function dots(evaluated, current, right) {
    const isRight = current.x > 0.7 * right;
    return [
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
      Plot.text([current], {
        x: "x",
        y: "y",
        text: "text",
        textAnchor: isRight ? "end" : "start",
        dx: isRight ? -9 : 9,
        dy: 13,
        fontWeight: 600,
        ...HALO,
      }),
    ];
  }

  // Draw a grid of values over prior and purity; `largestPrior(purity)` bounds the feasible region.
  function drawGrid(figure, options) {
    const { value, largestPrior, priors, purities, evaluated, current, moved, description } =
      options;
    const width = Math.min(charts.widthOf(figure), 720);
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
    // The dots must be in a band of their own, even where the data rule them out.
    for (const { prior, purity } of [evaluated, current]) {
      const result = value(prior, purity);
      if (!Number.isFinite(result)) continue;
      [least, most] = [Math.min(least, result), Math.max(most, result)];
    }
    const levels = roundLevels(least, most);
    const texts = bandTexts(levels);
    const colors = Array.from({ length: levels.length + 1 }, (_, k) => shade(k, levels.length + 1));
    const span = purities[1] - purities[0];
    const point = ({ prior, purity }) => ({
      x: prior,
      y: purity,
      text: format.number(value(prior, purity)),
    });

    // Names of the bands, along a row of the grid away from the dot, where there is room for them.
    function bandLabels() {
      const isHigh = current.purity > purities[0] + 0.5 * span;
      const row = Math.round((isHigh ? 0.3 : 0.75) * GRID);
      const purity = at(row, purities);
      const pixels = (width - 66) / (GRID - 2);
      const runs = [];
      for (let i = 1; i < GRID - 1; i++) {
        const result = values[row * GRID + i];
        if (!Number.isFinite(result) || at(i, priors) > largestPrior(purity)) continue;
        const band = levels.filter((level) => result >= level).length;
        if (runs[runs.length - 1]?.band !== band) runs.push({ band, start: i, end: i });
        runs[runs.length - 1].end = i;
      }
      return runs
        .map(({ band, start, end }) => ({
          x: at((start + end) / 2, priors),
          y: purity,
          text: texts[band],
          room: (end - start + 1) * pixels,
        }))
        .filter(({ text, room }) => room > 7 * text.length);
    }

    const boundary = Array.from({ length: 201 }, (_, k) => {
      const purity = purities[0] + (k / 200) * span;
      return { x: Math.min(Math.max(largestPrior(purity), priors[0]), purity), y: purity };
    });
    const covered = boundary.some(({ x }) => x < priors[1]);
    // The infeasible region extends beyond the frame, which clips it.
    const [below, above] = [boundary[0], boundary[200]];
    const edge = [{ ...below, y: below.y - span }, ...boundary, { ...above, y: above.y + span }];
    charts.show(figure, {
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
        Plot.text(bandLabels(), { x: "x", y: "y", text: "text", ...HALO }),
        ...dots(moved ? point(evaluated) : undefined, point(current), priors[1]),
      ],
      description,
    });
    return { texts, colors, covered };
  }

  // Draw values over the prior alone, for clean labels.
  function drawByPrior(figure, { value, priors, evaluated, current, moved, y, description }) {
    const width = Math.min(charts.widthOf(figure), 720);
    const point = ({ prior }) => ({
      x: prior,
      y: value(prior, 1),
      text: format.number(value(prior, 1)),
    });
    const line = Array.from({ length: 201 }, (_, k) =>
      point({ prior: Math.min((k / 200) * priors[1], 0.999) }),
    );
    charts.show(figure, {
      width,
      height: Math.max(width * 0.45, 240),
      x: { domain: priors, label: "Prior", ticks: 6 },
      y: { label: y, ticks: 6, nice: true, grid: true },
      marks: [
        Plot.line(line, { x: "x", y: "y", stroke: "var(--corrected)", strokeWidth: 2.25 }),
        ...dots(moved ? point(evaluated) : undefined, point(current), priors[1]),
      ],
      description,
    });
  }

  // ------------------------------------------------------------------ content

  // Slightly more than the priors that the data allow, with the dots.
  function priorRange(model, mixture) {
    const allowed = model.feasible ? 1.1 * model.largestPrior(1) : sliders.priorRange(model);
    return [0, Math.min(Math.max(allowed, 1.15 * model.prior, 1.15 * mixture.prior, 0.01), 1)];
  }

  // The upper half of the purities that the data allow, with the dots: lower ones are possible only
  // with a prior close to 0.
  function purityRange(model, mixture) {
    const least = Math.min(model.leastPurity(0), 1);
    const margin = 0.1 * (1 - least);
    const lowest = Math.min((1 + least) / 2, model.purity - margin, mixture.purity - margin, 0.99);
    return [Math.max(Math.floor(100 * lowest) / 100, 0), 1];
  }

  function show(model) {
    const figure = byId("sensitivity");
    // Without unlabeled rows there is no prior.
    const section = byId("sensitivity-section");
    section.hidden = model.fullyLabeled;
    section.classList.toggle("audited", model.audited);
    if (model.fullyLabeled || model.audited) return;
    const { mixture, threshold } = settings(model);
    const name = byId("sensitivity-measure").value;
    const { title } = state.findMeasure(name);
    // Propensities require clean labels.
    const axes = model.hasPropensities ? "prior" : "prior and purity";
    const k = correction.stepAt(model.table, threshold);
    const value = (prior, purity) => state.measure(name, model, { prior, purity }, k);
    const moved = state.mixtureMoved(model);
    const valueAt = (mixture) => format.number(value(mixture.prior, mixture.purity));
    const common = {
      value,
      priors: priorRange(model, mixture),
      evaluated: { prior: model.prior, purity: model.purity },
      current: mixture,
      moved,
      description:
        `${title} by ${axes}, corrected: ${valueAt(model)} as evaluated, ` +
        `${valueAt(mixture)} at the sliders.`,
    };
    const dotEntries = [
      ...(moved ? [{ mark: "cross", color: "var(--text)", text: "as evaluated" }] : []),
      { mark: "dot", color: "var(--text)", text: moved ? "at the sliders" : "as evaluated" },
    ];
    if (model.hasPropensities) {
      drawByPrior(figure, { ...common, y: title });
      charts.showLegend(figure, dotEntries);
    } else {
      const { texts, colors, covered } = drawGrid(figure, {
        ...common,
        purities: purityRange(model, mixture),
        largestPrior: model.largestPrior,
      });
      charts.showLegend(figure, [
        ...colors.map((color, i) => ({ mark: "box", color, text: texts[i] })),
        ...(covered ? [{ mark: "hatched", text: "ruled out by the data" }] : []),
        ...dotEntries,
      ]);
    }
    figure.querySelector("figcaption").textContent = `${title} by ${axes}, corrected`;
    figure.querySelector(".note").textContent = ["roc_auc", "average_precision"].includes(name)
      ? ""
      : `At the threshold ${format.significant(threshold, 6)}.`;
  }

  // The axes of the picture.
  const ranges = (model, mixture) => ({
    priors: priorRange(model, mixture),
    purities: purityRange(model, mixture),
  });

  return { ranges, show };
})();
