"use strict";

// The correction in JavaScript: what pueval.core computes, from the counts in the page. tests/report
// compares every number with Python's, and fails if a measure is missing.
const correction = (() => {
  // Smaller shares are rounding errors.
  const ZERO = 1e-14;
  // Rounding may move a rate this far outside [0, 1].
  const ROUNDING = 1e-12;

  const clip = (value, low, high) => Math.min(Math.max(value, low), high);
  const inUnit = (value) => value > -ROUNDING && value < 1 + ROUNDING;

  // ------------------------------------------------------------------ counts

  // Turn counts at descending scores into cumulative counts: index k holds the rows at the first k
  // scores. With propensities, `represented` is the number of positives that labeled rows represent;
  // of an audited model, it is the estimated number of positives. `labeledRows` is the number of
  // labeled rows, and `independentWeight` the weight that is worth one independent row.
  function makeTable(columns) {
    const { score, labeled, unlabeled, negative, represented, audited = false } = columns;
    const { labeledRows, independentWeight } = columns;
    const cumulate = (column) => {
      const sums = new Float64Array(score.length + 1);
      if (column) column.forEach((count, k) => (sums[k + 1] = sums[k] + count));
      return sums;
    };
    const table = {
      score,
      audited,
      labeledRows,
      independentWeight,
      labeled: cumulate(labeled),
      unlabeled: cumulate(unlabeled),
      negative: cumulate(negative),
    };
    if (represented) {
      table.represented = cumulate(represented);
      table.nRepresented = table.represented[score.length];
    }
    table.nLabeled = table.labeled[score.length];
    table.nUnlabeled = table.unlabeled[score.length];
    table.nNegative = table.negative[score.length];
    table.n = table.nLabeled + table.nUnlabeled + table.nNegative;
    return table;
  }

  // Thin a table for plots: keep the highest scores, and then every step-th. The cumulative counts at
  // the remaining scores do not change.
  function thin(table, mostScores) {
    const n = table.score.length;
    const head = Math.floor(mostScores / 4);
    const step = Math.ceil((n - head) / (mostScores - head));
    if (step < 2) return table;
    const kept = [0];
    for (let k = 1; k <= n; k++) if (k <= head || (n - k) % step === 0) kept.push(k);
    const thinned = { ...table, score: kept.slice(1).map((k) => table.score[k - 1]) };
    for (const name of ["labeled", "unlabeled", "negative", "represented"]) {
      if (table[name]) thinned[name] = Float64Array.from(kept, (k) => table[name][k]);
    }
    return thinned;
  }

  // A step is an index k into the cumulative counts.
  const backgroundAt = (table, k) => table.unlabeled[k] + table.negative[k];

  // The step of a threshold: the number of scores at or above it.
  function stepAt(table, threshold) {
    let low = 0;
    let high = table.score.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (table.score[middle] >= threshold) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  const increases = (column, k) => column[k] > column[k - 1];

  // The steps above all scores, at every labeled score, and at the lowest score. After an audit, also
  // at every score with estimated positives.
  function corners(table) {
    const steps = [0];
    const lowest = table.score.length;
    const columns = table.audited ? [table.labeled, table.represented] : [table.labeled];
    for (let k = 1; k <= lowest; k++) {
      if (columns.some((column) => increases(column, k))) steps.push(k);
    }
    const last = steps[steps.length - 1];
    if (backgroundAt(table, last) < backgroundAt(table, lowest)) steps.push(lowest);
    return steps;
  }

  const addsLabeled = (table, k) => k > 0 && increases(table.labeled, k);
  // After an audit, positives and negatives of one score are spread evenly.
  const isTied = (table, k) =>
    !table.audited &&
    addsLabeled(table, k) &&
    backgroundAt(table, k) > backgroundAt(table, k - 1);

  const thresholdAt = (table, k) => (k ? table.score[k - 1] : Infinity);

  // ------------------------------------------------------------------ mixture and rates

  const backgroundPrior = (table, { prior }) =>
    (prior * table.nUnlabeled) / (table.nUnlabeled + table.nNegative);

  function prevalence(table, mixture, target) {
    if (target === "unlabeled") return mixture.prior;
    return (mixture.purity * table.nLabeled + mixture.prior * table.nUnlabeled) / table.n;
  }

  function labelFrequency(table, { prior, purity }) {
    const labeled = purity * table.nLabeled;
    return labeled / (labeled + prior * table.nUnlabeled);
  }

  // Solve labeled = purity·tpr + (1 − purity)·fpr and background = prior·tpr + (1 − prior)·fpr.
  function correctPair(labeled, background, purity, prior) {
    const contrast = purity - prior;
    if (purity === 1) {
      return [labeled, (prior ? background - prior * labeled : background) / contrast];
    }
    return [
      ((1 - prior) * labeled - (1 - purity) * background) / contrast,
      (purity * background - prior * labeled) / contrast,
    ];
  }

  // Return a function from a step to the corrected rates at it.
  function rates(table, mixture, target) {
    const { nLabeled, nUnlabeled, nNegative } = table;
    const prior = backgroundPrior(table, mixture);
    const positive = prevalence(table, mixture, target);
    const size = target === "population" ? table.n : nUnlabeled;
    return (k) => {
      const labeled = nLabeled ? table.labeled[k] / nLabeled : 0;
      const unlabeled = nUnlabeled ? table.unlabeled[k] / nUnlabeled : 0;
      let background = unlabeled;
      if (nNegative) {
        const negative = nNegative * (table.negative[k] / nNegative);
        background = (nUnlabeled * unlabeled + negative) / (nUnlabeled + nNegative);
      }
      let predicted = unlabeled;
      if (target === "population") {
        predicted = (nLabeled * labeled + (size - nLabeled) * background) / size;
      }
      // With propensities, positives are separated from all rows, not from the background.
      const [tpr, fpr] = table.represented
        ? correctPair(table.represented[k] / table.nRepresented, predicted, mixture.purity, positive)
        : correctPair(labeled, background, mixture.purity, prior);
      if (target === "unlabeled" && nNegative) predicted = positive * tpr + (1 - positive) * fpr;
      return { threshold: thresholdAt(table, k), tpr, fpr, predicted, prevalence: positive, size };
    };
  }

  // ------------------------------------------------------------------ measures

  const ratio = (numerator, denominator) =>
    Math.abs(denominator) > ZERO ? numerator / denominator : NaN;

  // The contingency table of a target with `size` rows.
  function contingency({ tpr, predicted, prevalence: positive }, size = 1) {
    const truePositive = positive * tpr;
    return {
      truePositive: truePositive * size,
      falsePositive: (predicted - truePositive) * size,
      falseNegative: (positive - truePositive) * size,
      trueNegative: (1 - positive - (predicted - truePositive)) * size,
    };
  }

  const shares = (rate) => {
    const cells = contingency(rate);
    const positive = rate.prevalence;
    return { ...cells, predicted: rate.predicted, positive, rejected: 1 - rate.predicted };
  };

  const recall = (t) => ratio(t.truePositive, t.positive);
  const specificity = (t) => ratio(t.trueNegative, 1 - t.positive);
  const precision = (t) => ratio(t.truePositive, t.predicted);
  const negativePredictiveValue = (t) => ratio(t.trueNegative, t.rejected);
  const covariance = (t) => t.truePositive - t.predicted * t.positive;

  // One entry per measure of core/measures.py, by its name there.
  const MEASURES = {
    accuracy: (t) => t.truePositive + t.trueNegative,
    balanced_accuracy: (t) => (recall(t) + specificity(t)) / 2,
    precision,
    recall,
    specificity,
    negative_predictive_value: negativePredictiveValue,
    f1: (t) => ratio(2 * t.truePositive, t.predicted + t.positive),
    matthews_corrcoef: (t) => {
      const scale = t.predicted * t.rejected * t.positive * (1 - t.positive);
      return ratio(covariance(t), Math.sqrt(Math.max(scale, 0)));
    },
    jaccard: (t) => ratio(t.truePositive, t.predicted + t.falseNegative),
    cohen_kappa: (t) => {
      const expected = t.predicted * t.positive + t.rejected * (1 - t.positive);
      return ratio(2 * covariance(t), 1 - expected);
    },
    informedness: (t) => recall(t) + specificity(t) - 1,
    markedness: (t) => precision(t) + negativePredictiveValue(t) - 1,
    geometric_mean: (t) => {
      const [first, second] = [recall(t), specificity(t)];
      // The square root would magnify a rounding error of 1e-16 to 1e-8.
      const vanishes = first <= ZERO || second <= ZERO;
      return vanishes ? 0 * first * second : Math.sqrt(first * second);
    },
    fowlkes_mallows: (t) =>
      ratio(t.truePositive, Math.sqrt(Math.max(t.predicted, 0) * t.positive)),
    lift: (t) => ratio(precision(t), t.positive),
    positive_likelihood_ratio: (t) => ratio(recall(t), Math.max(1 - specificity(t), 0)),
    negative_likelihood_ratio: (t) => ratio(1 - recall(t), Math.max(specificity(t), 0)),
    false_positive_rate: (t) => ratio(t.falsePositive, 1 - t.positive),
    false_discovery_rate: (t) => ratio(t.falsePositive, t.predicted),
  };

  // The unclipped value of a measure.
  const measure = (name, rate) => MEASURES[name](shares(rate));

  // ------------------------------------------------------------------ areas

  // `area` is the naive AUC; with propensities or an audit, the mean placement of the positives.
  function directAuc(table, area, mixture, target) {
    const prior = table.represented
      ? prevalence(table, mixture, target)
      : backgroundPrior(table, mixture);
    const contrast = mixture.purity - prior;
    return (area - (1 - contrast) / 2) / contrast;
  }

  // Insert the preceding step before some of the steps.
  const unfold = (steps, selected) => steps.flatMap((k) => (selected(k) ? [k - 1, k] : [k]));

  // Rates in [0, 1], sorted by recall. Each has the lowest false positive rate of all thresholds
  // with the same or a higher recall, and the precision that follows.
  function monotoneRates(points) {
    const line = points
      .map((point) => ({ ...point, tpr: clip(point.tpr, 0, 1), fpr: clip(point.fpr, 0, 1) }))
      .sort((a, b) => a.tpr - b.tpr);
    let lowest = 1;
    for (let i = line.length - 1; i >= 0; i--) {
      const point = line[i];
      lowest = Math.min(lowest, point.fpr);
      const predicted = point.prevalence * point.tpr + (1 - point.prevalence) * lowest;
      Object.assign(point, { fpr: lowest, predicted });
      point.precision = precision(shares(point));
    }
    return line;
  }

  const cornerRates = (table, mixture, target) =>
    corners(table).map(rates(table, mixture, target));

  const averagePrecision = (table, mixture, target) =>
    averagePrecisionOf(cornerRates(table, mixture, target));

  // The average precision along rates at descending thresholds.
  function averagePrecisionOf(points) {
    const line = monotoneRates(points);
    let area = 0;
    for (let i = 0; i < line.length; i++) {
      const gain = line[i].tpr - (i ? line[i - 1].tpr : 0);
      if (!Number.isNaN(line[i].precision)) area += gain * line[i].precision;
    }
    return area;
  }

  // ------------------------------------------------------------------ curves

  // Where a segment enters and leaves the unit square, as fractions of its length.
  function clipSegment(start, end) {
    let [enter, leave] = [0, 1];
    for (const [from, to] of [
      [start.fpr, end.fpr],
      [1 - start.fpr, 1 - end.fpr],
      [start.tpr, end.tpr],
      [1 - start.tpr, 1 - end.tpr],
    ]) {
      if (from === to) {
        if (from < 0) leave = -1;
        continue;
      }
      const at = from / (from - to);
      if (to > from) enter = Math.max(enter, at);
      else leave = Math.min(leave, at);
    }
    return [enter, leave];
  }

  // The line through the rates, moved into the unit square. A tied corner, whose score labeled and
  // background rows share, ends a slope; `right` and `up` are its extent. Corners outside move to
  // the nearest point of the square.
  function insideSquare(line, tied) {
    const inside = line.map(({ fpr, tpr }) => inUnit(fpr) && inUnit(tpr));
    const slopes = line.map((rate, i) => {
      if (i === 0 || !tied[i]) return [0, 0];
      const [right, up] = [rate.fpr - line[i - 1].fpr, rate.tpr - line[i - 1].tpr];
      return right > 0 && up > 0 ? [right, up] : [0, 0];
    });
    const points = [];
    line.forEach((rate, i) => {
      const [right, up] = inside[i] ? slopes[i] : [0, 0];
      points.push({ x: rate.fpr, y: rate.tpr, threshold: rate.threshold, right, up });
      if (i + 1 === line.length || (inside[i] && inside[i + 1])) return;
      const next = line[i + 1];
      const [enter, leave] = clipSegment(rate, next);
      if (enter >= leave) return;
      const addCrossing = (part, [right, up]) =>
        points.push({
          x: rate.fpr + part * (next.fpr - rate.fpr),
          y: rate.tpr + part * (next.tpr - rate.tpr),
          threshold: next.threshold,
          right: part * right,
          up: part * up,
        });
      if (enter > 0) addCrossing(enter, [0, 0]);
      if (leave < 1) addCrossing(leave, slopes[i + 1]);
    });
    for (const point of points) {
      point.x = clip(point.x, 0, 1);
      point.y = clip(point.y, 0, 1);
    }
    return points;
  }

  // A monotone ROC curve: each true positive rate with the lowest false positive rate that has it.
  function rocCurve(table, mixture, target) {
    const rate = rates(table, mixture, target);
    let steps = corners(table);
    const outside = steps.map((k) => {
      const { fpr, tpr } = rate(k);
      return !(inUnit(fpr) && inUnit(tpr));
    });
    const split = new Set(
      steps.filter(
        (k, i) => (addsLabeled(table, k) && (outside[i] || outside[i - 1])) || isTied(table, k),
      ),
    );
    const unfolded = unfold(steps, (k) => split.has(k));
    // An inserted step is never tied, even if it equals an earlier one.
    const tied = steps.flatMap((k) =>
      split.has(k) ? [false, isTied(table, k)] : [isTied(table, k)],
    );
    steps = unfolded;
    const points = insideSquare(steps.map(rate), tied);
    Object.assign(points[points.length - 1], { x: 1, y: 1 });
    points.sort((a, b) => a.y - b.y);
    let lowest = 1;
    for (let i = points.length - 1; i >= 0; i--) {
      points[i].lowest = lowest = Math.min(lowest, points[i].x);
    }
    const sloped = points.some(({ right }) => right > 0);
    const curve = [];
    let last = null;
    for (const point of points) {
      let [x, y, lean] = [point.lowest, point.y, 0];
      if (sloped) {
        // Of a corner to the right of a later one, only the part of its slope to the left remains.
        const excess = point.x - point.lowest;
        if (excess !== 0 && excess >= point.right) continue;
        lean = point.up > 0 ? point.right / point.up : 0;
        if (lean > 0) y -= excess / lean;
      }
      if (last) {
        y = Math.max(y, last.y);
        // The foot of a corner has the height of the corner before, on its vertical or its slope.
        const foot = Math.max(x - lean * (y - last.y), last.x);
        if (y > last.y && foot > last.x + ROUNDING) {
          curve.push({ x: foot, y: last.y, threshold: point.threshold });
        }
      }
      if (!last || y > last.y || x > last.x) curve.push({ x, y, threshold: point.threshold });
      last = { x, y };
    }
    return curve;
  }

  function precisionRecallCurve(table, mixture, target) {
    return monotoneRates(cornerRates(table, mixture, target))
      .map(({ tpr, precision, threshold }, i) => ({ x: tpr, y: i ? precision : 1, threshold }))
      .filter(({ y }) => !Number.isNaN(y));
  }

  return {
    MEASURES,
    ZERO,
    averagePrecision,
    averagePrecisionOf,
    backgroundAt,
    backgroundPrior,
    clip,
    contingency,
    corners,
    correctPair,
    directAuc,
    labelFrequency,
    makeTable,
    measure,
    precisionRecallCurve,
    prevalence,
    rates,
    rocCurve,
    shares,
    stepAt,
    thin,
    thresholdAt,
  };
})();
