"use strict";

// Labeling bias and feasibility in JavaScript: what pueval.sensitivity computes, from the counts in
// the page. tests/report compares every number with Python's.
const sensitivity = (() => {
  const { backgroundAt, clip, measure, prevalence, rates } = correction;

  // ------------------------------------------------------------------ labeling bias

  // The odds of a rate among the positives may be off by the factor `bias`.
  const rateBounds = (rate, bias) => [
    rate / (rate + bias * (1 - rate)),
    (bias * rate) / (bias * rate + 1 - rate),
  ];

  // The rates at both ends of what a labeling bias allows.
  function boundedRates(table, mixture, bias) {
    const rate = rates(table, mixture, "population");
    return (k) => {
      const unbiased = rate(k);
      const positive = unbiased.prevalence;
      // All labeled rows are positive; the other positives are among the unlabeled rows.
      const positives = positive * table.n;
      const [labeled, unlabeled] = [table.labeled[k], table.unlabeled[k]];
      const below = table.nLabeled - labeled;
      const least = Math.max(labeled, positives - below - (table.nUnlabeled - unlabeled));
      const most = Math.min(labeled + unlabeled, positives - below);
      const low = Math.min(least / positives, unbiased.tpr);
      const high = Math.max(most / positives, unbiased.tpr);
      return rateBounds(labeled / table.nLabeled, bias).map((bound) => {
        const tpr = clip(bound, low, high);
        return { ...unbiased, tpr, fpr: (unbiased.predicted - positive * tpr) / (1 - positive) };
      });
    };
  }

  function measureBounds(name, table, mixture, bias, k, low, high) {
    const unbiased = measure(name, rates(table, mixture, "population")(k));
    if (Number.isNaN(unbiased)) return [NaN, NaN];
    const ends = boundedRates(table, mixture, bias)(k).map((rate) => {
      const end = measure(name, rate);
      // Only unbounded ratios are undefined at an end.
      return Number.isNaN(end) ? high : clip(end, low, high);
    });
    return ends[0] <= ends[1] ? ends : [ends[1], ends[0]];
  }

  // The mean placement of the positives is extreme if all labeled rows on one side of some score have
  // weight `bias` and the others weight 1, as far as there are enough unlabeled positives.
  function aucBounds(table, mixture, bias) {
    const rows = [];
    for (let k = 1; k <= table.score.length; k++) {
      const count = table.labeled[k] - table.labeled[k - 1];
      if (count > 0) {
        const above = table.labeled[k - 1] + backgroundAt(table, k - 1);
        const atOrAbove = table.labeled[k] + backgroundAt(table, k);
        rows.push([count, (table.n - (above + atOrAbove) / 2) / table.n]);
      }
    }
    const positive = prevalence(table, mixture, "population");
    const hidden = Math.max(positive * table.n - table.nLabeled, 0);
    const most = bias > 1 ? hidden / (bias - 1) : Infinity;
    const sum = rows.reduce((all, [count, placement]) => all + count * placement, 0);
    // The weighted means as more and more rows, in this order, get weight `bias`.
    const means = (ordered) => {
      let [heavy, heavySum] = [0, 0];
      const mean = () => (sum + (bias - 1) * heavySum) / (table.nLabeled + (bias - 1) * heavy);
      const results = [mean()];
      for (const [count, placement] of ordered) {
        const part = Math.min(count, most - heavy);
        heavy += part;
        heavySum += part * placement;
        results.push(mean());
      }
      return results;
    };
    const auc = (placement) => clip((placement - positive / 2) / (1 - positive), 0, 1);
    const high = means(rows).reduce((a, b) => Math.max(a, b));
    const low = means(rows.reverse()).reduce((a, b) => Math.min(a, b));
    return [auc(low), auc(high)];
  }

  // ------------------------------------------------------------------ feasibility

  const dilution = (table) => (table.nUnlabeled + table.nNegative) / table.nUnlabeled;

  // The largest prior that the ranking allows, from the bounds of the share ratios.
  function largestPrior(table, { other_to_labeled, labeled_to_other }, purity) {
    let limit = purity * other_to_labeled;
    if (purity < 1) limit = Math.min(limit, 1 - (1 - purity) / labeled_to_other);
    return clip(limit * dilution(table), 0, 1);
  }

  // The smallest purity that the ranking allows with a prior; above 1 if there is none.
  function leastPurity(table, { other_to_labeled, labeled_to_other }, prior) {
    const background = prior / dilution(table);
    return Math.max(1 - labeled_to_other * (1 - background), background / other_to_labeled, 0);
  }

  return { aucBounds, boundedRates, largestPrior, leastPurity, measureBounds };
})();
