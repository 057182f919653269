"use strict";

// The content of each plot: data, legends, captions and notes.
const pictures = (() => {
  const { NAIVE, models, settings } = state;
  const { clip } = correction;
  const byId = (id) => document.getElementById(id);
  // Each point of a band under labeling bias takes a search.
  const MOST_BOUNDED = 120;

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
      // The precision of a point applies to the step of recall that ends there.
      curve: "step-before",
    },
  ];

  // The two curves between which a labeling bias can move the curve.
  function biasBand(model, point) {
    const { mixture, bias } = settings(model);
    const few = correction.thin(model.drawn, MOST_BOUNDED);
    const ends = correction
      .corners(few)
      .map((k) => labelingBias.boundedRates(few, mixture, model.target, bias, k));
    const side = (k) => ends.map((pair) => point(pair[k])).filter(({ y }) => !Number.isNaN(y));
    return [side(0), side(1)];
  }

  // The confidence band of the curve: as evaluated, or from the resamples in the page.
  function confidenceBand(model, id, curve) {
    const { mixture } = settings(model);
    if (!state.hasIntervals(model, mixture)) return undefined;
    if (state.mixtureMoved(model)) {
      return bands[id](model, mixture, state.resampledCurves(model, mixture), curve);
    }
    const { x, low, high } = model.bands[id];
    return [low, high].map((side) =>
      side.map((y, k) => ({ x: x[k], y })).filter(({ y }) => y !== null),
    );
  }

  function showCurve(kind, model, corrected, naive, otherModels) {
    const { title, make, area, areaName, x, y, point, curve } = kind;
    const figure = byId(kind.id);
    const several = otherModels.length > 0;
    const drawn = [...otherModels, { model, results: corrected }];
    const value = (results) => format.number(results.measures[area].value);
    const curveOf = (other) => make(other.drawn, settings(other).mixture, other.target);
    let [band, bandText] = [undefined, ""];
    if (corrected.bounded) {
      band = biasBand(model, point);
      bandText = "bounds under labeling bias";
    } else {
      band = confidenceBand(model, kind.id, curveOf(model));
      bandText = band && `${format.percent(model.resampling.level)} confidence band`;
    }
    const dots = [
      { ...point(naive.rate), color: "var(--naive)" },
      ...drawn.map((entry) => ({ ...point(entry.results.rate), color: entry.model.color })),
    ];
    charts.drawCurves(figure, {
      lines: [
        {
          points: make(model.naive.drawn, NAIVE, "population"),
          color: "var(--naive)",
          dashed: true,
        },
        ...drawn.map((entry) => ({
          points: curveOf(entry.model),
          color: entry.model.color,
          faint: several && entry.model !== model,
        })),
      ],
      curve,
      band,
      bandColor: model.color,
      dots: dots.filter((dot) => !Number.isNaN(dot.y)),
      diagonal: kind.id === "roc",
      level: kind.id === "pr" ? corrected.rate.prevalence : undefined,
      x,
      y,
      describe: (corner) =>
        `${x} ${format.number(corner.x)}\n${y} ${format.number(corner.y)}\n` +
        `Threshold ${format.significant(corner.threshold, 5)}`,
      description: `${title}: naive ${areaName} ${value(naive)}, corrected ${value(corrected)}.`,
    });
    const entries = several
      ? [...drawn]
          .sort((a, b) => a.model.index - b.model.index)
          .map((entry) => ({
            mark: entry.model === model ? "thick" : "thin",
            color: entry.model.color,
            name: entry.model.name,
            text: value(entry.results),
          }))
      : [{ mark: "thick", color: model.color, text: `corrected ${value(corrected)}` }];
    charts.showLegend(figure, [
      { mark: "dashed", color: "var(--naive)", text: `naive ${value(naive)}` },
      ...entries,
      ...(band ? [{ mark: "band", color: model.color, text: bandText }] : []),
      { mark: "dot", color: "var(--text)", text: "threshold" },
    ]);
  }

  function showCurves(model, corrected, naive) {
    const otherModels = models
      .filter((other) => other !== model)
      .map((other) => ({
        model: other,
        results: state.evaluate(other, { ...settings(other), bias: 1 }),
      }));
    for (const kind of CURVES) showCurve(kind, model, corrected, naive, otherModels);
  }

  // ------------------------------------------------------------------ scores

  const shares = (counts, total) => counts.map((count) => (total ? count / total : 0));

  // Corrected shares of positives and negatives in each bin.
  function correctedShares({ histogram, table, hasPropensities }, mixture) {
    const { labeled, unlabeled, negative, represented } = histogram;
    if (hasPropensities) {
      const positives = shares(represented, table.nRepresented);
      const rows = labeled.map((count, k) => count + unlabeled[k] + negative[k]);
      const prior = correction.prevalence(table, mixture, "population");
      return shares(rows, table.n).map((share, k) =>
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

  function showScores(model) {
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
    const figure = byId("scores");
    const k = correction.stepAt(table, threshold);
    charts.drawScores(figure, {
      histogram,
      series,
      threshold,
      rank: 1 - correction.rates(model.naive.table, NAIVE, "population")(k).predicted,
      description:
        "Score distributions of labeled and unlabeled rows, and of positives and negatives, " +
        "corrected with the prior and purity at the sliders.",
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
      (histogram.tails ? "The first and last bars include the rows beyond the axis. " : "") +
      "Corrected shares may fall below zero by chance. If they are clearly negative, the prior, the " +
      "purity or random labeling is wrong.";
  }

  // ------------------------------------------------------------------ sensitivity

  // From slightly below the lowest feasible purity up to 1.
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
    // Without unlabeled rows there is no prior.
    byId("sensitivity-section").hidden = model.fullyLabeled;
    if (model.fullyLabeled) return;
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
      priors: [0, sliders.priorRange(model)],
      evaluated: moved ? { prior: model.prior, purity: model.purity } : undefined,
      current: mixture,
      description:
        `${title} by ${axes}, corrected: ${valueAt(model)} as evaluated, ` +
        `${valueAt(mixture)} at the sliders.`,
    };
    const dots = [
      ...(moved ? [{ mark: "cross", color: "var(--text)", text: "as evaluated" }] : []),
      { mark: "dot", color: "var(--text)", text: moved ? "at the sliders" : "as evaluated" },
    ];
    if (model.hasPropensities) {
      charts.drawByPrior(figure, { ...common, y: title });
      charts.showLegend(figure, dots);
    } else {
      const { levels, colors, covered } = charts.drawSensitivity(figure, {
        ...common,
        purities: purityRange(model, mixture),
        largestPrior: model.largestPrior,
      });
      const texts = bandTexts(levels);
      charts.showLegend(figure, [
        ...colors.map((color, i) => ({ mark: "box", color, text: texts[i] })),
        ...(covered ? [{ mark: "hatched", text: "ruled out by the data" }] : []),
        ...dots,
      ]);
    }
    figure.querySelector("figcaption").textContent = `${title} by ${axes}, corrected`;
    figure.querySelector(".note").textContent = ["roc_auc", "average_precision"].includes(name)
      ? ""
      : `At the threshold ${format.significant(threshold, 6)}.`;
  }

  // ------------------------------------------------------------------ estimates of the prior

  function showEstimates() {
    document.querySelectorAll("figure.estimates").forEach((figure, k) => {
      const { methods, prior_upper: upper } = state.priors[k].estimate;
      const estimates = methods.map(([name, { prior, prior_interval: interval }], i) => ({
        name: name.replaceAll("_", " "),
        value: prior,
        low: interval?.[0] ?? null,
        high: interval?.[1] ?? null,
        used: i === 0,
      }));
      const texts = estimates.map(({ name, value }) => `${name}: ${format.number(value)}`);
      charts.drawEstimates(figure, { estimates, upper, description: texts.join(", ") });
      charts.showLegend(
        figure,
        upper === null
          ? []
          : [{ mark: "dashed", color: "var(--warn)", text: "largest prior that the data allow" }],
      );
    });
  }

  return { showCurves, showEstimates, showScores, showSensitivity };
})();
