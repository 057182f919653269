"use strict";

// The models of the page, what the sliders say, and every number that follows from both.
const state = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { clip } = correction;
  const NAIVE = { prior: 0, purity: 1 };
  const COLORS = 8;
  // As many scores as can be told apart in a curve.
  const DRAWN = 2000;

  const measures = data.measures.map((one) => ({
    ...one,
    low: one.low ?? -Infinity,
    high: one.high ?? Infinity,
  }));
  const measureOf = (name) => measures.find((one) => one.name === name);

  const models = data.models.map((model, index) => {
    const table = correction.makeTable(model.table);
    const plain = correction.makeTable({ ...model.table, represented: undefined });
    const propensities = table.represented !== undefined;
    const limits = model.feasible && {
      other_to_labeled: model.feasible.other_to_labeled ?? Infinity,
      labeled_to_other: model.feasible.labeled_to_other ?? Infinity,
    };
    return {
      ...model,
      index,
      table,
      propensities,
      threshold: Number(model.threshold),
      color: data.models.length > 1 ? `var(--m${index % COLORS})` : "var(--corrected)",
      known: table.nUnlabeled === 0,
      biasable: model.target === "population" && table.nUnlabeled > 0 && !propensities,
      area: propensities ? model.placement : model.naive_auc,
      areas: new Map(),
      // As it looks if unlabeled rows are counted as negative.
      naive: {
        table: plain,
        drawn: correction.sketch(plain, DRAWN),
        target: "population",
        area: model.naive_auc,
        areas: new Map(),
      },
      drawn: correction.sketch(table, DRAWN),
      priorLimits: model.prior_estimate?.prior_interval ?? model.region?.prior,
      purityLimits: model.prior_estimate?.purity_interval ?? model.region?.purity,
      largestPrior: (purity) =>
        limits ? correction.largestPrior(table, limits, purity) : purity,
      leastPurity: (prior) => (limits ? correction.leastPurity(table, limits, prior) : prior),
    };
  });

  // ------------------------------------------------------------------ what the sliders say

  // null stands for each model's own evaluated value.
  const chosen = {
    model: 0,
    prior: null,
    purity: null,
    bias: 1,
    thresholds: models.map(() => null),
  };

  const current = () => models[chosen.model];

  const settings = (model) => ({
    mixture: { prior: chosen.prior ?? model.prior, purity: chosen.purity ?? model.purity },
    bias: chosen.bias,
    threshold: chosen.thresholds[model.index] ?? model.threshold,
  });

  const mixtureMoved = () => chosen.prior !== null || chosen.purity !== null;
  const moved = (model) => mixtureMoved() || chosen.thresholds[model.index] !== null;

  function reset() {
    Object.assign(chosen, { prior: null, purity: null, bias: 1 });
    chosen.thresholds.fill(null);
  }

  // ------------------------------------------------------------------ numbers

  // Of all measures only this one has to look at every score.
  function averagePrecision({ table, target, areas }, mixture) {
    const key = `${mixture.prior} ${mixture.purity}`;
    if (!areas.has(key)) {
      if (areas.size > 20_000) areas.clear();
      areas.set(key, correction.averagePrecision(table, mixture, target));
    }
    return areas.get(key);
  }

  // One measure with some prior and purity, at the k highest scores; not clipped.
  function rawMeasure(name, source, mixture, k) {
    if (name === "roc_auc") return correction.directAuc(source.table, source.area, mixture);
    if (name === "average_precision") return averagePrecision(source, mixture);
    return correction.measure(name, correction.rates(source.table, mixture, source.target)(k));
  }

  function measure(name, source, mixture, k) {
    const { low, high } = measureOf(name);
    const raw = rawMeasure(name, source, mixture, k);
    return Number.isNaN(raw) ? raw : clip(raw, low, high);
  }

  // Every measure: { value, clipped }, and bounds for a labeling bias.
  function evaluate(source, { mixture, bias, threshold }) {
    const { table, target } = source;
    const k = correction.reached(table, threshold);
    const bounded = bias > 1 && mixture.purity === 1 && source.biasable === true;
    const found = {};
    for (const { name, low, high } of measures) {
      const raw = rawMeasure(name, source, mixture, k);
      const value = Number.isNaN(raw) ? raw : clip(raw, low, high);
      found[name] = { value, clipped: Math.abs(value - raw) > 1e-9 };
      if (!bounded || name === "average_precision") continue;
      found[name].bounds =
        name === "roc_auc"
          ? correction.aucBounds(table, mixture, bias)
          : correction.measureBounds(name, table, mixture, bias, k, low, high);
    }
    return { measures: found, rate: correction.rates(table, mixture, target)(k), k, bounded };
  }

  const naiveAt = (model, threshold) =>
    evaluate(model.naive, { mixture: NAIVE, bias: 1, threshold });

  const fits = (model, { prior, purity }) => purity >= model.leastPurity(prior) - 1e-9;

  return {
    NAIVE,
    chosen,
    current,
    evaluate,
    fits,
    measure,
    measureOf,
    measures,
    mixtureMoved,
    models,
    moved,
    naiveAt,
    priors: data.priors,
    reset,
    settings,
  };
})();
