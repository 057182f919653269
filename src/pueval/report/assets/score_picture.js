"use strict";

// The distributions of the scores: histograms of the rows, and of positives and negatives.
const scorePicture = (() => {
  const { NAIVE, settings } = state;
  const { clip } = correction;

  // ------------------------------------------------------------------ axis

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

  // The scores of each bin in words. The first and last bins can include rows beyond the axis.
  function binTexts({ axis, edges, tails, labeled }) {
    const at = (k) => format.significant(edges[k], 3);
    const last = labeled.length - 1;
    return labeled.map((_, k) => {
      if (axis === "scores") return `Score ${at(k)}`;
      if (axis === "rank") return `Rank ${format.percent(edges[k])} to ${format.percent(edges[k + 1])}`;
      if (k === 0 && tails[0]) return `Scores below ${at(1)}`;
      if (k === last && tails[1]) return `Scores from ${at(last)} up`;
      return `Scores from ${at(k)} to ${at(k + 1)}`;
    });
  }

  // ------------------------------------------------------------------ drawing

  const steps = (edges, heights) =>
    heights.flatMap((y, k) => [
      { x: edges[k], y },
      { x: edges[k + 1], y },
    ]);

  const HALO = { fill: "var(--text)", stroke: "var(--page)", strokeWidth: 4 };

  // A line at the threshold with its value, some pixels below the top; at the edge if the axis does
  // not reach it.
  function thresholdMarks(position, [first, last], threshold, below = 2) {
    const x = clip(position, first, last);
    const atRight = x > (first + last) / 2;
    const text = `threshold ${format.significant(threshold, 4)}`;
    const pointed = atRight ? `${text} →` : `← ${text}`;
    return [
      Plot.ruleX([x], { stroke: "var(--text)", strokeWidth: 2.5 }),
      Plot.text([x === position ? text : pointed], {
        x: () => x,
        frameAnchor: "top",
        textAnchor: atRight ? "end" : "start",
        dx: atRight ? -7 : 7,
        dy: below,
        fontWeight: 600,
        ...HALO,
      }),
    ];
  }

  // The names of the first and the last bar, if these include rows beyond the axis.
  function tailMarks({ tails }, bins) {
    const [first, last] = [bins[0], bins[bins.length - 1]];
    const ends = [
      { ...first, x: first.from, anchor: "start", shown: tails[0] },
      { ...last, x: last.to, anchor: "end", shown: tails[1] },
    ];
    return ends
      .filter(({ shown }) => shown)
      .map((end) =>
        Plot.text([end], {
          x: "x",
          y: "y",
          text: ({ name }) => name.toLowerCase(),
          textAnchor: end.anchor,
          lineAnchor: "bottom",
          dy: -5,
          ...HALO,
        }),
      );
  }

  // Series are { heights, color, filled, text }, with a height per bin.
  function draw(figure, { histogram, series, threshold, rank, description }) {
    const axis = scoreAxis(histogram);
    const width = charts.widthOf(figure);
    const ends = [axis.edges[0], axis.edges[axis.edges.length - 1]];
    const bins = binTexts(histogram).map((name, k) => ({
      name,
      from: axis.edges[k],
      to: axis.edges[k + 1],
      x: (axis.edges[k] + axis.edges[k + 1]) / 2,
      y: Math.max(...series.map(({ heights }) => heights[k])),
      shares: series.map(({ text, heights }) => `${text}: ${format.percent(heights[k])}`),
    }));
    const marks = [Plot.gridY({ ticks: 5 })];
    for (const { heights, color, filled } of series) {
      const points = steps(axis.edges, heights);
      marks.push(
        filled
          ? Plot.areaY(points, { x: "x", y1: 0, y2: "y", fill: color, fillOpacity: 0.28 })
          : Plot.line(points, { x: "x", y: "y", stroke: color, strokeWidth: 1.75 }),
      );
    }
    charts.show(figure, {
      width,
      height: Math.min(Math.max(width * 0.38, 240), 340),
      x: { domain: ends, label: axis.label, ticks: axis.ticks, tickFormat: axis.tickFormat },
      y: {
        label: "Share of rows",
        ticks: 5,
        tickFormat: (share) => `${format.significant(100 * share, 3)}%`,
        nice: true,
      },
      marks: [
        ...marks,
        Plot.ruleY([0], { stroke: "var(--axis)" }),
        ...tailMarks(histogram, bins),
        ...thresholdMarks(axis.position(threshold, rank), ends, threshold),
        Plot.tip(
          bins,
          Plot.pointer({
            x: "x",
            y: "y",
            title: ({ name, shares }) => [name, ...shares].join("\n"),
            // The nearest bin in x, wherever the pointer is in y.
            px: "x",
            py: () => 0,
            maxRadius: Infinity,
          }),
        ),
      ],
      description,
    });
  }

  // ------------------------------------------------------------------ content

  const shares = (counts, total) => counts.map((count) => (total ? count / total : 0));

  // Corrected shares of positives and negatives in each bin.
  function correctedShares({ histogram, table, target, hasPropensities }, mixture) {
    const { labeled, unlabeled, negative, represented } = histogram;
    if (hasPropensities) {
      const positives = shares(represented, table.nRepresented);
      const whole = target === "population";
      const rows = whole
        ? labeled.map((count, k) => count + unlabeled[k] + negative[k])
        : unlabeled;
      const prior = correction.prevalence(table, mixture, target);
      return shares(rows, whole ? table.n : table.nUnlabeled).map((share, k) =>
        correction.correctPair(positives[k], share, mixture.purity, prior),
      );
    }
    const counts = unlabeled.map((count, k) => count + negative[k]);
    const background = shares(counts, table.nUnlabeled + table.nNegative);
    const prior = correction.backgroundPrior(table, mixture);
    return shares(labeled, table.nLabeled).map((share, k) =>
      correction.correctPair(share, background[k], mixture.purity, prior),
    );
  }

  // The share of rows that score below the threshold.
  function thresholdRank(model) {
    const k = correction.stepAt(model.table, settings(model).threshold);
    return 1 - correction.rates(model.naive.table, NAIVE, "population")(k).predicted;
  }

  function show(model) {
    const { mixture, threshold } = settings(model);
    const { histogram, table } = model;
    const pairs = correctedShares(model, mixture);
    const series = [
      {
        heights: pairs.map(([, negative]) => negative),
        color: "var(--negative)",
        filled: true,
        text: "negatives, corrected",
      },
      {
        heights: pairs.map(([positive]) => positive),
        color: "var(--positive)",
        filled: true,
        text: "positives, corrected",
      },
      {
        heights: shares(histogram.labeled, table.nLabeled),
        color: "var(--positive)",
        text: "labeled",
      },
    ];
    if (table.nUnlabeled) {
      series.push({
        heights: shares(histogram.unlabeled, table.nUnlabeled),
        color: "var(--text)",
        text: "unlabeled",
      });
    }
    if (table.nNegative) {
      series.push({
        heights: shares(histogram.negative, table.nNegative),
        color: "var(--negative)",
        text: "known negatives",
      });
    }
    const figure = document.getElementById("scores");
    draw(figure, {
      histogram,
      series,
      threshold,
      rank: thresholdRank(model),
      description:
        "Score distributions of labeled and unlabeled rows, and of positives and negatives, " +
        (model.audited
          ? "corrected with the audit."
          : "corrected with the prior and purity at the sliders."),
    });
    charts.showLegend(figure, [
      ...series.map(({ color, filled, text }) => ({
        mark: filled ? "band" : "thick",
        color,
        text,
      })),
      { mark: "upright", color: "var(--text)", text: "threshold" },
    ]);
    figure.querySelector(".note").textContent = model.audited
      ? "The corrected shares follow from the audit, the labels and the scores."
      : "Corrected shares may fall below zero by chance. If they are clearly negative, the prior, the " +
        "purity or random labeling is wrong.";
  }

  return { scoreAxis, show, thresholdMarks, thresholdRank };
})();
