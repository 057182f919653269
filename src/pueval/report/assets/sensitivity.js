"use strict";

// Feasibility in JavaScript: what pueval.sensitivity.feasibility computes, from the counts in the
// page. tests/report compares every number with Python's.
const sensitivity = (() => {
  const { clip } = correction;

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

  return { largestPrior, leastPurity };
})();
