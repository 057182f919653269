"""What the page says in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pueval.core.mixture import Mixture
from pueval.evaluation.assumption_text import assumption_sentences, share_origin
from pueval.report._page_thinning import Thinned
from pueval.sensitivity.feasibility import infeasibility_message
from pueval.text.numbers import format_level

if TYPE_CHECKING:
    from pueval.evaluation.estimates import Estimate
    from pueval.evaluation.evaluation import Evaluation

# Names in code are cut here; a report is not the place for a novel.
LONGEST_NAME = 60


# The sign is not to be parted from its number.
PERCENT = "\u00a0%"


def level(share: float) -> str:
    """Show a confidence level."""
    return format_level(share).replace("%", PERCENT)


def percent(share: float) -> str:
    """Show a share, with more digits near 0 and 1."""
    shown = 100 * share
    rest = min(shown, 100 - shown)
    digits = 0 if rest >= 10 or rest <= 0 else 1 if rest >= 1 else 1 - math.floor(math.log10(rest))
    text = f"{shown:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if digits else text) + PERCENT


def meaningful_digits(estimate: Estimate) -> int:
    """Return how many digits of a value its limits allow."""
    width = estimate.high - estimate.low
    if math.isnan(width) or width == 0 or width > 0.01:
        # Two digits of .997 would be those of a perfect classifier.
        return 3 if 0.99 < estimate.value < 1 else 2
    return 3 if width > 0.001 else 4


def measured(estimate: Estimate) -> str:
    """Show a value with its limits, with as many digits as these allow."""
    if math.isnan(estimate.value):
        return "undefined"
    digits = meaningful_digits(estimate)
    text = f"{estimate.value:.{digits}f}"
    if math.isnan(estimate.low):
        return text
    return f"{text} ({estimate.low:.{digits}f}–{estimate.high:.{digits}f})"


NOT_SO_MANY = "these data do not allow so many."


def answer(ev: Evaluation) -> list[tuple[str, bool]]:
    """Say in two sentences what came out, as pieces of text of which one matters most."""
    auc, mixture = ev["roc_auc"], ev.mixture
    naive, corrected = f"{auc.naive:.{meaningful_digits(auc)}f}", measured(auc)
    right = f"{percent(mixture.purity)} of the labels right"
    if not ev.counts.n_unlabeled:
        if mixture.purity == 1:
            return [
                ("The AUC is", False),
                (f"{corrected}.", True),
                ("Every row is known, so nothing had to be corrected.", False),
            ]
        first = f"Taking all labels as right, the AUC looks like {naive}. With {right}, it is"
        return [(first, False), (f"{corrected}.", True)]
    if mixture.prior == 0 and mixture.purity == 1:
        return [
            ("Counting unlabeled rows as negative, the AUC is", False),
            (f"{corrected}.", True),
            ("Nothing was corrected: with prior 0 there are no positives among them.", False),
        ]
    among = f"about {percent(mixture.prior)} positives among them"
    if mixture.purity < 1:
        among += f" and {right}"
    first = f"Counting unlabeled rows as negative, the AUC looks like {naive}. With {among}, it"
    if not ev.counts.has_propensity and infeasibility_message(ev.counts, mixture) is not None:
        if auc.clipped:
            return [(f"{first} would be", False), ("beyond 1:", True), (NOT_SO_MANY, False)]
        return [
            (f"{first} would be", False),
            (f"{corrected},", True),
            (f"but {NOT_SO_MANY}", False),
        ]
    return [(f"{first} is", False), (f"{corrected}.", True)]


def assumptions(ev: Evaluation) -> list[str]:
    """Say what the numbers rest on."""
    return [sentence.replace("%", PERCENT) for sentence in assumption_sentences(ev)]


def prior_origin(ev: Evaluation) -> str:
    """Say where the prior came from."""
    return share_origin(ev, "prior").replace("%", PERCENT)


def thinning(tables: Sequence[Thinned]) -> str:
    """Say what the tables of counts in the page are, and what that costs."""
    sizes = sorted(table.counts.score.size for table in tables)
    several = len(tables) > 1
    if all(table.exact for table in tables):
        where = "" if several else f"{sizes[0]:,} "
        return (
            f"The page carries the counts at all {where}different scores"
            + (" of every model" if several else "")
            + ", so what the sliders give is exact."
        )
    scores = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
    precision = max(table.precision_error for table in tables)
    auc = max(table.auc_error for table in tables)
    return (
        f"The page carries the counts at {scores} of the scores"
        + (" of each model" if several else "")
        + ", and the threshold moves between these. Rows at or above each of them are counted "
        "exactly, so every measure at a threshold, and the AUC, are exact. With the evaluated "
        f"prior and purity, the average precision is off by {_small(precision)}, and bounds of "
        f"the AUC for a labeling bias by at most {_small(auc)}."
    )


def _small(error: float) -> str:
    return "less than 0.00001" if error < 1e-5 else f"{error:.1g}"


def code(evaluations: Mapping[str, Evaluation], *, choices: bool, rankings: bool) -> str:
    """Return Python code that makes the page again."""
    if len(evaluations) == 1:
        (ev,) = evaluations.values()
        call = f"evaluate(y, score{_arguments(ev)})"
        more = ", choices=choices" * choices + ", ranking=True" * rankings
        return f'from pueval import evaluate\n\n{call}.to_html("report.html"{more})'
    lines = []
    for k, (name, ev) in enumerate(evaluations.items(), start=1):
        shown = name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…"
        lines.append(f"        {shown!r}: evaluate(y, score_{k}{_arguments(ev)}),\n")
    more = "    choices=choices,\n" * choices + "    rankings=rankings,\n" * rankings
    return (
        "from pueval import evaluate\nfrom pueval.report import write_report\n\n"
        'write_report(\n    "report.html",\n    {\n' + "".join(lines) + f"    }},\n{more})"
    )


def _arguments(ev: Evaluation) -> str:
    given: dict[str, str] = {}
    region, estimate = ev.region, ev.prior_estimate
    if ev.counts.has_propensity:
        given["propensity"] = "propensity"
    if ev.counts._has_importance_weights:
        given["sample_weight"] = "sample_weight"
    known = estimate is None or estimate.purity_interval is None
    if estimate is not None and ev.assumptions.estimate_given:
        given["prior"] = "estimate"
    elif not known:
        given["purity"] = '"estimate"'
    elif ev.mixture.purity != 1 or region is not None:
        given["purity"] = _given(ev.mixture.purity, None if region is None else region.purity)
    if estimate is None and ev.counts.n_unlabeled and not ev.assumptions.from_propensity:
        name = ev.assumptions.prior_follows_from or "prior"
        given[name] = _given(_share(ev, name, ev.mixture), _ends(ev, name))
    if ev.target != "population":
        given["target"] = f'"{ev.target}"'
    if not ev.threshold_chosen:
        given["threshold"] = _number(ev.threshold)
    if ev.resampling is None:
        given["level"] = "None"
    else:
        given["level"] = _number(ev.resampling.level)
        given["n_resamples"] = str(ev.resampling.n_resamples)
        given["seed"] = str(ev.resampling.seed)
        if ev.resampling.variance != "sampling":
            given["variance"] = f'"{ev.resampling.variance}"'
    return "".join(f", {name}={value}" for name, value in given.items())


def _share(ev: Evaluation, name: str, mixture: Mixture) -> float:
    """Return what a mixture means for the share that was given."""
    if name == "prior":
        return mixture.prior
    counts = ev.counts
    return mixture.prevalence(counts) if name == "prevalence" else mixture.label_frequency(counts)


def _ends(ev: Evaluation, name: str) -> tuple[float, float] | None:
    if ev.region is None:
        return None
    low, high = sorted(
        _share(ev, name, Mixture(prior, ev.mixture.purity)) for prior in ev.region.prior
    )
    return low, high


def _given(value: float, interval: tuple[float, float] | None) -> str:
    if interval is None or interval[0] == interval[1]:
        return _number(value)
    return f"({_number(interval[0])}, {_number(interval[1])})"


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else f'float("{value}")'
