"""Bias and coverage of `value_recovered` and `top_by_query` on simulated populations.

    python -m benchmarks.values_and_queries [replications]

Writes benchmarks/VALUES_AND_QUERIES.md. Values: rows, scores and values are drawn anew in each
replication, and the truth is that of its own rows, which intervals of values are about. Queries:
the truth is that of the population, the mean over the queries of all replications.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pueval import top_by_query, value_recovered

ROWS = 12_000
THRESHOLD, COST = 1.5, 0.5
QUERIES, FIRST = 400, 5
VALUES = {
    "recovered": "recovered",
    "total": "all positives",
    "recall": "recall",
    "precision": "precision",
    "net": "net",
}
LISTS = {
    "precision": "precision",
    "dcg": "DCG",
    "pooled": "pooled recall",
    "recall": "recall, queries with labeled rows",
    "recall of all": "the same, all queries",
}


PAGE = """# Values and queries: bias and coverage

`python -m benchmarks.values_and_queries` writes this page, with {replications:,} replications per
line. Cells have the bias as a share of the bias of the naive value, and the coverage of 95%
intervals, with a standard error of {error:.3f}. "None" means that naive and corrected value have no
bias.

## Values

`value_recovered` on {rows:,} rows, {share:.0%} of them positive, with normal scores and the
threshold {threshold}. The label frequency is {frequency}, so about {labeled:,} rows are labeled.
Values are log-normal: their logarithms have the standard deviation 0.8, with heavy tails 1.5 and
with very heavy tails 2. Importance weights are between 0.5 and 3. Intervals are about the rows of
each replication, so the truth is theirs.

{values}

Where a few rows have most of the value, none of them may be labeled. So the variance uses the known
values of unlabeled rows, too, in cells of rows with similar values and about 10 labeled rows each.
Coverage is lowest, near 0.93, where positives are worth more than other rows of their cell: with
heavy tails, and with few labeled rows, for which cells are wide. The variance is then too low. With
few labeled rows above the threshold, estimates are skewed. Wilson's limits are, too: symmetric ones
cover 0.92 there. Intervals are too wide where a few rows have most of the value: Student's t then
has few degrees of freedom.

## Queries

`top_by_query` on {queries} lists of 30 rows on average, 20% of them positive, with k = {first} and
the label frequency 0.3. The share of positives differs between lists, with a standard deviation of
0.12, or 0.23 in lists that differ much. Intervals are about other lists of the same kind, so the
truth is the mean over the lists of all replications.

{lists}

Lists with many positives are labeled more often, and their recall among few first rows is low. So
recall of lists with labeled rows is not that of all lists, and intervals do not cover the latter.
With propensities, the recall of a list with few labels is a ratio of two noisy sums and has a bias
of its own. Pooled recall has neither problem. But where a few long lists have most of the
positives, as with lengths from 3 to 500, there are in effect few lists, and its intervals are too
narrow. With wrong labels, single lists have no recall.
"""


@dataclass(frozen=True)
class Population:
    """How values and labels come about.

    Attributes
    ----------
    title : str
        Name in the table.
    by_score, by_class : float
        How much the logarithm of the value grows with the score, and if a row is positive.
    tail : float
        Standard deviation of the logarithm of the value for a given score.
    purity : float
        Share of positives among the labeled rows.
    weights : bool
        Whether rows have importance weights.
    known : str
        What is known about the positives.
    target : str
        Rows whose value is estimated.
    prevalence : float
        Share of positives.
    threshold : float
        Threshold of the score.
    """

    title: str
    by_score: float = 0.5
    by_class: float = 0.0
    tail: float = 0.8
    purity: float = 1.0
    weights: bool = False
    known: str = "label_frequency"
    target: str = "population"
    prevalence: float = 0.1
    threshold: float = THRESHOLD


POPULATIONS = (
    Population("values independent of the score", by_score=0.0),
    Population("values grow with the score"),
    Population("values grow with score and class", by_class=0.5, known="prevalence"),
    Population("heavy tails", by_score=0.0, tail=1.5),
    Population("heavy tails, growing", tail=1.5, known="prior"),
    Population("very heavy tails", tail=2.0),
    Population("heavy tails, positives worth more", tail=1.5, by_class=1.0),
    Population("48 labeled rows", prevalence=0.01),
    Population("48 labeled rows, heavy tails", prevalence=0.01, tail=1.5),
    Population("6 labeled rows above the threshold", threshold=3.75),
    Population("propensities that grow with the value", known="propensity"),
    Population("purity 0.9", purity=0.9),
    Population("purity 0.7", purity=0.7, known="prevalence"),
    Population("purity 0.9, heavy tails", purity=0.9, tail=1.5),
    Population("importance weights", weights=True, known="prevalence"),
    Population("importance weights, purity 0.9", weights=True, purity=0.9),
    Population("target unlabeled", target="unlabeled", known="prior"),
    Population("target unlabeled, purity 0.9", target="unlabeled", purity=0.9, known="prior"),
)
LABEL_FREQUENCY = 0.4


def draw_values(population, rng):
    """Return the arguments of `value_recovered`, and the true values."""
    positive = rng.random(ROWS) < population.prevalence
    score = rng.normal(size=ROWS) + 1.5 * positive
    log_value = population.by_score * score + population.by_class * positive
    value = np.exp(log_value + population.tail * rng.normal(size=ROWS))
    frequency = LABEL_FREQUENCY
    if population.known == "propensity":
        frequency = np.clip(0.3 + 0.1 * log_value, 0.1, 0.8)
    wrong = wrong_label_probability(population.purity, LABEL_FREQUENCY, population.prevalence)
    y = rng.random(ROWS) < np.where(positive, frequency, wrong)
    weight = rng.uniform(0.5, 3, size=ROWS) if population.weights else np.ones(ROWS)
    given = {
        "label_frequency": LABEL_FREQUENCY,
        "prevalence": weight @ positive / weight.sum(),
        "prior": weight[~y] @ positive[~y] / weight[~y].sum(),
        "propensity": frequency,
    }
    arguments = {
        "threshold": population.threshold,
        "cost": COST,
        "target": population.target,
        population.known: given[population.known],
    }
    if population.purity < 1:
        arguments["purity"] = population.purity
    if population.weights:
        arguments["sample_weight"] = weight
    in_target = ~y if population.target == "unlabeled" else np.ones(ROWS, dtype=bool)
    counted, above = positive & in_target, score >= population.threshold
    worth = weight * value
    recovered, total = worth[counted & above].sum(), worth[counted].sum()
    truth = {
        "recovered": recovered,
        "total": total,
        "recall": recovered / total,
        "precision": recovered / worth[in_target & above].sum(),
        "net": recovered - COST * weight[in_target & above].sum(),
    }
    return (y, score, value), arguments, truth


def wrong_label_probability(purity, label_frequency, prevalence):
    """Return the probability that a negative is labeled."""
    return (1 - purity) / purity * label_frequency * prevalence / (1 - prevalence)


def value_table(replications):
    """Return a table of biases and coverages of `value_recovered`."""
    for population in POPULATIONS:
        results = []
        for number in range(replications):
            rows, arguments, truth = draw_values(population, np.random.default_rng([number, 1]))
            found = value_recovered(*rows, **arguments)
            results.append([(getattr(found, name), truth[name]) for name in VALUES])
        yield population.title, results


@dataclass(frozen=True)
class Lists:
    """Lists of rows: how their lengths, positives and labels come about."""

    title: str
    purity: float = 1.0
    weights: bool = False
    spread: float = 10.0
    propensities: bool = False
    k: int = FIRST
    long_tail: bool = False


LISTS_OF_ROWS = (
    Lists("lists alike"),
    Lists("lists that differ much", spread=2.0),
    Lists("lengths from 3 to 500", long_tail=True),
    Lists("k = 20", k=20),
    Lists("propensities that grow with the score", propensities=True),
    Lists("purity 0.9", purity=0.9),
    Lists("purity 0.7, lists that differ much", purity=0.7, spread=2.0),
    Lists("importance weights", weights=True),
)


def draw_lists(lists, rng, n_queries):
    """Return labels, scores and queries, the classes, and more arguments of `top_by_query`."""
    size = 10 + rng.poisson(20, size=n_queries)
    if lists.long_tail:
        size = np.minimum(3 * (1 + rng.pareto(1.2, size=n_queries)), 500).astype(int)
    query = np.repeat(np.arange(n_queries), size)
    share = rng.beta(0.2 * lists.spread, 0.8 * lists.spread, size=n_queries)[query]
    positive = rng.random(query.size) < share
    score = rng.normal(size=query.size) + 1.5 * positive + 0.5 * rng.normal(size=n_queries)[query]
    frequency = np.full(query.size, 0.3)
    if lists.propensities:
        frequency = np.clip(0.3 + 0.1 * score, 0.1, 0.8)
    wrong = wrong_label_probability(lists.purity, 0.3, 0.2)
    y = rng.random(query.size) < np.where(positive, frequency, wrong)
    options = {"k": lists.k}
    if lists.weights:
        options["sample_weight"] = rng.uniform(0.5, 3, size=query.size)
    labeling = {"propensity": frequency} if lists.propensities else {"label_frequency": 0.3}
    if lists.purity < 1:
        labeling["purity"] = lists.purity
    return y, score, query, positive, options, labeling


def query_table(replications):
    """Return a table of biases and coverages of `top_by_query`."""
    for lists in LISTS_OF_ROWS:
        results = []
        for number in range(replications):
            rng = np.random.default_rng([number, 3])
            y, score, query, positive, options, labeling = draw_lists(lists, rng, QUERIES)
            top = top_by_query(y, score, query, **options, **labeling)
            true = top_by_query(positive, score, query, label_frequency=1.0, level=None, **options)
            truth = {name: estimate_of(true, name).value for name in LISTS}
            # Without a positive there is no recall.
            has_labels = (np.bincount(query, y * positive) > 0) & ~np.isnan(true.recall)
            truth["recall"] = true.recall[has_labels].mean()
            results.append([(estimate_of(top, name), truth[name]) for name in LISTS])
        yield lists.title, results


def estimate_of(top, name):
    """Return the estimate of one measure."""
    return top.pooled_recall if name == "pooled" else top.macro[name.removesuffix(" of all")]


def table(title, names, results, *, of_population=False):
    """Return the lines of a table: bias as a share of the naive bias, and coverage."""
    lines = [f"| {title} | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for row_title, replications in results:
        cells = []
        for estimates in zip(*replications, strict=True):
            value, naive, low, high = np.transpose(
                [(e.unclipped, e.naive, e.low, e.high) for e, _ in estimates]
            )
            truth = np.array([truth for _, truth in estimates])
            if np.isnan(value).any():
                cells.append("–")
                continue
            bias = describe_bias(value - truth, naive - truth)
            if of_population:
                truth = truth.mean()
            # An end may be the truth, up to rounding: if all rows above the threshold are positive.
            rounding = 1e-9 * np.abs(truth)
            covered = (low <= truth + rounding) & (truth - rounding <= high)
            cells.append(f"{bias} / {np.mean(covered):.3f}")
        lines.append(f"| {row_title} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def describe_bias(error, naive_error):
    """Return the bias as a share of the naive bias; "none" if the naive value is right, too."""
    bias, naive_bias = error.mean(), naive_error.mean()
    chance, naive_chance = (
        4 * each.std(ddof=1) / np.sqrt(each.size) for each in (error, naive_error)
    )
    if abs(naive_bias) < naive_chance:
        return "none" if abs(bias) < chance else "some"
    return f"{abs(bias / naive_bias):.1%}"


def main():
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    values = table("Values", VALUES.values(), value_table(replications))
    queries = table("Queries", LISTS.values(), query_table(replications), of_population=True)
    text = PAGE.format(
        replications=replications,
        error=np.sqrt(0.05 * 0.95 / replications),
        rows=ROWS,
        share=Population.prevalence,
        labeled=round(ROWS * Population.prevalence * LABEL_FREQUENCY),
        threshold=THRESHOLD,
        frequency=LABEL_FREQUENCY,
        queries=QUERIES,
        first=FIRST,
        values="\n".join(values),
        lists="\n".join(queries),
    )
    Path(__file__).with_name("VALUES_AND_QUERIES.md").write_text(text)


if __name__ == "__main__":
    main()
