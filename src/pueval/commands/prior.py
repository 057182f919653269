"""``pueval prior``: how many positives hide among the unlabeled rows of a file."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from pueval.commands.models import read_models
from pueval.commands.options import (
    COLUMNS,
    ESTIMATION,
    LABEL,
    OUTPUT,
    Address,
    Bins,
    EngineName,
    Negative,
    Positive,
    Unlabeled,
    Weight,
)
from pueval.commands.outputs import check_outputs, write_models
from pueval.commands.terminal import say, show_table


def prior_command(
    file: str,
    /,
    *,
    label: Annotated[str | None, LABEL] = None,
    score: Annotated[list[str] | None, Parameter(group=COLUMNS, negative=())] = None,
    weight: Weight = None,
    purity: Annotated[float | Literal["estimate"], Parameter(group=ESTIMATION)] = 1.0,
    method: Annotated[str, Parameter(group=ESTIMATION)] = "consensus",
    level: Annotated[float, Parameter(group=ESTIMATION)] = 0.95,
    positive: Positive = "1",
    unlabeled: Unlabeled = "0",
    negative: Negative = None,
    bins: Bins = "auto",
    engine: EngineName = "duckdb",
    address: Address = None,
    json_path: Annotated[str | None, Parameter(name="--json", group=OUTPUT)] = None,
) -> None:
    """Estimate how many positives hide among the unlabeled rows.

    Prints the prior with its limits, every estimator's answer, and the largest prior that the
    data allow. Scores must come from rows the model was not trained on.

    Example: pueval prior scores.csv --label label --score model_a

    Parameters
    ----------
    file
        A CSV, Parquet or Arrow file, a quoted pattern such as 'scores/*.parquet', a folder, a table
        of a database as duckdb:///file.db?table=name, or Counts saved by "pueval count".
    score
        Column with a model's scores; repeat the option for several models.
    purity
        Share of true positives among the labeled rows; 1 means clean labels. "estimate" estimates
        it together with the prior.
    method
        consensus, tilt, roc_network, alphamax, best_bin, dedpul, dist_curve, elkan_noto or
        roc_slope.
    level
        Level of the limits.
    json_path
        Write everything to this file.
    """
    from pueval import priors

    check_outputs(file, {"--json": json_path})
    counts = read_models(
        file,
        label=label,
        scores=score or [],
        weight=weight,
        labels=(positive, unlabeled, negative),
        bins=bins,
        engine=engine,
        address=address,
    )
    found = {
        name: priors.estimate(one, purity=purity, method=method, level=level)
        for name, one in counts.items()
    }
    if json_path is not None:
        write_models(json_path, file, label, {name: one.to_dict() for name, one in found.items()})
    for name, one in found.items():
        show_table([name, "prior", "limits", "purity", "limits"], one.rows())
        for note in one.notes():
            say(note)
