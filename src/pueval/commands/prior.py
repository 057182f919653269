"""``pueval prior``: the share of positives among the unlabeled rows of a file."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from pueval.commands.evaluation_tables import print_clusters
from pueval.commands.exit_codes import exit_code
from pueval.commands.model_counts import cluster_columns, read_models
from pueval.commands.options import (
    COLUMNS,
    COUNT_DEFAULTS,
    ESTIMATION,
    LABEL,
    OUTPUT,
    ClusterColumns,
    CountOptions,
    InputFile,
)
from pueval.commands.output_files import check_outputs, write_models
from pueval.commands.terminal import print_line, print_notes, print_written, show_table
from pueval.evaluation.evaluate import evaluate_counts
from pueval.evaluation.evaluation import Evaluation
from pueval.evaluation.verdict import KNOWLEDGE_WORDS, known_prior
from pueval.text.numbers import format_interval, format_level, format_number

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate


ASSUMPTIONS_OF_ESTIMATES = "These estimates assume random labeling and out-of-fold scores."


def prior_command(
    file: InputFile,
    /,
    *,
    label: Annotated[str | None, LABEL] = None,
    score: Annotated[list[str] | None, Parameter(group=COLUMNS, negative=())] = None,
    options: CountOptions = COUNT_DEFAULTS,
    cluster: ClusterColumns = None,
    purity: Annotated[float | Literal["estimate"], Parameter(group=ESTIMATION)] = 1.0,
    method: Annotated[str, Parameter(group=ESTIMATION)] = "consensus",
    level: Annotated[float, Parameter(group=ESTIMATION)] = 0.95,
    json_path: Annotated[str | None, Parameter(name="--json", group=OUTPUT)] = None,
) -> int:
    """Estimate the share of positives among the unlabeled rows.

    Prints the prior with its confidence interval, the estimate of each method, and the largest
    prior that fits the data. Use out-of-fold scores.

    Example: pueval prior scores.csv --label label --score model_a

    Parameters
    ----------
    file
        CSV, Parquet or Arrow file, folder, quoted pattern such as 'scores/*.parquet', database
        table (duckdb:///file.db?table=name), counts saved by "pueval count", or - for standard
        input.
    score
        Column with a model's scores. Repeat the option for each model.
    purity
        Share of true positives among the labeled rows, or "estimate" to estimate it together with
        the prior. 1 means clean labels.
    method
        Estimator: consensus, tilt, roc_network, alphamax, best_bin, dedpul, dist_curve,
        elkan_noto or roc_slope.
    level
        Confidence level of the intervals.
    json_path
        JSON file for all results.
    """
    from pueval import priors

    check_outputs(file, {"--json": json_path})
    clusters = cluster_columns(cluster)
    models = read_models(file, label, score or [], options, clusters)
    estimates = {
        name: priors.estimate(counts, purity=purity, method=method, level=level)
        for name, counts in models.items()
    }
    evaluations = {
        name: evaluate_counts(models[name], prior=estimate, level=None)
        for name, estimate in estimates.items()
        if math.isfinite(estimate.prior)
    }
    if json_path is not None:
        content = {name: estimate.to_dict() for name, estimate in estimates.items()}
        for name, ev in evaluations.items():
            if ev.clusters is not None:
                content[name]["clusters"] = ev.clusters.to_dict()
        write_models(json_path, file, label, content)
    interval = f"{format_level(level)} CI"
    for name, estimate in estimates.items():
        evaluated = evaluations.get(name)
        print_line(_headline(name if len(estimates) > 1 else "", estimate, evaluated))
        show_table([name, "prior", interval, "purity", interval], estimate.rows())
        if evaluated is not None:
            print_clusters({name: evaluated}, clusters)
        print_notes(estimate.notes())
    print_line(ASSUMPTIONS_OF_ESTIMATES)
    print_written(json_path)
    return exit_code(text for estimate in estimates.values() for text in estimate.warnings)


def _headline(model: str, estimate: PriorEstimate, ev: Evaluation | None) -> str:
    """Say what the prior is, and how well it is known; ``ev`` is None if it is undefined."""
    start = f"{model}: prior" if model else "Prior"
    if ev is None:
        return f"{start} {format_number(estimate.prior)}: these scores do not determine it."
    text = f"{start} {format_number(estimate.prior)}"
    if estimate.prior_interval is None:
        return f"{text}, without an interval."
    low, high = estimate.prior_interval
    text += f" ({format_level(estimate.level)} CI {format_interval(low, high)})."
    knowledge, _ = known_prior(ev)
    return f"{text} {KNOWLEDGE_WORDS[knowledge]}."
