"use strict";

// Bounds for a labeling bias in JavaScript: what pueval.sensitivity.labeling_bias computes, from the
// counts in the page. See positive_shares.py for the limits and the search.
const labelingBias = (() => {
  const { backgroundAt, clip, labelFrequency, measure, prevalence, rates } = correction;

  // The same constants as in positive_shares.py.
  const [GROUPS, CELL_ROWS, NOISY_CELLS] = [2048, 10, 8];
  const Z = 1.959963984540054;
  const [GRID, GOLDEN_STEPS, STEPS] = [17, 45, 60];
  const GOLDEN = (Math.sqrt(5) - 1) / 2;
  const ROUNDING = 1e-12;

  const sum = (values) => values.reduce((total, value) => total + value, 0);

  // ------------------------------------------------------------------ groups and cells

  const referencePrior = (table, mixture, target) =>
    target === "population"
      ? prevalence(table, mixture, target)
      : correction.backgroundPrior(table, mixture);

  // The rows that positives and negatives make up, at or above a step.
  const referenceAt = (table, target, k) =>
    backgroundAt(table, k) + (target === "population" ? table.labeled[k] : 0);

  // Groups of labeled scores: their last steps, and whether they are below the step `split`.
  function groupEnds(table, split) {
    const labeled = [];
    for (let k = 1; k <= table.score.length; k++) {
      if (table.labeled[k] > table.labeled[k - 1]) labeled.push(k);
    }
    const isBelow = (k) => split !== undefined && k > split;
    const bucket = (k, i) =>
      labeled.length > GROUPS
        ? Math.floor(table.labeled[k - 1] * (GROUPS / table.nLabeled))
        : i;
    const groups = [];
    let scores = 0;
    labeled.forEach((k, i) => {
      const next = labeled[i + 1];
      scores += 1;
      if (
        next === undefined ||
        bucket(next, i + 1) > bucket(k, i) ||
        isBelow(next) !== isBelow(k)
      ) {
        groups.push({ end: k, below: isBelow(k), scores });
        scores = 0;
      }
    });
    if (split !== undefined) {
      const above = groups.filter(({ below }) => !below);
      if (above.length) above[above.length - 1].end = split;
    }
    groups[groups.length - 1].end = table.score.length;
    return groups;
  }

  // The first group of each cell; cells have enough labeled rows, net of wrong labels.
  function cellStarts(rows, groups, noisy) {
    const total = sum(rows);
    let least = Math.max(CELL_ROWS, Math.sqrt(total));
    if (noisy) least = Math.min(least, total / NOISY_CELLS);
    const starts = [];
    for (const side of [false, true]) {
      const members = groups.flatMap(({ below }, i) => (below === side ? [i] : []));
      if (!members.length) continue;
      starts.push(members[0]);
      const first = starts.length;
      let size = 0;
      for (const group of members) {
        if (size >= least) {
          starts.push(group);
          size = 0;
        }
        size += rows[group];
      }
      while (size < least && starts.length > first) {
        const end = starts.pop();
        size += sum(rows.slice(starts[starts.length - 1], end));
      }
    }
    return starts;
  }

  // The upper end of Wilson's interval of the odds of unlabeled to labeled rows.
  function largestOdds(labeled, unlabeled, z) {
    const n = labeled + unlabeled;
    const share = unlabeled / n;
    const center = share + z ** 2 / (2 * n);
    const margin = z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2));
    const largest = (center + margin) / (1 + z ** 2 / n);
    return largest / (1 - largest);
  }

  // Add the limits of the share of positives in each cell, in it and above, and in it and below.
  // `weight` is worth one independent row.
  function addLimits(cells, random, positives, isPopulation, weight) {
    const relaxed = (z, labeled, unlabeled) => {
      const odds = largestOdds(labeled / weight, unlabeled / weight, z);
      return (labeled * (odds + (isPopulation ? 1 : 0))) / positives;
    };
    const simultaneous = Math.sqrt(Z ** 2 + 2 * Math.log(3 * cells.length));
    for (const [name, ordered] of [
      ["limitAbove", cells],
      ["limitBelow", [...cells].reverse()],
    ]) {
      let [labeled, unlabeled] = [0, 0];
      for (const cell of ordered) {
        labeled += cell.labeled;
        unlabeled += cell.unlabeled;
        cell[name] = positives ? relaxed(simultaneous, labeled, unlabeled) : Infinity;
      }
    }
    for (const cell of cells) {
      const { labeled, unlabeled, scores, net } = cell;
      const observed = (unlabeled + (isPopulation ? labeled : 0)) / positives;
      const expected = random * net;
      if (!positives) cell.limit = Infinity;
      else if (scores > 1) cell.limit = relaxed(simultaneous, labeled, unlabeled);
      else if (expected > observed && expected <= relaxed(Z, labeled, unlabeled)) {
        cell.limit = expected;
      } else cell.limit = observed;
    }
  }

  // Groups of scores with their net labeled rows, and the limits of their cells.
  function positiveShares(table, mixture, target, split) {
    const { prior, purity } = mixture;
    const isPopulation = target === "population";
    const reference = referencePrior(table, mixture, target);
    const wrong = (1 - purity) / (1 - reference);
    const size = referenceAt(table, target, table.score.length);
    let groups = groupEnds(table, split).map((group, i, all) => ({
      ...group,
      start: i ? all[i - 1].end : 0,
    }));
    const withRows = (group) => {
      const between = (column) => column[group.end] - column[group.start];
      const labeled = between(table.labeled);
      const referenceRows =
        referenceAt(table, target, group.end) - referenceAt(table, target, group.start);
      let net = labeled / table.nLabeled;
      if (wrong) net -= (wrong * referenceRows) / size;
      return { ...group, labeled, unlabeled: between(table.unlabeled), net };
    };
    groups = groups.map(withRows);
    let starts = cellStarts(
      groups.map(({ net }) => net * table.labeledRows),
      groups,
      wrong > 0,
    );
    const cellEnd = (i) => starts[i + 1] ?? groups.length;
    const cells = starts.map((first, i) => {
      const members = groups.slice(first, cellEnd(i));
      const [start, end] = [members[0].start, members[members.length - 1].end];
      const { below } = members[0];
      const total = (name) => sum(members.map((group) => group[name]));
      return {
        start,
        end,
        below,
        scores: total("scores"),
        labeled: total("labeled"),
        unlabeled: total("unlabeled"),
        net: total("net"),
      };
    });
    if (wrong) {
      groups = cells;
      starts = cells.map((_, i) => i);
    }
    const shares = {
      groups,
      net: groups.map(({ net }) => net),
      cells: cells.map((cell, i) => ({ ...cell, first: starts[i], last: cellEnd(i) })),
      purity,
      prior: reference,
      wrong,
      leastRatio: isPopulation ? labelFrequency(table, mixture) : 0,
    };
    shares.largestFactor = 1 / Math.min(...shares.net.filter((net) => net > 0));
    const positives = prior * table.nUnlabeled + (isPopulation ? purity * table.nLabeled : 0);
    const weight = table.independentWeight;
    addLimits(shares.cells, ratioToNet(shares, 1), positives, isPopulation, weight);
    return shares;
  }

  // ------------------------------------------------------------------ fillings

  // Turn a ratio of positives to labeled positives into a ratio to net labeled rows.
  function ratioToNet({ purity, prior, wrong, largestFactor }, ratio) {
    const denominator = purity - ratio * wrong * prior;
    return denominator > 0 ? Math.min(ratio / denominator, largestFactor) : largestFactor;
  }

  // The most that can be added to the factor `low` in each cell and all before it.
  function roomInCells(ordered, low, high, limitName) {
    let [filled, net, surplus] = [0, 0, 0];
    const most = ordered.map((cell) => {
      const room = Math.min((high - low) * Math.max(cell.net, 0), cell.limit - low * cell.net);
      filled += Math.max(room, 0);
      net += cell.net;
      surplus = Math.min(surplus, cell[limitName] - low * net - filled);
      return filled + surplus;
    });
    let least = Infinity;
    for (let i = most.length - 1; i >= 0; i--) {
      least = Math.min(least, most[i]);
      most[i] = Math.max(least, 0);
    }
    return most;
  }

  const inOrder = ({ cells }, fromTop) =>
    fromTop ? [cells, "limitAbove"] : [[...cells].reverse(), "limitBelow"];

  // The factors of the groups if positives fill them from the top or from the bottom.
  function fill(shares, ratio, bias, fromTop) {
    const [low, high] = [ratioToNet(shares, ratio), ratioToNet(shares, bias * ratio)];
    const { net } = shares;
    const filled = net.map((share) => low * share);
    const remaining = 1 - sum(filled);
    const [ordered, limitName] = inOrder(shares, fromTop);
    const most = roomInCells(ordered, low, high, limitName);
    let added = 0;
    ordered.forEach(({ first, last }, cell) => {
      const end = Math.min(most[cell], remaining);
      for (let i = 0; i < last - first; i++) {
        const group = fromTop ? first + i : last - 1 - i;
        const part = Math.min((high - low) * Math.max(net[group], 0), end - added);
        filled[group] += part;
        added += part;
      }
    });
    const total = sum(filled);
    return filled.map((share, i) => share / total / net[i]);
  }

  // The last number from low to high for which a condition holds.
  function last(holds, low, high) {
    for (let step = 0; step < STEPS; step++) {
      const middle = (low + high) / 2;
      if (holds(middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  function possibleRatios(shares, bias) {
    const fits = (ratio) => {
      const factor = ratioToNet(shares, ratio);
      const within = (ordered, name) => {
        let net = 0;
        return ordered.every((cell) => {
          net = name === "limit" ? cell.net : net + cell.net;
          return factor * net <= cell[name] * (1 + ROUNDING);
        });
      };
      return (
        within(shares.cells, "limit") &&
        within(...inOrder(shares, true)) &&
        within(...inOrder(shares, false))
      );
    };
    const suffices = (ratio) => {
      const [low, high] = [ratioToNet(shares, ratio), ratioToNet(shares, bias * ratio)];
      const most = [true, false].map((fromTop) => {
        const [ordered, limitName] = inOrder(shares, fromTop);
        return roomInCells(ordered, low, high, limitName).pop();
      });
      return low * sum(shares.net) + Math.min(...most) >= 1 - ROUNDING;
    };
    let least = Math.max(shares.leastRatio, 1 / bias);
    if (!fits(least)) return undefined;
    const largest = fits(1) ? 1 : last(fits, least, 1);
    if (!suffices(largest)) return undefined;
    if (!suffices(least)) least = -last((ratio) => suffices(-ratio), -largest, -least);
    return [least, largest];
  }

  // The argument of the maximum: the best of a grid, then a golden section around it.
  function maximize(value, low, high) {
    if (high <= low * (1 + ROUNDING)) return low;
    const grid = Array.from({ length: GRID }, (_, i) => low + ((high - low) * i) / (GRID - 1));
    const values = grid.map(value);
    const best = values.indexOf(Math.max(...values));
    [low, high] = [grid[Math.max(best - 1, 0)], grid[Math.min(best + 1, GRID - 1)]];
    let [left, right] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
    let [atLeft, atRight] = [value(left), value(right)];
    for (let step = 0; step < GOLDEN_STEPS; step++) {
      if (atLeft >= atRight) {
        [high, right, atRight] = [right, left, atLeft];
        left = high - GOLDEN * (high - low);
        atLeft = value(left);
      } else {
        [low, left, atLeft] = [left, right, atRight];
        right = low + GOLDEN * (high - low);
        atRight = value(right);
      }
    }
    const middle = (low + high) / 2;
    return value(middle) > values[best] ? middle : grid[best];
  }

  // The factors with the smallest and the largest value; empty if the rows allow none.
  function extremes(shares, value, bias) {
    const possible = possibleRatios(shares, bias);
    if (!possible) return [];
    return [false, true].map((fromTop) => {
      const sign = fromTop ? 1 : -1;
      const best = maximize((x) => sign * value(fill(shares, x, bias, fromTop)), ...possible);
      return fill(shares, best, bias, fromTop);
    });
  }

  // ------------------------------------------------------------------ bounds

  // The rates at step k for the smallest and the largest recall.
  function boundedRates(table, mixture, target, bias, k) {
    const unbiased = rates(table, mixture, target)(k);
    const shares = positiveShares(table, mixture, target, k);
    const recall = (factors) =>
      sum(factors.map((factor, i) => (shares.groups[i].below ? 0 : factor * shares.net[i])));
    const ends = extremes(shares, recall, bias);
    if (!ends.length) return [unbiased, unbiased];
    const size = referenceAt(table, target, table.score.length);
    const reference = referenceAt(table, target, k) / size;
    return ends.map((factors) => {
      const tpr = recall(factors);
      const fpr = (reference - shares.prior * tpr) / (1 - shares.prior);
      const positive = unbiased.prevalence;
      const predicted =
        target === "population" ? reference : positive * tpr + (1 - positive) * fpr;
      return { ...unbiased, tpr, fpr, predicted };
    });
  }

  // The bounds of a measure from the rates of `boundedRates`.
  function measureBounds(name, unbiased, bounded, low, high) {
    if (Number.isNaN(measure(name, unbiased))) return [NaN, NaN];
    const ends = bounded.map((rate) => {
      const end = measure(name, rate);
      // Only unbounded ratios are undefined at an end.
      return Number.isNaN(end) ? high : clip(end, low, high);
    });
    return ends[0] <= ends[1] ? ends : [ends[1], ends[0]];
  }

  // `auc` is the value for random labeling.
  function aucBounds(table, mixture, target, bias, auc) {
    const shares = positiveShares(table, mixture, target);
    const size = referenceAt(table, target, table.score.length);
    // Placements of the labeled rows of each group, net of wrong labels.
    const placements = shares.groups.map(({ start, end }) => {
      let total = 0;
      for (let k = start + 1; k <= end; k++) {
        const rows = table.labeled[k] - table.labeled[k - 1];
        if (rows > 0) {
          const [above, atOrAbove] = [k - 1, k].map((step) => referenceAt(table, target, step));
          total += (rows / table.nLabeled) * (1 - (above + atOrAbove) / (2 * size));
        }
      }
      const [above, atOrAbove] = [start, end].map((k) => referenceAt(table, target, k) / size);
      const gain = atOrAbove - above;
      return total - shares.wrong * gain * (1 - atOrAbove + gain / 2);
    });
    const value = (factors) => {
      const placement = sum(factors.map((factor, i) => factor * placements[i]));
      return (placement - shares.prior / 2) / (1 - shares.prior);
    };
    const ends = extremes(shares, value, bias);
    return (ends.length ? ends.map(value) : [auc, auc]).map((end) => clip(end, 0, 1));
  }

  // `area` is the value for random labeling; a thinned table is enough for the search.
  function averagePrecisionBounds(table, thinned, mixture, target, bias, area) {
    const shares = positiveShares(table, mixture, target);
    const lower = shares.groups.map(({ end }) => table.score[end - 1]);
    // The average precision of a table as a function of the factors.
    const areaOf = (source) => {
      const size = referenceAt(source, target, source.score.length);
      const rate = rates(source, mixture, target);
      const corners = correction.corners(source);
      const unbiased = corners.map(rate);
      let group = 0;
      const groups = unbiased.map(({ threshold }) => {
        while (group < lower.length - 1 && lower[group] > threshold) group++;
        return group;
      });
      const reference = corners.map((k) => referenceAt(source, target, k) / size);
      const net = corners.map(
        (k, i) => source.labeled[k] / source.nLabeled - shares.wrong * reference[i],
      );
      return (factors) => {
        let total = 0;
        const positive = net.map((share, i) => {
          total += factors[groups[i]] * (share - (i ? net[i - 1] : 0));
          return total;
        });
        const line = unbiased.map((point, i) => {
          const tpr = positive[i] / total;
          const fpr = (reference[i] - shares.prior * tpr) / (1 - shares.prior);
          return { ...point, tpr, fpr };
        });
        return correction.averagePrecisionOf(line);
      };
    };
    const ends = extremes(shares, areaOf(thinned), bias).map(areaOf(table));
    const [first, second] = (ends.length ? ends : [area, area]).map((end) => clip(end, 0, 1));
    return first <= second ? [first, second] : [second, first];
  }

  return { aucBounds, averagePrecisionBounds, boundedRates, measureBounds };
})();
