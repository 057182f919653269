"use strict";

// The models of the page, the slider settings, and the numbers that follow from both.
const state = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { clip } = correction;
  const NAIVE = { prior: 0, purity: 1 };
  const COLORS = 8;
  // More scores are not distinguishable in a curve.
  const MOST_DRAWN = 2000;

  const measures = data.measures.map((measure) => ({
    ...measure,
    low: measure.low ?? -Infinity,
    high: measure.high ?? Infinity,
  }));
  const findMeasure = (name) => measures.find((measure) => measure.name === name);

  const models = data.models.map((model, index) => {
    const table = correction.makeTable(model.table);
    const naiveTable = correction.makeTable({ ...model.table, represented: undefined });
    const hasPropensities = table.represented !== undefined;
    const ratioBounds = model.feasible && {
      other_to_labeled: model.feasible.other_to_labeled ?? Infinity,
      labeled_to_other: model.feasible.labeled_to_other ?? Infinity,
    };
    return {
      ...model,
      index,
      table,
      hasPropensities,
      threshold: Number(model.threshold),
      color: data.models.length > 1 ? `var(--m${index % COLORS})` : "var(--corrected)",
      fullyLabeled: table.nUnlabeled === 0,
      biasAllowed: table.nUnlabeled > 0 && !hasPropensities,
      area: hasPropensities ? model.placement : model.naive_auc,
      areas: new Map(),
      precisionBounds: new Map(),
      // With unlabeled rows counted as negative.
      naive: {
        table: naiveTable,
        drawn: correction.thin(naiveTable, MOST_DRAWN),
        target: "population",
        area: model.naive_auc,
        areas: new Map(),
      },
      drawn: correction.thin(table, MOST_DRAWN),
      priorInterval: model.prior_estimate?.prior_interval ?? model.region?.prior,
      purityInterval: model.prior_estimate?.purity_interval ?? model.region?.purity,
      largestPrior: (purity) =>
        ratioBounds ? sensitivity.largestPrior(table, ratioBounds, purity) : purity,
      leastPurity: (prior) =>
        ratioBounds ? sensitivity.leastPurity(table, ratioBounds, prior) : prior,
    };
  });

  // ------------------------------------------------------------------ slider settings

  // null means the value of the model's evaluation.
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

  // Average precision is the only measure that needs all scores, so it is cached.
  function averagePrecision({ table, target, areas }, mixture) {
    const key = `${mixture.prior} ${mixture.purity}`;
    if (!areas.has(key)) {
      if (areas.size > 20_000) areas.clear();
      areas.set(key, correction.averagePrecision(table, mixture, target));
    }
    return areas.get(key);
  }

  // The unclipped value of a measure for a prior and purity, at step k.
  function rawMeasure(name, source, mixture, k) {
    if (name === "roc_auc") return correction.directAuc(source.table, source.area, mixture);
    if (name === "average_precision") return averagePrecision(source, mixture);
    return correction.measure(name, correction.rates(source.table, mixture, source.target)(k));
  }

  function measure(name, source, mixture, k) {
    const { low, high } = findMeasure(name);
    const raw = rawMeasure(name, source, mixture, k);
    return Number.isNaN(raw) ? raw : clip(raw, low, high);
  }

  // Bounds of the average precision take time and do not depend on the threshold.
  function averagePrecisionBounds(source, mixture, bias) {
    const { table, drawn, target, precisionBounds } = source;
    const key = `${mixture.prior} ${mixture.purity} ${bias}`;
    if (!precisionBounds.has(key)) {
      precisionBounds.clear();
      const area = averagePrecision(source, mixture);
      precisionBounds.set(
        key,
        labelingBias.averagePrecisionBounds(table, drawn, mixture, target, bias, area),
      );
    }
    return precisionBounds.get(key);
  }

  // Evaluate all measures as { value, clipped }, with bounds if there is a labeling bias.
  function evaluate(source, { mixture, bias, threshold }) {
    const { table, target } = source;
    const k = correction.stepAt(table, threshold);
    const rate = correction.rates(table, mixture, target)(k);
    const bounded =
      bias > 1 && source.biasAllowed === true
        ? labelingBias.boundedRates(table, mixture, target, bias, k)
        : undefined;
    const results = {};
    for (const { name, low, high } of measures) {
      const raw = rawMeasure(name, source, mixture, k);
      const value = Number.isNaN(raw) ? raw : clip(raw, low, high);
      results[name] = { value, clipped: Math.abs(value - raw) > 1e-9 };
      if (bounded === undefined) continue;
      if (name === "roc_auc") {
        results[name].bounds = labelingBias.aucBounds(table, mixture, target, bias, raw);
      } else if (name === "average_precision") {
        results[name].bounds = averagePrecisionBounds(source, mixture, bias);
      } else {
        results[name].bounds = labelingBias.measureBounds(name, rate, bounded, low, high);
      }
    }
    return { measures: results, rate, k, bounded };
  }

  const naiveAt = (model, threshold) =>
    evaluate(model.naive, { mixture: NAIVE, bias: 1, threshold });

  const isFeasible = (model, { prior, purity }) => purity >= model.leastPurity(prior) - 1e-9;

  return {
    NAIVE,
    chosen,
    current,
    evaluate,
    findMeasure,
    isFeasible,
    measure,
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
