"""The HTML report: a self-contained page with sliders for the assumptions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pueval._writing import open_atomic
from pueval.report._group_table import GroupTable

if TYPE_CHECKING:
    from pueval.estimates.estimate import OperatingPoint
    from pueval.estimates.measure_family import MeasureFamily
    from pueval.evaluation.evaluation import Evaluation
    from pueval.sensitivity.bounds import Bounds

__all__ = ["GroupTable", "write_report"]


def write_report(
    path: str | os.PathLike[str],
    evaluations: Mapping[str, Evaluation],
    differences: Sequence[Mapping[str, Any]] = (),
    *,
    choices: Mapping[str, Sequence[OperatingPoint]] | None = None,
    rankings: Mapping[str, Mapping[str, float]] | None = None,
    bounds: Mapping[str, Bounds] | None = None,
    command: str | None = None,
    prior_model: str | None = None,
    notes: Sequence[str] = (),
    file: str | None = None,
    groups: Mapping[str, GroupTable] | None = None,
    families: Mapping[str, MeasureFamily] | None = None,
) -> None:
    """Write a self-contained HTML page about one or more models.

    The page has sliders for prior, purity, labeling bias and threshold, and updates every number
    and curve, with intervals and bands. It contains the counts behind the numbers; if there are too
    many distinct scores, it merges neighboring ones and states the resulting error. The page works
    offline, and the file is written completely or not at all. Of more than 20 models, the page
    shows the 20 with the best corrected AUC, and a table of all others.

    Parameters
    ----------
    path : str or path
        File to write; an existing file is replaced once the new one is complete.
    evaluations : mapping of str to Evaluation
        Evaluations by model.
    differences : sequence of mapping, optional
        Paired differences between models, each with ``first``, ``second``, ``measure``, ``value``
        (first − second), ``low``, ``high`` and ``pvalue``, and optionally ``adjusted_pvalue``.
    choices : mapping of str to sequence of OperatingPoint, optional
        Thresholds chosen by `Evaluation.threshold_for`, by model.
    rankings : mapping of str to mapping, optional
        Measures that need no prior, from `Evaluation.ranking`, by model.
    bounds : mapping of str to Bounds, optional
        Bounds of every measure, from `Evaluation.bounds`, by model.
    command : str, optional
        Command that reproduces the page; by default Python code.
    prior_model : str, optional
        Model from whose scores the shared prior was estimated.
    notes : sequence of str, optional
        Warnings that concern all models.
    file : str, optional
        Name of the file with the scores, for the title.
    groups : mapping of str to GroupTable, optional
        Tables of groups by model; `GroupEvaluation.to_html` makes them.
    families : mapping of str to MeasureFamily, optional
        Measures that some fields report, from `Evaluation.family`, by model.

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

    page = render(
        summarize(
            evaluations,
            differences,
            choices,
            rankings,
            bounds,
            command=command,
            prior_model=prior_model,
            notes=notes,
            file=file,
            groups=groups,
            families=families,
        )
    )
    with open_atomic(path) as stream:
        stream.write(page)
