"use strict";

// The content of the curves and of the estimates of the prior: data, legends and captions.
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

  return { showCurves, showEstimates };
})();
