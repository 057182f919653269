"use strict";

// What each picture of the page shows.
const pictures = (() => {
  const { NAIVE, models, settings } = state;
  const { clip } = correction;
  const byId = (id) => document.getElementById(id);

  // ------------------------------------------------------------------ curves

  const CURVES = [
    {
      id: "roc",
      title: "ROC curve",
      make: correction.rocCurve,
      area: "roc_auc",
      areaName: "AUC",
      x: "False positive rate",
      y: "True positive rate",
      point: ({ fpr, tpr }) => ({ x: clip(fpr, 0, 1), y: clip(tpr, 0, 1) }),
      curve: "linear",
    },
    {
      id: "pr",
      title: "Precision-recall curve",
      make: correction.precisionRecallCurve,
      area: "average_precision",
      areaName: "average precision",
      x: "Recall",
      y: "Precision",
      point: (rate) => ({
        x: clip(rate.tpr, 0, 1),
        y: clip(correction.measure("precision", rate), 0, 1),
      }),
      // Precision holds on the whole step of recall that ends at a point.
      curve: "step-before",
    },
  ];

  // The two lines between which a labeling bias lets the curve move.
  function biasBand(model, point) {
    const { mixture, bias } = settings(model);
    const bounded = correction.boundedRates(model.drawn, mixture, bias);
    const ends = correction.corners(model.drawn).map(bounded);
    const side = (k) => ends.map((pair) => point(pair[k])).filter(({ y }) => !Number.isNaN(y));
    return [side(0), side(1)];
  }

  // The limits of the curve as evaluated.
  function limitBand({ bands }, id) {
    if (bands === null) return undefined;
    const { x, low, high } = bands[id];
    return [low, high].map((side) =>
      side.map((y, k) => ({ x: x[k], y })).filter(({ y }) => y !== null),
    );
  }

  function showCurve(kind, model, now, naive, others) {
    const { title, make, area, areaName, x, y, point, curve } = kind;
    const figure = byId(kind.id);
    const several = others.length > 0;
    const drawn = [...others, { model, found: now }];
    const value = (found) => format.number(found.measures[area].value);
    let [band, bandText] = [undefined, ""];
    if (now.bounded) {
      band = biasBand(model, point);
      bandText = "if labeling was biased";
    } else if (!state.mixtureMoved()) {
      band = limitBand(model, kind.id);
      bandText = band && `${format.percent(model.resampling.level)} limits`;
    }
    const dots = [
      { ...point(naive.rate), color: "var(--naive)" },
      ...drawn.map((one) => ({ ...point(one.found.rate), color: one.model.color })),
    ];
    charts.drawCurves(figure, {
      lines: [
        {
          points: make(model.naive.drawn, NAIVE, "population"),
          color: "var(--naive)",
          dashed: true,
        },
        ...drawn.map((one) => ({
          points: make(one.model.drawn, settings(one.model).mixture, one.model.target),
          color: one.model.color,
          faint: several && one.model !== model,
        })),
      ],
      curve,
      band,
      bandColor: model.color,
      dots: dots.filter((dot) => !Number.isNaN(dot.y)),
      diagonal: kind.id === "roc",
      level: kind.id === "pr" ? now.rate.prevalence : undefined,
      x,
      y,
      describe: (one) =>
        `${x} ${format.number(one.x)}\n${y} ${format.number(one.y)}\n` +
        `Threshold ${format.significant(one.threshold, 5)}`,
      description: `${title}: naive ${areaName} ${value(naive)}, corrected ${value(now)}.`,
    });
    const entries = several
      ? [...drawn]
          .sort((a, b) => a.model.index - b.model.index)
          .map((one) => ({
            mark: one.model === model ? "thick" : "thin",
            color: one.model.color,
            name: one.model.name,
            text: value(one.found),
          }))
      : [{ mark: "thick", color: model.color, text: `corrected ${value(now)}` }];
    charts.showLegend(figure, [
      { mark: "dashed", color: "var(--naive)", text: `naive ${value(naive)}` },
      ...entries,
      ...(band ? [{ mark: "band", color: model.color, text: bandText }] : []),
      { mark: "dot", color: "var(--text)", text: "threshold" },
    ]);
  }

  function showCurves(model, now, naive) {
    const others = models
      .filter((other) => other !== model)
      .map((other) => ({
        model: other,
        found: state.evaluate(other, { ...settings(other), bias: 1 }),
      }));
    for (const kind of CURVES) showCurve(kind, model, now, naive, others);
  }

  // ------------------------------------------------------------------ scores

  const shares = (counts, total) => counts.map((count) => (total ? count / total : 0));

  // Shares of positives and negatives in each bin, unmixed as at any other set of scores.
  function recovered({ histogram, table, propensities }, mixture) {
    const { labeled, unlabeled, negative, represented } = histogram;
    if (propensities) {
      const positives = shares(represented, table.nRepresented);
      const rows = labeled.map((count, k) => count + unlabeled[k] + negative[k]);
      const prior = correction.prevalence(table, mixture, "population");
      return shares(rows, table.n).map((all, k) =>
        correction.correctPair(positives[k], all, mixture.purity, prior),
      );
    }
    const others = unlabeled.map((count, k) => count + negative[k]);
    const background = shares(others, table.nUnlabeled + table.nNegative);
    const prior = correction.backgroundPrior(table, mixture);
    return shares(labeled, table.nLabeled).map((one, k) =>
      correction.correctPair(one, background[k], mixture.purity, prior),
    );
  }

  function showScores(model) {
    const { mixture, threshold } = settings(model);
    const { histogram, table } = model;
    const pairs = recovered(model, mixture);
    const series = [
      {
        heights: pairs.map(([, negative]) => negative),
        color: "var(--negative)",
        filled: true,
        text: "negatives (recovered)",
      },
      {
        heights: pairs.map(([positive]) => positive),
        color: "var(--positive)",
        filled: true,
        text: "positives (recovered)",
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
        text: "known negative",
      });
    }
    const figure = byId("scores");
    const k = correction.reached(table, threshold);
    charts.drawScores(figure, {
      histogram,
      series,
      threshold,
      rank: 1 - correction.rates(model.naive.table, NAIVE, "population")(k).predicted,
      description:
        "Distributions of the scores of labeled and unlabeled rows, and of positives and " +
        "negatives as recovered with the prior and purity of the sliders.",
    });
    charts.showLegend(figure, [
      ...series.map(({ color, filled, text }) => ({
        mark: filled ? "band" : "thick",
        color,
        text,
      })),
      { mark: "dashed", color: "var(--text)", text: "threshold" },
    ]);
    figure.querySelector(".note").textContent =
      (histogram.tails ? "The first and the last bar also hold the rows beyond the axis. " : "") +
      "A recovered share below zero is chance, or a sign that prior, purity or random labeling " +
      "do not fit.";
  }

  // ------------------------------------------------------------------ sensitivity

  // From the lowest purity that fits, and a bit below, up to 1.
  function purityRange(model, mixture) {
    const least = model.leastPurity(0);
    const lowest = Math.min(least - 0.4 * (1 - least), model.purity - 0.01, mixture.purity - 0.01);
    return [Math.max(Math.floor(50 * lowest) / 50, 0), 1];
  }

  function bandTexts(levels) {
    const ends = levels.map((level) => format.significant(level, 3));
    if (!ends.length) return ["all values"];
    return [
      `below ${ends[0]}`,
      ...ends.slice(1).map((end, i) => `${ends[i]}–${end}`),
      `above ${ends[ends.length - 1]}`,
    ];
  }

  function showSensitivity(model) {
    const figure = byId("sensitivity");
    // Without unlabeled rows there is no prior, and propensities go with clean labels only.
    byId("sensitivity-section").hidden = model.known;
    if (model.known) return;
    const { mixture, threshold } = settings(model);
    const name = byId("sensitivity-measure").value;
    const { title } = state.measureOf(name);
    const k = correction.reached(model.table, threshold);
    const value = (prior, purity) => state.measure(name, model, { prior, purity }, k);
    const apart = state.mixtureMoved();
    const at = (one) => format.number(value(one.prior, one.purity));
    const common = {
      value,
      priors: [0, sliders.priorRange(model)],
      evaluated: apart ? { prior: model.prior, purity: model.purity } : undefined,
      now: mixture,
      description:
        `${title} for every prior${model.propensities ? "" : " and purity"}. ` +
        `As evaluated ${at(model)}, at the sliders ${at(mixture)}.`,
    };
    const dots = [
      ...(apart ? [{ mark: "cross", color: "var(--text)", text: "as evaluated" }] : []),
      { mark: "dot", color: "var(--text)", text: apart ? "at the sliders" : "as evaluated" },
    ];
    if (model.propensities) {
      charts.drawByPrior(figure, { ...common, y: title });
      charts.showLegend(figure, dots);
    } else {
      const purities = purityRange(model, mixture);
      const limit = model.largestPrior;
      const { levels, colors, covered } = charts.drawSensitivity(figure, {
        ...common,
        purities,
        limit,
      });
      const texts = bandTexts(levels);
      charts.showLegend(figure, [
        ...colors.map((color, i) => ({ mark: "box", color, text: texts[i] })),
        ...(covered ? [{ mark: "hatched", text: "does not fit the data" }] : []),
        ...dots,
      ]);
    }
    figure.querySelector("figcaption").textContent =
      `${title}, corrected, for every prior${model.propensities ? "" : " and purity"}`;
    figure.querySelector(".note").textContent = ["roc_auc", "average_precision"].includes(name)
      ? ""
      : `At the threshold ${format.significant(threshold, 6)}.`;
  }

  // ------------------------------------------------------------------ where the prior came from

  function showEstimators() {
    document.querySelectorAll("figure.estimators").forEach((figure, k) => {
      const { answers, prior_upper: upper } = state.priors[k].estimate;
      const shown = answers.map(([name, one], i) => ({
        name: name.replaceAll("_", " "),
        value: one.prior,
        low: one.prior_interval?.[0] ?? null,
        high: one.prior_interval?.[1] ?? null,
        used: i === 0,
      }));
      const texts = shown.map(({ name, value }) => `${name}: ${format.number(value)}`);
      charts.drawEstimators(figure, { answers: shown, upper, description: texts.join(", ") });
      charts.showLegend(
        figure,
        upper === null
          ? []
          : [{ mark: "dashed", color: "var(--warn)", text: "largest prior that fits the data" }],
      );
    });
  }

  return { showCurves, showEstimators, showScores, showSensitivity };
})();
