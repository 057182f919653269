"use strict";

// Resampled shares of rows, from the bytes in the page: see pueval.report._interval_draws. "Labeled"
// and "background" are the two shares on which the correction depends; with propensities, these are
// the shares of the positives and of all rows.
const draws = (() => {
  const { clip } = correction;
  // Resampled prevalences are at least this far from 0 and 1.
  const SMALLEST_PREVALENCE = 1e-9;

  // Shares at all thresholds of the draws, one line per draw.
  function decodeKind({ data, expected, unit, deviations }, nDraws, rows) {
    const bytes = Int8Array.from(atob(deviations), (character) => character.charCodeAt(0));
    const m = data.length;
    const deviation = Float64Array.from(bytes, (byte, i) => byte * unit[i % m]);
    const variance = new Float64Array(m);
    for (let j = 0; j < m; j++) {
      let sum = 0;
      for (let r = 0; r < nDraws; r++) sum += deviation[r * m + j] ** 2;
      variance[j] = sum / nDraws;
    }
    return { data, expected, deviation, variance, unit, rows };
  }

  // A drawn share, as a share of whole rows. Bytes are not exact, and no rows must stay no rows.
  function wholeRows(share, rows, unit) {
    if (rows) return clip(Math.round(share * rows) / rows, 0, 1);
    return share < unit / 2 ? 0 : Math.min(share, 1);
  }

  function decode(packed) {
    if (!packed) return undefined;
    const nDraws = packed.n_draws;
    return {
      ...packed,
      nDraws,
      thresholds: packed.thresholds.map(Number),
      labeled: decodeKind(packed.labeled, nDraws, packed.rows[0]),
      background: decodeKind(packed.background, nDraws, packed.rows[1]),
    };
  }

  // ------------------------------------------------------------------ shares at one threshold

  // The shares of the data at step k on which the correction depends.
  function dataShares(table, k) {
    const background = correction.backgroundAt(table, k);
    if (table.represented) {
      return [table.represented[k] / table.nRepresented, (table.labeled[k] + background) / table.n];
    }
    const nBackground = table.nUnlabeled + table.nNegative;
    return [
      table.nLabeled ? table.labeled[k] / table.nLabeled : 0,
      nBackground ? background / nBackground : 0,
    ];
  }

  // Between two thresholds j and j + 1, deviations are interpolated. That makes them too small, so
  // they are scaled: the variance of a share s is nearly proportional to s(1 − s).
  function interpolateKind(kind, share, nDraws, j, weight) {
    const { data, expected, deviation, variance, unit, rows } = kind;
    const m = data.length;
    const between = (values) => (1 - weight) * values[j] + weight * (values[j + 1] ?? 0);
    const center = clip(share + between(expected) - between(data), 0, 1);
    const drawn = new Float64Array(nDraws);
    let sum = 0;
    for (let r = 0; r < nDraws; r++) {
      drawn[r] = between(lineOf(deviation, m, r));
      sum += drawn[r] ** 2;
    }
    let scale = 1;
    if (weight > 0 && sum > 0) {
      const factors = [j, j + 1].map((i) => variance[i] / (expected[i] * (1 - expected[i])));
      const [first, second] = factors.map((x, i) => (Number.isFinite(x) ? x : factors[1 - i]));
      const factor = (1 - weight) * first + weight * second;
      if (Number.isFinite(factor)) scale = Math.sqrt((factor * center * (1 - center) * nDraws) / sum);
    }
    for (let r = 0; r < nDraws; r++) {
      drawn[r] = wholeRows(center + scale * drawn[r], rows, unit[j]);
    }
    return drawn;
  }

  // The labeled and background shares of each draw at a threshold.
  function sharesAt({ thresholds, nDraws, labeled, background }, table, threshold) {
    const [y, x] = dataShares(table, correction.stepAt(table, threshold));
    let j = 0;
    while (j + 1 < thresholds.length && thresholds[j + 1] >= threshold) j += 1;
    let weight = 0;
    if (thresholds[j] !== threshold && j + 1 < thresholds.length) {
      const rows = (i) => labeled.data[i] + background.data[i];
      const span = rows(j + 1) - rows(j);
      weight = span > 0 ? clip((y + x - rows(j)) / span, 0, 1) : 0;
    }
    return [
      interpolateKind(labeled, y, nDraws, j, weight),
      interpolateKind(background, x, nDraws, j, weight),
    ];
  }

  // ------------------------------------------------------------------ rates

  function prevalenceError({ squared_weights: weights }, table, { prior, purity }) {
    const mean = correction.prevalence(table, { prior, purity }, "population");
    const variance = [purity, prior, 0].reduce((sum, p, i) => sum + weights[i] * (p - mean) ** 2, 0);
    return Math.sqrt(variance) / table.n;
  }

  // A function from the shares of a draw to its rates, for a known mixture. `draw` is its index in
  // the shifts of the prevalence; undefined for expected shares.
  function ratesOf(model, mixture, shifts = model.decoded.prevalence_shift) {
    const { table, target, decoded } = model;
    const positive = correction.prevalence(table, mixture, target);
    const weighted = table.represented !== undefined;
    const prior = weighted ? positive : correction.backgroundPrior(table, mixture);
    const labeledShare = table.nLabeled / table.n;
    const shift = weighted || target !== "population" ? null : shifts;
    const error = shift ? prevalenceError(decoded, table, mixture) : 0;
    return (labeled, background, draw) => {
      const [tpr, fpr] = correction.correctPair(labeled, background, mixture.purity, prior);
      if (shift && draw !== undefined) {
        const prevalence = clip(
          positive + shift[draw] * error,
          SMALLEST_PREVALENCE,
          1 - SMALLEST_PREVALENCE,
        );
        return { tpr, fpr, predicted: prevalence * tpr + (1 - prevalence) * fpr, prevalence };
      }
      let predicted = background;
      if (!weighted && target === "population") {
        predicted = labeledShare * labeled + (1 - labeledShare) * background;
      } else if (!weighted && table.nNegative) {
        predicted = positive * tpr + (1 - positive) * fpr;
      }
      return { tpr, fpr, predicted, prevalence: positive };
    };
  }

  // The rates of the expected shares, and of all draws, at the thresholds of the draws. Draws are
  // lines of m numbers in long arrays.
  function curves(model, mixture) {
    const { labeled, background, nDraws, thresholds } = model.decoded;
    const rate = ratesOf(model, mixture);
    const m = thresholds.length;
    const expected = labeled.expected.map((share, j) => rate(share, background.expected[j]));
    const [tpr, fpr, predicted] = [0, 1, 2].map(() => new Float64Array(nDraws * m));
    const prevalence = new Float64Array(nDraws);
    for (let r = 0, i = 0; r < nDraws; r++) {
      for (let j = 0; j < m; j++, i++) {
        const [y, x] = [labeled, background].map(({ expected, deviation, rows, unit }) =>
          wholeRows(expected[j] + deviation[i], rows, unit[j]),
        );
        const drawn = rate(y, x, r);
        [tpr[i], fpr[i], predicted[i]] = [drawn.tpr, drawn.fpr, drawn.predicted];
        prevalence[r] = drawn.prevalence;
      }
    }
    return { nDraws, m, expected, tpr, fpr, predicted, prevalence };
  }

  // The line of draw r.
  const lineOf = (values, m, r) => values.subarray(r * m, (r + 1) * m);

  return { curves, decode, lineOf, ratesOf, sharesAt };
})();
