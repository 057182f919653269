"use strict";

// Pointwise confidence bands at the sliders in JavaScript: what pueval.uncertainty.bands computes for
// known prior and purity, from fewer resamples.
const bands = (() => {
  const { ZERO, clip } = correction;
  // The same constants as in bands.py.
  const [UNCLIPPED_VARIANCE, LARGEST_VARIANCE, LEAST_ROWS] = [0.2, 0.25, 5];
  const PLACES = [
    ...Array.from({ length: 20 }, (_, i) => i * 0.005),
    ...Array.from({ length: 91 }, (_, i) => 0.1 + i * 0.01),
  ];

  function monotone(values) {
    let largest = 0;
    return values.map((value) => (largest = Math.max(largest, clip(value, 0, 1))));
  }

  // Heights of the line through the points (x, y), x ascending; vertical parts read from the top.
  function lineHeights(places, x, y) {
    let j = 0;
    return places.map((place) => {
      while (j < x.length && x[j] <= place) j += 1;
      if (j === 0) return y[0];
      if (j === x.length) return y[j - 1];
      return y[j - 1] + ((y[j] - y[j - 1]) * (place - x[j - 1])) / (x[j] - x[j - 1]);
    });
  }

  // Heights of a step curve: at the first point at or beyond each place.
  function stepHeights(places, x, y) {
    let j = 0;
    return places.map((place) => {
      while (j < x.length - 1 && x[j] < place) j += 1;
      return y[j];
    });
  }

  function variances(lines) {
    return lines[0].map((_, i) => intervals.standardError(lines.map((line) => line[i])) ** 2);
  }

  // Wilson's limit of a share: the upper, or the lower for a negative critical value.
  function wilsonLimit(share, rows, critical) {
    const square = critical ** 2 / rows;
    const margin = Math.sqrt(square * share * (1 - share) + square ** 2 / 4);
    return (share + square / 2 + Math.sign(critical) * margin) / (1 + square);
  }

  const asBand = (places, low, high) =>
    [low, high].map((side) => side.map((y, i) => ({ x: places[i], y: clip(y, 0, 1) })));

  // The heights of each draw; `heights` is a function of its rates and its prevalence.
  const drawnHeights = ({ nDraws, m, tpr, fpr, predicted, prevalence }, heights) =>
    Array.from({ length: nDraws }, (_, r) =>
      heights(...[tpr, fpr, predicted].map((values) => draws.lineOf(values, m, r)), prevalence[r]),
    );

  function rocBand(model, mixture, curves, curve) {
    const { critical_value: critical, n_labeled: nLabeled } = model.decoded;
    const heights = (tpr, fpr) => lineHeights(PLACES, monotone(fpr), monotone(tpr));
    const value = lineHeights(PLACES, curve.map(({ x }) => x), curve.map(({ y }) => y));
    const center = heights(
      curves.expected.map(({ tpr }) => tpr),
      curves.expected.map(({ fpr }) => fpr),
    );
    const prior = correction.backgroundPrior(model.table, mixture);
    const informative = (nLabeled * (mixture.purity - prior)) / (1 - prior);
    let [low, high] = [[], []];
    variances(drawnHeights(curves, heights)).forEach((variance, i) => {
      // No rate is known better than to half a labeled row.
      const error = Math.max(Math.sqrt(variance), 0.5 / nLabeled);
      // At the steep start of a curve both rates vary, as a share of fewer rows would.
      const rows = clip((center[i] * (1 - center[i])) / error ** 2, 1, nLabeled);
      const margin = critical * error;
      low.push(Math.min(value[i] - margin, wilsonLimit(value[i], informative, -critical)));
      high.push(Math.max(value[i] + margin, wilsonLimit(value[i], rows, critical)));
    });
    let [largest, smallest] = [-Infinity, Infinity];
    low = low.map((y) => (largest = Math.max(largest, y)));
    high = high.reverse().map((y) => (smallest = Math.min(smallest, y))).reverse();
    // The ends of a curve are known, but for the height of its start.
    [low[0], low[low.length - 1], high[high.length - 1]] = [0, 1, 1];
    return asBand(
      PLACES,
      low.map((y, i) => Math.min(y, value[i])),
      high.map((y, i) => Math.max(y, value[i])),
    );
  }

  function precisionRecallBand(model, mixture, curves, curve) {
    const { critical_value: critical, n_labeled: nLabeled } = model.decoded;
    // With fewer labeled rows at or above a threshold, precision is mostly noise.
    const least = Math.min(LEAST_ROWS / nLabeled, 0.5);
    const places = PLACES.filter((place) => place >= least);
    // Where nothing is predicted positive, precision is 1.
    const precision = (tpr, predicted, prevalence) =>
      tpr.map((rate, j) => (predicted[j] > ZERO ? (prevalence * rate) / predicted[j] : 1));
    const unclipped = drawnHeights(curves, (tpr, fpr, predicted, prevalence) =>
      stepHeights(places, monotone(tpr), precision(tpr, predicted, prevalence)),
    );
    const clipped = variances(unclipped.map((line) => line.map((y) => clip(y, 0, 1))));
    const value = stepHeights(places, curve.map(({ x }) => x), curve.map(({ y }) => y));
    const error = variances(unclipped).map((variance, i) => {
      const wide = Math.min(variance, LARGEST_VARIANCE);
      const mixed = (1 - UNCLIPPED_VARIANCE) * clipped[i] + UNCLIPPED_VARIANCE * wide;
      return Math.max(Math.sqrt(mixed), 0.5 / nLabeled);
    });
    return asBand(
      places,
      value.map((y, i) => y - critical * error[i]),
      value.map((y, i) => y + critical * error[i]),
    );
  }

  return { pr: precisionRecallBand, roc: rocBand };
})();
