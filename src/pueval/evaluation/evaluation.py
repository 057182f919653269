"""Evaluation: the corrected performance of one classifier, and everything derived from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pueval.core.curves import PrecisionRecallCurve, RocCurve, correct_roc_from_corners
from pueval.core.measures import find_measure
from pueval.core.mixture import NAIVE, Mixture
from pueval.errors import InputError
from pueval.estimates.baselines import Baselines
from pueval.estimates.cluster_effects import ClusterEffects
from pueval.estimates.estimate import Estimate, OperatingPoint
from pueval.evaluation import evaluation_text
from pueval.evaluation.assumption_text import prior_and_purity
from pueval.evaluation.experiment_trackers import log_numbers
from pueval.evaluation.sensitivity_estimates import SensitivityEstimates
from pueval.evaluation.verdict import Verdict, judge
from pueval.ranking import ranking_measures
from pueval.text.exported_tables import latex_table, markdown_table
from pueval.text.results import measure_frame
from pueval.thresholds.measure_curve import MeasureCurve, curve_thresholds, measure_curve
from pueval.uncertainty.bands import BandKind, CurveBand, precision_recall_band, roc_band
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.measure_intervals import Resamples

if TYPE_CHECKING:
    import os

    import pandas as pd

    from pueval.displays import OverviewDisplay


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(SensitivityEstimates):
    """Corrected performance of one classifier; made by `evaluate`.

    It maps names of measures to estimates: ``ev["f1"].value`` is the corrected F1,
    ``ev["f1"].naive`` the one that counts unlabeled rows as negative. ``"roc_auc"`` and
    ``"average_precision"`` are areas; all other measures belong to ``ev.threshold``.

    Attributes
    ----------
    counts : Counts
        The data.
    target : {"population", "unlabeled"}
        Population that was evaluated.
    threshold : float
        Threshold at which threshold-based measures are computed.
    warnings : tuple of str
        Problems that were found, such as a prior that contradicts the ranking.
    assumptions : Assumptions
        Prior and purity, and how they are known: exactly, as an interval or as an estimate.
    resampling : IntervalOptions or None
        Confidence level, number of resamples, random seed and kind of variance; None without
        intervals.
    operating_point : OperatingPoint
        Every measure at ``threshold``.
    threshold_chosen : bool
        Whether the threshold was chosen on these rows; intervals account for the choice.
    splits : Splits or None
        Repeats of the cross-validation, if made by `evaluate_cv`.
    audit : Audit or None
        What an audit found, if rows were audited.
    clusters : ClusterEffects or None
        Clusters and their design effects, if rows belong together.
    """

    @cached_property
    def clusters(self) -> ClusterEffects | None:
        """Clusters and their design effects; None if rows are independent."""
        return ClusterEffects.of(self.counts, self._corners, self.threshold)

    # ------------------------------------------------------------------ curves

    def roc(self, *, naive: bool = False) -> RocCurve:
        """Return the ROC curve.

        Parameters
        ----------
        naive : bool, default False
            Whether to count unlabeled rows as negative instead of correcting.

        Returns
        -------
        RocCurve
            Its ``area`` is, for the corrected curve, Jain's indirect estimate of the AUC.
        """
        if naive:
            return correct_roc_from_corners(self.counts, self._corners, NAIVE)
        return correct_roc_from_corners(
            self.counts, self._corners, self.mixture, self.target, rates=self._rates[0]
        )

    def roc_area(self) -> Estimate:
        """Return the area under the corrected ROC curve: another estimate of the AUC.

        ``ev["roc_auc"]`` corrects the naive AUC directly. This is the indirect estimate of Jain et
        al.: the area under the curve of `roc`, which is monotone and stays in [0, 1]. With few
        labeled rows, noisy labels or an AUC above 0.9 its error is smaller, down to half; for weak
        classifiers it is somewhat too high. The interval comes from resampled rates, made
        monotone in the same way. Assumes random labeling.

        Returns
        -------
        Estimate
            Without an interval if the evaluation was made with ``level=None``.

        References
        ----------
        Jain, White and Radivojac (2017), algorithm 1.

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> y = np.repeat([1, 0], [100, 900])
        >>> positive = rng.random(1000) < np.where(y == 1, 1.0, 0.3)
        >>> score = rng.normal(size=1000) + 2 * positive
        >>> ev = evaluate(y, score, prior=0.3, threshold=1)
        >>> direct, indirect = ev["roc_auc"], ev.roc_area()
        >>> bool(indirect.high - indirect.low < direct.high - direct.low)
        True
        """
        interval = Interval()
        if self._resamples is not None:
            interval = self._resamples.roc_area_interval(self._roc_area)
        area = self._roc_area(self.mixture)
        return Estimate.of(area, self["roc_auc"].naive, interval)

    def _roc_area(self, mixture: Mixture) -> float:
        return correct_roc_from_corners(self.counts, self._corners, mixture, self.target).area

    def pr(self, *, naive: bool = False) -> PrecisionRecallCurve:
        """Return the precision-recall curve.

        Parameters
        ----------
        naive : bool, default False
            Whether to count unlabeled rows as negative instead of correcting.

        Returns
        -------
        PrecisionRecallCurve
            Its ``area`` is the average precision.
        """
        return self._pr[naive]

    def roc_band(self, kind: BandKind = "pointwise") -> CurveBand:
        """Return the confidence band of the ROC curve.

        Parameters
        ----------
        kind : {"pointwise", "simultaneous"}
            Coverage of the band: at each false positive rate, or of the whole curve.

        Returns
        -------
        CurveBand
        """
        return roc_band(self.roc(), self._resamples_for("roc_band"), kind)

    def pr_band(self, kind: BandKind = "pointwise") -> CurveBand:
        """Return the confidence band of the precision-recall curve.

        Parameters
        ----------
        kind : {"pointwise", "simultaneous"}
            Coverage of the band: at each recall, or of the whole curve.

        Returns
        -------
        CurveBand
            It starts at the recall at which five labeled rows are predicted positive.
        """
        return precision_recall_band(self.pr(), self._resamples_for("pr_band"), kind)

    def _resamples_for(self, method: str) -> Resamples:
        if self._resamples is None:
            raise InputError(
                f"{method}() needs intervals, but this evaluation has none: it was made with "
                "level=None, or with too few clusters."
            )
        return self._resamples

    def by_threshold(self, measure: str) -> MeasureCurve:
        """Return a measure at many thresholds, as in figure 1 of Ramola et al. (2019).

        Parameters
        ----------
        measure : str
            Name of a measure at a threshold, for example ``"f1"``.

        Returns
        -------
        MeasureCurve
            The measure at about a thousand quantiles of the scores, with intervals at some of
            them. The thresholds include the best ones (corrected and naive) and ``threshold``.
        """
        best = self.best(measure)
        thresholds = curve_thresholds(
            self.counts, self._resamples, best.threshold, best.naive_threshold, self.threshold
        )
        return measure_curve(find_measure(measure), *self._rates_at(thresholds), self._resamples)

    def baselines(self, *, naive: bool = False) -> Baselines:
        """Return every measure of classifiers that ignore the scores.

        They predict every row positive, no row, or a random share: as many rows as this classifier
        predicts at ``threshold``. A high F1 or accuracy can be no better than these. At prevalence
        π, predicting every row positive has an F1 of 2π/(1 + π), and predicting none an accuracy
        of 1 − π.

        Parameters
        ----------
        naive : bool, default False
            Whether to count unlabeled rows as negative, for comparison with naive values.

        Returns
        -------
        Baselines

        References
        ----------
        Ramola, Jain and Radivojac (2019), section 3.1.

        Examples
        --------
        >>> from pueval import Counts, evaluate
        >>> counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[200, 700])
        >>> ev = evaluate(counts, prior=1 / 9, threshold=2, level=None)
        >>> ev.baselines()["f1"]
        Baseline: all positive 0.333, all negative 0.000, random 0.233
        """
        return Baselines.of(self.operating_point._rates[naive])

    def ranking(self) -> dict[str, float]:
        """Return the measures that need no prior: see `pueval.ranking.ranking_measures`.

        Returns
        -------
        dict of str to float
        """
        return ranking_measures(self.counts)

    # ------------------------------------------------------------------ output

    def verdict(self) -> Verdict:
        """Say what the numbers mean: what is known, what drives the uncertainty, what to do next.

        Returns
        -------
        Verdict
            Its ``sentences()`` are printed above the table of an evaluation.

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> positive = rng.random(20_000) < 0.3
        >>> score = rng.normal(size=20_000) + 2 * positive
        >>> labeled = positive & (rng.random(20_000) < 0.2)
        >>> verdict = evaluate(labeled, score, prevalence=0.3).verdict()
        >>> round(verdict.hidden_positives), verdict.prior_knowledge
        (4854, 'given')
        """
        return self._verdict

    @cached_property
    def _verdict(self) -> Verdict:
        return judge(self)

    def plot(self, *, measure: str = "f1", title: str | None = None) -> OverviewDisplay:
        """Draw both curves, the score distributions, and a measure by threshold.

        Parameters
        ----------
        measure : str, default "f1"
            Measure to draw by threshold.
        title : str, optional
            Title of the figure.

        Returns
        -------
        OverviewDisplay
            Display with ``figure_``, ``axes_`` and ``frame()``.
        """
        from pueval.displays._overview import OverviewDisplay

        return OverviewDisplay.compute(self, measure=measure, title=title).plot()

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per measure and a column per field of `Estimate`.

        Returns
        -------
        pandas.DataFrame
        """
        self._estimate_areas()
        return measure_frame(self, "Evaluation.frame()")

    def to_dict(self, *, all_points: bool = False) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON.

        Parameters
        ----------
        all_points : bool, default False
            Whether curves have all of their ``n_points`` points. By default they are thinned to at
            most 2,000, which look the same in a plot.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        content = evaluation_text.as_data(self, all_points=all_points)
        return content | {"verdict": self.verdict().to_dict()}

    def to_markdown(self, *, all_measures: bool = False) -> str:
        r"""Return the printed table in Markdown.

        Parameters
        ----------
        all_measures : bool, default False
            Whether to include all measures, not only those that are printed.

        Returns
        -------
        str
            Measure, naive and corrected value, and confidence interval.

        Examples
        --------
        >>> from pueval import Counts, evaluate
        >>> counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[200, 700])
        >>> ev = evaluate(counts, prior=1 / 9, threshold=2, level=None)
        >>> print("\n".join(ev.to_markdown().splitlines()[:3]))
        | Measure | Naive | Corrected |
        |:--|--:|--:|
        | ROC AUC | 0.789 | 0.825 |
        """
        return markdown_table(*evaluation_text.exported_table(self, all_measures=all_measures))

    def to_latex(self, *, all_measures: bool = False) -> str:
        """Return the printed table in LaTeX, for the package booktabs.

        Parameters
        ----------
        all_measures : bool, default False
            Whether to include all measures, not only those that are printed.

        Returns
        -------
        str
            A ``tabular`` with measure, naive and corrected value, and confidence interval.
        """
        return latex_table(*evaluation_text.exported_table(self, all_measures=all_measures))

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        name: str = "classifier",
        choices: Sequence[OperatingPoint] = (),
        ranking: bool = False,
        bounds: bool = False,
        families: Sequence[str] = (),
    ) -> None:
        """Write a self-contained page with sliders: see `pueval.report.write_report`.

        Parameters
        ----------
        path : str or path
            File to write; an existing file is replaced.
        name : str
            Name of the model on the page.
        choices : sequence of OperatingPoint, optional
            Chosen thresholds to show, from `threshold_for`.
        ranking : bool, default False
            Whether to show the measures that need no prior.
        bounds : bool, default False
            Whether to show Claesen's bounds of every measure: see `bounds`.
        families : sequence of str, optional
            Families or measures to show in a table of their own: see `family`.
        """
        from pueval.report import write_report

        write_report(
            path,
            {name: self},
            choices={name: choices} if choices else None,
            rankings={name: self.ranking()} if ranking else None,
            bounds={name: self.bounds()} if bounds else None,
            families={name: self.family(*families)} if families else None,
        )

    def log_to(self, target: Any, *, step: int | None = None, prefix: str = "") -> None:
        """Log the estimates to an experiment tracker: MLflow, Weights & Biases or TensorBoard.

        For each measure, such as ``roc_auc``, it logs the corrected value as ``roc_auc``, its
        confidence interval as ``roc_auc_low`` and ``roc_auc_high``, and the value that counts
        unlabeled rows as negative as ``roc_auc_naive``. It also logs ``prior`` and ``purity``
        (each with its interval, such as ``purity_low`` and ``purity_high``, unless it is exact),
        ``prevalence`` and ``threshold``. Undefined numbers are left out.

        Parameters
        ----------
        target : module, run, writer or logger
            The module ``mlflow``, which logs to its active run; the run that ``wandb.init()``
            returns; a ``SummaryWriter`` of ``torch.utils.tensorboard`` or ``tensorboardX``; or a
            logger of Lightning, such as ``self.logger`` in a ``LightningModule``.
        step : int, optional
            Step, such as the epoch. Without it, the tracker uses its own default.
        prefix : str, default ""
            Text in front of every name. Trackers show names with the prefix ``"validation/"`` in
            a section of their own.

        Examples
        --------
        >>> from pueval import Counts, evaluate
        >>> class Writer:                          # in place of SummaryWriter()
        ...     def add_scalar(self, tag, value, global_step):
        ...         if tag.startswith("validation/roc_auc"):
        ...             print(tag, round(value, 3), global_step)
        >>> counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[200, 700])
        >>> ev = evaluate(counts, prior=1 / 9, threshold=2, level=None)
        >>> ev.log_to(Writer(), step=3, prefix="validation/")
        validation/roc_auc 0.825 3
        validation/roc_auc_naive 0.789 3
        """
        log_numbers(target, self, step=step, prefix=prefix)

    def summary(self) -> str:
        """Return what was evaluated and assumed, in one line.

        Returns
        -------
        str
        """
        return evaluation_text.summary(self)

    def assumed(self) -> str:
        """Return the prior and purity that were used, and whether they were estimated.

        Returns
        -------
        str
        """
        return prior_and_purity(self)

    def __repr__(self) -> str:
        return evaluation_text.as_text(self)

    def _repr_html_(self) -> str:
        from pueval.displays._notebook import notebook_html

        return notebook_html(self)
