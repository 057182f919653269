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
    const audited = model.audited !== null;
    const table = correction.makeTable({ ...model.table, ...model.row_numbers, audited });
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
      audited,
      auditLevel: model.audited?.level,
      hasPropensities,
      threshold: Number(model.threshold),
      color: data.models.length > 1 ? `var(--m${index % COLORS})` : "var(--corrected)",
      fullyLabeled: table.nUnlabeled === 0,
      biasAllowed: table.nUnlabeled > 0 && !hasPropensities,
      area: hasPropensities ? model.placement : model.naive_auc,
      areas: new Map(),
      precisionBounds: new Map(),
      intervals: new Map(),
      resampledCurves: new Map(),
      decoded: draws.decode(model.draws),
      // With unlabeled rows counted as negative.
      naive: {
        table: naiveTable,
        drawn: correction.thin(naiveTable, MOST_DRAWN),
        target: "population",
        area: model.naive_auc,
        areas: new Map(),
      },
      drawn: correction.thin(table, MOST_DRAWN),
      priorInterval:
        model.audited?.prior ?? model.prior_estimate?.prior_interval ?? model.region?.prior,
      purityInterval:
        model.audited?.purity ?? model.prior_estimate?.purity_interval ?? model.region?.purity,
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

  // An audit determines prior, purity and labeling, so these sliders do not move its model.
  const settings = (model) => ({
    mixture: model.audited
      ? { prior: model.prior, purity: model.purity }
      : { prior: chosen.prior ?? model.prior, purity: chosen.purity ?? model.purity },
    bias: model.audited ? 1 : chosen.bias,
    threshold: chosen.thresholds[model.index] ?? model.threshold,
  });

  const isEvaluated = (model, { prior, purity }) =>
    prior === model.prior && purity === model.purity;
  const mixtureMoved = (model) => !isEvaluated(model, settings(model).mixture);
  const thresholdMoved = (model) => settings(model).threshold !== model.threshold;
  const moved = (model) => mixtureMoved(model) || thresholdMoved(model);

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
    if (name === "roc_auc") {
      return correction.directAuc(source.table, source.area, mixture, source.target);
    }
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
    return remember(precisionBounds, key, () => {
      const area = averagePrecision(source, mixture);
      return labelingBias.averagePrecisionBounds(table, drawn, mixture, target, bias, area);
    });
  }

  // ------------------------------------------------------------------ confidence intervals

  // The value for a key, computed if it differs from the last one.
  function remember(cache, key, compute) {
    if (!cache.has(key)) {
      cache.clear();
      cache.set(key, compute());
    }
    return cache.get(key);
  }

  const resampledCurves = (model, mixture) =>
    remember(model.resampledCurves, `${mixture.prior} ${mixture.purity}`, () =>
      draws.curves(model, mixture),
    );

  function computeIntervals(model, mixture, threshold) {
    const evaluated = Object.fromEntries(
      Object.entries(model.measures).map(([name, { low, high }]) => [
        name,
        [Number(low ?? NaN), Number(high ?? NaN)],
      ]),
    );
    const asEvaluated = isEvaluated(model, mixture);
    if (asEvaluated && threshold === model.threshold) return evaluated;
    const valueAt = (name, t) =>
      rawMeasure(name, model, mixture, correction.stepAt(model.table, t));
    if (asEvaluated && model.threshold_intervals) {
      const found = intervals.interpolateIntervals(
        model.threshold_intervals, measures, model.table, threshold, valueAt,
      );
      return { ...evaluated, ...found };
    }
    const values = Object.fromEntries(
      measures.map(({ name }) => [name, valueAt(name, threshold)]),
    );
    const found = intervals.thresholdIntervals(model, measures, mixture, threshold, values);
    if (asEvaluated) return { ...evaluated, ...found };
    const curves = resampledCurves(model, mixture);
    return {
      ...found,
      roc_auc: intervals.aucInterval(model, mixture, values.roc_auc),
      average_precision: intervals.averagePrecisionInterval(
        model, curves, values.average_precision,
      ),
    };
  }

  // Other labels of the same rows are drawn for a prior and a purity, and exist only for those
  // evaluated. An audited model has intervals as evaluated, and needs no draws for other values.
  const hasIntervals = (source, mixture) =>
    source.audited
      ? source.resampling !== null
      : source.decoded !== undefined &&
        (source.resampling.variance === "sampling" || isEvaluated(source, mixture));

  // The intervals of all measures, by name; undefined if there are none.
  function confidenceIntervals(model, mixture, threshold) {
    if (!hasIntervals(model, mixture)) return undefined;
    const key = `${mixture.prior} ${mixture.purity} ${threshold}`;
    return remember(model.intervals, key, () => computeIntervals(model, mixture, threshold));
  }

  // What the ranges beside the numbers are: for the tiles, for the column of a table, and in full.
  function rangeKind(model) {
    const { mixture } = settings(model);
    if (chosen.bias > 1 && model.biasAllowed) {
      const short = format.significant(chosen.bias, 3);
      return {
        short: "bounds without sampling error",
        column: "at the sliders; bounds",
        long:
          "The ranges are bounds for this labeling bias. They leave out sampling error; " +
          `ev.labeling_bias(${short}) and --labeling-bias ${short} include it.`,
      };
    }
    if (!hasIntervals(model, mixture)) {
      const reason = model.decoded
        ? "other labels of these rows were drawn only for the evaluated prior and purity"
        : "the evaluation was made without them";
      return {
        short: model.decoded ? "no interval here" : "",
        column: "at the sliders; no CI",
        long: `There are no confidence intervals here: ${reason}.`,
      };
    }
    const level = format.percent(model.resampling.level);
    const known = "if prior and purity are exactly those at the sliders";
    const source = model.audited ? "audit" : "prior";
    const uncertain = model.threshold_intervals && `including the uncertainty of the ${source}`;
    const condition = mixtureMoved(model) ? ` ${known}` : uncertain ? `, ${uncertain}` : "";
    return {
      short: "",
      column: `at the sliders; ${level} CI`,
      long: `The ranges and the bands are ${level} confidence intervals${condition}.`,
    };
  }

  // ------------------------------------------------------------------ all measures

  // Evaluate all measures as { value, clipped }, with confidence intervals, or with bounds if there
  // is a labeling bias.
  function evaluate(source, { mixture, bias, threshold }) {
    const { table, target } = source;
    const k = correction.stepAt(table, threshold);
    const rate = correction.rates(table, mixture, target)(k);
    const bounded =
      bias > 1 && source.biasAllowed === true
        ? labelingBias.boundedRates(table, mixture, target, bias, k)
        : undefined;
    const confidence = bounded ? undefined : confidenceIntervals(source, mixture, threshold);
    const results = {};
    for (const { name, low, high } of measures) {
      const raw = rawMeasure(name, source, mixture, k);
      const value = Number.isNaN(raw) ? raw : clip(raw, low, high);
      results[name] = { value, clipped: Math.abs(value - raw) > 1e-9 };
      if (confidence && !Number.isNaN(confidence[name][0])) {
        results[name].interval = confidence[name];
      }
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
    hasIntervals,
    isFeasible,
    measure,
    measures,
    mixtureMoved,
    models,
    moved,
    naiveAt,
    priors: data.priors,
    rangeKind,
    resampledCurves,
    reset,
    settings,
  };
})();
