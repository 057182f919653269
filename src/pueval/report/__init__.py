"""The report: one HTML page with every number, and sliders for every assumption."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pueval._writing import open_atomic

if TYPE_CHECKING:
    from pueval.evaluation.estimates import OperatingPoint
    from pueval.evaluation.evaluation import Evaluation

__all__ = ["write_report"]


def write_report(
    path: str | os.PathLike[str],
    evaluations: Mapping[str, Evaluation],
    differences: Sequence[Mapping[str, Any]] = (),
    *,
    choices: Mapping[str, Sequence[OperatingPoint]] | None = None,
    rankings: Mapping[str, Mapping[str, float]] | None = None,
    command: str | None = None,
    prior_model: str | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Write one self-contained HTML page about one or more models.

    The page holds the evaluated numbers, and the counts they come from: neighboring scores are put
    together where there are too many, and the page says what that costs. Prior, purity, labeling
    bias and threshold can be moved, and every number and curve follows. It opens from disk, asks
    for nothing from the network, and is written whole or not at all.

    Parameters
    ----------
    path : str or path
        The file to write; an existing one is replaced once the new one is complete.
    evaluations : mapping of str to Evaluation
        What to show, by name of the model.
    differences : sequence of mapping, optional
        Differences between models, each with ``first``, ``second``, ``measure``, ``value``
        (first minus second), ``low``, ``high`` and ``pvalue``; if they have an
        ``adjusted_pvalue``, it is shown, too.
    choices : mapping of str to sequence of OperatingPoint, optional
        For some or all models, thresholds chosen by `Evaluation.threshold_for`.
    rankings : mapping of str to mapping, optional
        For some or all models, the measures that need no prior, from `Evaluation.ranking`.
    command : str, optional
        What makes the page again; Python code by default.
    prior_model : str, optional
        The model from whose scores the prior of all was estimated.
    notes : sequence of str, optional
        What looked wrong about all models together.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pueval import evaluate
    >>> from pueval.report import write_report
    >>> ev = evaluate([1, 0, 1, 0, 0], [5, 4, 3, 2, 1], prior=0)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(path, {"model_a": ev})
    >>> path.stat().st_size < 1_000_000
    True
    """
    from pueval.report._page import render
    from pueval.report._summary import summarize

    content = summarize(
        evaluations,
        differences,
        choices=choices,
        rankings=rankings,
        command=command,
        prior_model=prior_model,
        notes=notes,
    )
    page = render(content)
    with open_atomic(path) as stream:
        stream.write(page)
