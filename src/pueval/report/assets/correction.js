"use strict";

// The correction, for a page that has no Python: what rates.py, measures.py, curves.py and
// sensitivity/ compute, from the table of counts the page carries.
// tests/browser compares every number with theirs.
const correction = (() => {
  // Shares below this come from rounding.
  const ZERO = 1e-14;
  // Rounding may put a rate this far outside [0, 1].
  const ROUNDING = 1e-12;

  const clip = (value, low, high) => Math.min(Math.max(value, low), high);
  const inUnit = (value) => value > -ROUNDING && value < 1 + ROUNDING;

  // ------------------------------------------------------------------ counts

  // Columns of counts at descending scores become cumulative counts: at index k are the rows of
  // the first k scores.
  // `represented` are the positives that labeled rows stand for, where propensities tell.
  function makeTable({ score, labeled, unlabeled, negative, represented }) {
    const reach = (column) => {
      const sums = new Float64Array(score.length + 1);
      if (column) column.forEach((count, k) => (sums[k + 1] = sums[k] + count));
      return sums;
    };
    const table = {
      score,
      labeled: reach(labeled),
      unlabeled: reach(unlabeled),
      negative: reach(negative),
    };
    if (represented) {
      table.represented = reach(represented);
      table.nRepresented = table.represented[score.length];
    }
    table.nLabeled = table.labeled[score.length];
    table.nUnlabeled = table.unlabeled[score.length];
    table.nNegative = table.negative[score.length];
    table.n = table.nLabeled + table.nUnlabeled + table.nNegative;
    return table;
  }

  // The same rows with at most about so many scores, for pictures: all of the highest, and then
  // every so-many-th; rows at or above each of them are counted as before.
  function sketch(table, most) {
    const n = table.score.length;
    const head = Math.floor(most / 4);
    const step = Math.ceil((n - head) / (most - head));
    if (step < 2) return table;
    const kept = [0];
    for (let k = 1; k <= n; k++) if (k <= head || (n - k) % step === 0) kept.push(k);
    const few = { ...table, score: kept.slice(1).map((k) => table.score[k - 1]) };
    for (const name of ["labeled", "unlabeled", "negative", "represented"]) {
      if (table[name]) few[name] = Float64Array.from(kept, (k) => table[name][k]);
    }
    return few;
  }

  // Steps are a list of indices into the cumulative counts.
  const othersAt = (table, k) => table.unlabeled[k] + table.negative[k];

  // How many of the scores are at or above the threshold.
  function reached(table, threshold) {
    let low = 0;
    let high = table.score.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (table.score[middle] >= threshold) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Above everything, at every labeled score, and at the lowest score.
  function corners(table) {
    const found = [0];
    for (let k = 1; k <= table.score.length; k++) {
      if (table.labeled[k] > table.labeled[k - 1]) found.push(k);
    }
    const last = found[found.length - 1];
    if (othersAt(table, last) < othersAt(table, table.score.length)) found.push(table.score.length);
    return found;
  }

  const addsLabeled = (table, k) => k > 0 && table.labeled[k] > table.labeled[k - 1];
  const isJoint = (table, k) =>
    addsLabeled(table, k) && othersAt(table, k) > othersAt(table, k - 1);

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

  // Returns a function from an index of the cumulative counts to the corrected rates there.
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
        const known = nNegative * (table.negative[k] / nNegative);
        background = (nUnlabeled * unlabeled + known) / (nUnlabeled + nNegative);
      }
      let predicted = unlabeled;
      if (target === "population") {
        predicted = (nLabeled * labeled + (size - nLabeled) * background) / size;
      }
      // With propensities, all rows together are what positives are taken out of.
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

  // A contingency table of shares: hits and predicted positives among the target.
  function contingency({ tpr, predicted, prevalence: positive }, size = 1) {
    const hit = positive * tpr;
    return {
      truePositive: hit * size,
      falsePositive: (predicted - hit) * size,
      falseNegative: (positive - hit) * size,
      trueNegative: (1 - positive - (predicted - hit)) * size,
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
    geometric_mean: (t) => Math.sqrt(Math.max(recall(t), 0) * Math.max(specificity(t), 0)),
    fowlkes_mallows: (t) =>
      ratio(t.truePositive, Math.sqrt(Math.max(t.predicted, 0) * t.positive)),
    lift: (t) => ratio(precision(t), t.positive),
    positive_likelihood_ratio: (t) => ratio(recall(t), Math.max(1 - specificity(t), 0)),
    negative_likelihood_ratio: (t) => ratio(1 - recall(t), Math.max(specificity(t), 0)),
    false_positive_rate: (t) => ratio(t.falsePositive, 1 - t.positive),
    false_discovery_rate: (t) => ratio(t.falsePositive, t.predicted),
  };

  // Not clipped.
  const measure = (name, rate) => MEASURES[name](shares(rate));

  // ------------------------------------------------------------------ areas

  // From the naive AUC; with propensities, from how often a positive outscores any row.
  function directAuc(table, area, mixture) {
    const prior = table.represented
      ? prevalence(table, mixture, "population")
      : backgroundPrior(table, mixture);
    const contrast = mixture.purity - prior;
    return (area - (1 - contrast) / 2) / contrast;
  }

  // Insert, before some of the steps, the counts just above their scores.
  const unfold = (steps, wanted) => steps.flatMap((k) => (wanted(k) ? [k - 1, k] : [k]));

  // Rates in the order of recall, within [0, 1], each with the lowest false positive rate of its
  // own threshold and of all that reach more; and the precision there.
  function legalRates(table, mixture, target) {
    const rate = rates(table, mixture, target);
    const line = corners(table)
      .map(rate)
      .map((there) => ({ ...there, tpr: clip(there.tpr, 0, 1), fpr: clip(there.fpr, 0, 1) }))
      .sort((a, b) => a.tpr - b.tpr);
    let lowest = 1;
    for (let i = line.length - 1; i >= 0; i--) {
      const there = line[i];
      lowest = Math.min(lowest, there.fpr);
      const predicted = there.prevalence * there.tpr + (1 - there.prevalence) * lowest;
      Object.assign(there, { fpr: lowest, predicted });
      there.precision = precision(shares(there));
    }
    return line;
  }

  function averagePrecision(table, mixture, target) {
    const line = legalRates(table, mixture, target);
    let area = 0;
    for (let i = 0; i < line.length; i++) {
      const gain = line[i].tpr - (i ? line[i - 1].tpr : 0);
      if (!Number.isNaN(line[i].precision)) area += gain * line[i].precision;
    }
    return area;
  }

  // ------------------------------------------------------------------ curves

  // Where a segment enters and leaves the unit square, as shares of its length.
  function cut(start, end) {
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

  // The part of the line through the rates that lies in the unit square. Corners that share their
  // score with rows of another kind are reached on a straight line, which goes right and up so far.
  function insideSquare(line, joint) {
    const inside = line.map(({ fpr, tpr }) => inUnit(fpr) && inUnit(tpr));
    const reached = line.map((rate, i) => {
      if (i === 0 || !joint[i]) return [0, 0];
      const [right, up] = [rate.fpr - line[i - 1].fpr, rate.tpr - line[i - 1].tpr];
      return right > 0 && up > 0 ? [right, up] : [0, 0];
    });
    const points = [];
    line.forEach((rate, i) => {
      if (inside[i]) {
        const [right, up] = reached[i];
        points.push({ x: rate.fpr, y: rate.tpr, threshold: rate.threshold, right, up });
      }
      if (i + 1 === line.length || (inside[i] && inside[i + 1])) return;
      const next = line[i + 1];
      const [enter, leave] = cut(rate, next);
      if (enter >= leave) return;
      const crossing = (part, [right, up]) =>
        points.push({
          x: rate.fpr + part * (next.fpr - rate.fpr),
          y: rate.tpr + part * (next.tpr - rate.tpr),
          threshold: next.threshold,
          right: part * right,
          up: part * up,
        });
      if (enter > 0) crossing(enter, [0, 0]);
      if (leave < 1) crossing(leave, reached[i + 1]);
    });
    for (const point of points) {
      point.x = clip(point.x, 0, 1);
      point.y = clip(point.y, 0, 1);
    }
    return points;
  }

  // A legal ROC curve: every true positive rate with the lowest false positive rate that reaches it.
  function rocCurve(table, mixture, target) {
    const rate = rates(table, mixture, target);
    let steps = corners(table);
    const outside = steps.map((k) => {
      const { fpr, tpr } = rate(k);
      return !(inUnit(fpr) && inUnit(tpr));
    });
    const split = new Set(
      steps.filter(
        (k, i) => (addsLabeled(table, k) && (outside[i] || outside[i - 1])) || isJoint(table, k),
      ),
    );
    const unfolded = unfold(steps, (k) => split.has(k));
    // The counts just above a score are a step of their own, even if an earlier one equals it.
    const joint = steps.flatMap((k) =>
      split.has(k) ? [false, isJoint(table, k)] : [isJoint(table, k)],
    );
    steps = unfolded;
    const points = insideSquare(steps.map(rate), joint);
    Object.assign(points[points.length - 1], { x: 1, y: 1 });
    points.sort((a, b) => a.y - b.y);
    let lowest = 1;
    for (let i = points.length - 1; i >= 0; i--) {
      points[i].lowest = lowest = Math.min(lowest, points[i].x);
    }
    const lines = points.some(({ right }) => right > 0);
    const curve = [];
    let last = null;
    for (const point of points) {
      let [x, y, lean] = [point.lowest, point.y, 0];
      if (lines) {
        // Of corners that others undercut only lines are left, to where they are undercut.
        const over = point.x - point.lowest;
        if (over !== 0 && over >= point.right) continue;
        lean = point.up > 0 ? point.right / point.up : 0;
        if (lean > 0) y -= over / lean;
      }
      if (last) {
        y = Math.max(y, last.y);
        // The foot of the corner is as high as the corner before: below it, or on its line.
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
    return legalRates(table, mixture, target)
      .map(({ tpr, precision, threshold }, i) => ({ x: tpr, y: i ? precision : 1, threshold }))
      .filter(({ y }) => !Number.isNaN(y));
  }

  // ------------------------------------------------------------------ labeling bias

  // The odds of a rate among the positives may be wrong by a factor.
  const rateBounds = (rate, bias) => [
    rate / (rate + bias * (1 - rate)),
    (bias * rate) / (bias * rate + 1 - rate),
  ];

  // The rates at the two ends of what a labeling bias allows.
  function boundedRates(table, mixture, bias) {
    const rate = rates(table, mixture, "population");
    return (k) => {
      const known = rate(k);
      const positive = known.prevalence;
      // All labeled rows are positives, the others are among the unlabeled rows.
      const positives = positive * table.n;
      const [labeled, unlabeled] = [table.labeled[k], table.unlabeled[k]];
      const below = table.nLabeled - labeled;
      const least = Math.max(labeled, positives - below - (table.nUnlabeled - unlabeled));
      const most = Math.min(labeled + unlabeled, positives - below);
      const low = Math.min(least / positives, known.tpr);
      const high = Math.max(most / positives, known.tpr);
      return rateBounds(labeled / table.nLabeled, bias).map((bound) => {
        const tpr = clip(bound, low, high);
        return { ...known, tpr, fpr: (known.predicted - positive * tpr) / (1 - positive) };
      });
    };
  }

  function measureBounds(name, table, mixture, bias, k, low, high) {
    const known = measure(name, rates(table, mixture, "population")(k));
    if (Number.isNaN(known)) return [NaN, NaN];
    const ends = boundedRates(table, mixture, bias)(k).map((rate) => {
      const end = measure(name, rate);
      // Only ratios that grow without bound are undefined at the end.
      return Number.isNaN(end) ? high : clip(end, low, high);
    });
    return ends[0] <= ends[1] ? ends : [ends[1], ends[0]];
  }

  // The mean placement of the positives is extreme if all labeled rows on one side of a cut
  // have weight `bias` and all others 1; no more than there are hidden positives for.
  function aucBounds(table, mixture, bias) {
    const rows = [];
    for (let k = 1; k <= table.score.length; k++) {
      const count = table.labeled[k] - table.labeled[k - 1];
      if (count > 0) {
        const above = table.labeled[k - 1] + othersAt(table, k - 1);
        const here = table.labeled[k] + othersAt(table, k);
        rows.push([count, (table.n - (above + here) / 2) / table.n]);
      }
    }
    const positive = prevalence(table, mixture, "population");
    const hidden = Math.max(positive * table.n - table.nLabeled, 0);
    const most = bias > 1 ? hidden / (bias - 1) : Infinity;
    const sum = rows.reduce((all, [count, placement]) => all + count * placement, 0);
    // The means with more and more rows heavy, in this order.
    const means = (ordered) => {
      let [heavy, heavySum] = [0, 0];
      const mean = () => (sum + (bias - 1) * heavySum) / (table.nLabeled + (bias - 1) * heavy);
      const found = [mean()];
      for (const [count, placement] of ordered) {
        const part = Math.min(count, most - heavy);
        heavy += part;
        heavySum += part * placement;
        found.push(mean());
      }
      return found;
    };
    const auc = (placement) => clip((placement - positive / 2) / (1 - positive), 0, 1);
    const high = means(rows).reduce((a, b) => Math.max(a, b));
    const low = means(rows.reverse()).reduce((a, b) => Math.min(a, b));
    return [auc(low), auc(high)];
  }

  // ------------------------------------------------------------------ feasibility

  const dilution = (table) => (table.nUnlabeled + table.nNegative) / table.nUnlabeled;

  // The largest prior that the ranking allows, from the two ratios that limit it.
  function largestPrior(table, { other_to_labeled, labeled_to_other }, purity) {
    let limit = purity * other_to_labeled;
    if (purity < 1) limit = Math.min(limit, 1 - (1 - purity) / labeled_to_other);
    return clip(limit * dilution(table), 0, 1);
  }

  // The same, solved for the purity: the least that goes with a prior; above 1 if none does.
  function leastPurity(table, { other_to_labeled, labeled_to_other }, prior) {
    const background = prior / dilution(table);
    return Math.max(1 - labeled_to_other * (1 - background), background / other_to_labeled, 0);
  }

  return {
    MEASURES,
    aucBounds,
    averagePrecision,
    backgroundPrior,
    boundedRates,
    clip,
    contingency,
    corners,
    correctPair,
    directAuc,
    labelFrequency,
    largestPrior,
    leastPurity,
    makeTable,
    measure,
    measureBounds,
    precisionRecallCurve,
    prevalence,
    rates,
    reached,
    rocCurve,
    sketch,
    thresholdAt,
  };
})();
