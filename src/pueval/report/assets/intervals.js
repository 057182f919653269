"use strict";

// Confidence intervals at the sliders in JavaScript: what pueval.uncertainty.measure_intervals
// computes for known prior and purity, from fewer resamples. tests/report compares the ends.
const intervals = (() => {
  const { MEASURES, ZERO, clip } = correction;
  // The same constants as in intervals.py, measure_intervals.py and threshold_choice.py.
  const [LEAST_DEFINED, UNCONSTRAINED_VARIANCE, TRIMMED_SHARE] = [0.95, 0.2, 0.1];

  const NONE = [NaN, NaN];
  const isRatio = ({ high }) => high === Infinity;
  // Ratios are skewed, so they are combined on the logarithmic scale: functions to it and back.
  const scaleOf = (measure) => (isRatio(measure) ? [Math.log, Math.exp] : [(x) => x, (x) => x]);

  function standardError(values) {
    const defined = values.filter(Number.isFinite);
    if (defined.length <= LEAST_DEFINED * values.length) return NaN;
    const mean = defined.reduce((sum, value) => sum + value, 0) / defined.length;
    const squares = defined.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    return Math.sqrt(squares / (defined.length - 1));
  }

  function normalInterval(value, error, critical, { low, high }) {
    if (!Number.isFinite(value) || !Number.isFinite(error)) return NONE;
    return [clip(value - critical * error, low, high), clip(value + critical * error, low, high)];
  }

  function percentileInterval(value, values, level, { low, high }) {
    const defined = values.filter((x) => !Number.isNaN(x)).map((x) => clip(x, low, high));
    if (!Number.isFinite(value) || defined.length <= LEAST_DEFINED * values.length) return NONE;
    defined.sort((a, b) => a - b);
    const tail = (1 - level) / 2;
    const quantile = (p) => defined[clip(Math.ceil(p * defined.length) - 1, 0, defined.length - 1)];
    const inside = clip(value, low, high);
    return [Math.min(quantile(tail), inside), Math.max(quantile(1 - tail), inside)];
  }

  // ------------------------------------------------------------------ known prior and purity

  // How much better the choices of the draws look there than as expected: a trimmed mean.
  function optimisms(model, mixture, measures) {
    const { labeled, background, prevalence_shift: shifts } = model.decoded.choice;
    const rate = draws.ratesOf(model, mixture, shifts);
    const tables = labeled.resampled.map((_, r) => [
      correction.shares(rate(labeled.resampled[r], background.resampled[r], r)),
      correction.shares(rate(labeled.expected[r], background.expected[r])),
    ]);
    const found = {};
    for (const measure of measures) {
      const [to] = scaleOf(measure);
      const gains = tables
        .map(([drawn, expected]) => to(MEASURES[measure.name](drawn)) - to(MEASURES[measure.name](expected)))
        .filter(Number.isFinite)
        .sort((a, b) => a - b);
      const trimmed = Math.round(TRIMMED_SHARE * gains.length);
      const kept = gains.slice(trimmed, gains.length - trimmed);
      found[measure.name] = kept.reduce((sum, gain) => sum + gain, 0) / kept.length;
    }
    return found;
  }

  // Move the interval at a fixed threshold by the optimism of choosing it, and widen it.
  function allowForChoice([first, second], value, optimism, model, measure) {
    const { critical_value: critical, choice } = model.decoded;
    const [to, from] = scaleOf(measure);
    const center = to(value);
    if (![center, optimism].every(Number.isFinite) || Number.isNaN(first)) return [first, second];
    const margin = critical * choice.optimism_error * optimism;
    return [
      center - Math.hypot(Math.max(center - to(first), 0), margin),
      center + Math.hypot(Math.max(to(second) - center, 0), margin),
    ].map((end) => from(end - optimism));
  }

  const UNLIMITED = { low: -Infinity, high: Infinity };

  // Intervals of all measures at a threshold. `values` are the estimates, not clipped.
  function thresholdIntervals(model, allMeasures, mixture, threshold, values) {
    const { critical_value: critical, level, nDraws, choice } = model.decoded;
    const measures = allMeasures.filter(({ name }) => MEASURES[name]);
    const [labeled, background] = draws.sharesAt(model.decoded, model.table, threshold);
    const rate = draws.ratesOf(model, mixture);
    const tables = Array.from({ length: nDraws }, (_, r) =>
      correction.shares(rate(labeled[r], background[r], r)),
    );
    const isChosen = choice && threshold === model.threshold;
    const optimism = isChosen ? optimisms(model, mixture, measures) : undefined;
    const found = {};
    for (const measure of measures) {
      const { name, low, high } = measure;
      const value = values[name];
      let drawn = tables.map(MEASURES[name]);
      let ends;
      if (isRatio(measure)) {
        // A ratio with a denominator of 0 is infinite, not undefined.
        drawn = drawn.map((x, r) => (Number.isNaN(x) && tables[r].predicted > 0 ? Infinity : x));
        ends = percentileInterval(value, drawn, level, measure);
      } else {
        ends = normalInterval(value, standardError(drawn), critical, UNLIMITED);
      }
      if (isChosen) {
        const [first, second] = allowForChoice(ends, value, optimism[name], model, measure);
        ends = [Math.min(first, clip(value, low, high)), Math.max(second, clip(value, low, high))];
      }
      found[name] = ends.map((end) => clip(end, low, high));
    }
    return found;
  }

  const UNIT = { low: 0, high: 1 };

  function aucInterval(model, mixture, value) {
    const { auc_error: error, auc_row_share: share, critical_value: critical } = model.decoded;
    const { table } = model;
    const prior = table.represented
      ? correction.prevalence(table, mixture, "population")
      : correction.backgroundPrior(table, mixture);
    const contrast = mixture.purity - prior;
    const center = value - model.decoded.auc_excess / contrast;
    if (share === null) return normalInterval(center, error / contrast, critical, UNIT);
    const naive = clip(0.5 + contrast * (center - 0.5), 0, 1);
    return logitLimits(naive, error, share, critical).map((limit) =>
      clip(0.5 + (limit - 0.5) / contrast, 0, 1),
    );
  }

  // Symmetric on the logit scale, to second order.
  function logitLimits(area, error, share, critical) {
    const inside = 0.5 + share * (area - 0.5);
    const margin = critical * error;
    const shift = (margin ** 2 * (2 * area - 1)) / (2 * Math.max(inside * (1 - inside), 1e-12));
    const middle = area - clip(shift, -margin, margin);
    return [middle - margin, middle + margin];
  }

  // The average precision along rates that may fall or leave [0, 1].
  function unconstrainedArea(tpr, predicted, prevalence) {
    let area = 0;
    for (let j = 1; j < tpr.length; j++) {
      if (predicted[j] > ZERO) area += ((tpr[j] - tpr[j - 1]) * prevalence * tpr[j]) / predicted[j];
    }
    return area;
  }

  // Clip rates, and give each recall the lowest false positive rate of all points that reach it.
  // Changes both arrays and returns the order by recall.
  function makeMonotone(tpr, fpr) {
    const order = Uint16Array.from(tpr, (_, j) => j);
    for (let j = 0; j < tpr.length; j++) {
      const [y, x] = [clip(tpr[j], 0, 1), clip(fpr[j], 0, 1)];
      // Rates are nearly sorted, so insertion is fast.
      let i = j - 1;
      for (; i >= 0 && tpr[i] > y; i--) {
        [tpr[i + 1], fpr[i + 1], order[i + 1]] = [tpr[i], fpr[i], order[i]];
      }
      [tpr[i + 1], fpr[i + 1], order[i + 1]] = [y, x, j];
    }
    for (let j = fpr.length - 2; j >= 0; j--) fpr[j] = Math.min(fpr[j], fpr[j + 1]);
    return order;
  }

  // The average precision of monotone rates.
  function monotoneArea(tpr, fpr, prevalence) {
    let area = 0;
    for (let j = 0; j < tpr.length; j++) {
      const positive = prevalence * tpr[j];
      const predicted = positive + (1 - prevalence) * fpr[j];
      if (predicted > ZERO) area += ((tpr[j] - (j ? tpr[j - 1] : 0)) * positive) / predicted;
    }
    return area;
  }

  function averagePrecisionInterval(model, curves, value) {
    const { expected, nDraws, m, prevalence } = curves;
    // Center the draws at monotone rates. Rates that look too good hardly vary around their own
    // center.
    const [tpr, fpr] = ["tpr", "fpr"].map((name) => Float64Array.from(expected, (rate) => rate[name]));
    const shifts = [new Float64Array(m), new Float64Array(m)];
    makeMonotone(tpr, fpr).forEach((j, i) => {
      shifts[0][j] = tpr[i] - expected[j].tpr;
      shifts[1][j] = fpr[i] - expected[j].fpr;
    });
    const [constrained, unconstrained] = [[], []];
    for (let r = 0; r < nDraws; r++) {
      const [ownTpr, ownFpr, predicted] = [curves.tpr, curves.fpr, curves.predicted].map((values) =>
        draws.lineOf(values, m, r),
      );
      unconstrained.push(unconstrainedArea(ownTpr, predicted, prevalence[r]));
      const y = ownTpr.map((rate, j) => rate + shifts[0][j]);
      const x = ownFpr.map((rate, j) => rate + shifts[1][j]);
      makeMonotone(y, x);
      constrained.push(monotoneArea(y, x, prevalence[r]));
    }
    const weight = UNCONSTRAINED_VARIANCE;
    const error = Math.sqrt(
      (1 - weight) * standardError(constrained) ** 2 + weight * standardError(unconstrained) ** 2,
    );
    return normalInterval(value, error, model.decoded.critical_value, UNIT);
  }

  // ------------------------------------------------------------------ uncertain prior, as evaluated

  // Interpolate between the intervals at the thresholds in the page. `valueAt` returns the
  // unclipped value of a measure at a threshold.
  function interpolateIntervals({ thresholds, measures: ends }, measures, table, threshold, valueAt) {
    const rows = (t) => {
      const k = correction.stepAt(table, t);
      return correction.backgroundAt(table, k) + table.labeled[k];
    };
    let j = thresholds.findIndex((t) => t <= threshold);
    if (j < 0) j = thresholds.length - 1;
    const i = Math.max(j - 1, 0);
    const span = rows(thresholds[j]) - rows(thresholds[i]);
    const weight = span > 0 ? clip((rows(threshold) - rows(thresholds[i])) / span, 0, 1) : 1;
    const found = {};
    for (const measure of measures.filter(({ name }) => ends[name])) {
      const { name, low, high } = measure;
      const [to, from] = scaleOf(measure);
      const inside = (x) => clip(x, low, high);
      // Margins vary less than ends from threshold to threshold. Ratios are too noisy for that.
      const centerAt = (t) => (isRatio(measure) ? 0 : valueAt(name, t));
      const margins = [i, j].map((node) =>
        ends[name][node].map((end) =>
          end === null ? NaN : to(Number(end)) - centerAt(thresholds[node]),
        ),
      );
      // An infinite margin with weight 0 would be undefined.
      const part = (share, margin) => (share > 0 ? share * margin : 0);
      const [first, second] = [0, 1].map((side) => {
        const margin = part(1 - weight, margins[0][side]) + part(weight, margins[1][side]);
        return inside(from(centerAt(threshold) + margin));
      });
      const value = inside(valueAt(name, threshold));
      found[name] = [Math.min(first, value), Math.max(second, value)];
      if (found[name].some(Number.isNaN)) found[name] = NONE;
    }
    return found;
  }

  return {
    aucInterval,
    averagePrecisionInterval,
    interpolateIntervals,
    standardError,
    thresholdIntervals,
  };
})();
