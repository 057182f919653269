"""Mixture: prior and purity, the shares of positives among unlabeled and labeled rows.

This is the only place that converts between prior, prevalence and label frequency.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal, get_args, overload

import numpy as np

from pueval._checks import check_counts, is_choice, percent_hint, short_text
from pueval._typing import Array, Target
from pueval.core.sizes import SampleSizes
from pueval.errors import InputError
from pueval.text.results import Result

PriorSource = Literal["label_frequency", "prevalence"]
# Smallest contrast of `cap_prior`, as a share of the purity.
LEAST_CONTRAST = 1e-9


def check_target(target: str) -> None:
    """Raise if the target is neither of the two."""
    if not is_choice(target, get_args(Target)):
        raise InputError(
            f"target must be 'population' (labeled and unlabeled rows together) or 'unlabeled' "
            f"(labeled rows were collected separately); got {target!r}."
        )


@dataclass(frozen=True)
class Mixture(Result):
    """The shares of positives among unlabeled and labeled rows.

    Unlabeled scores have density ``prior·f1 + (1 − prior)·f0`` and labeled ones
    ``purity·f1 + (1 − purity)·f0``, with f1 and f0 the densities of positives and negatives.

    Parameters
    ----------
    prior : float
        Share of positives among the **unlabeled** rows, in [0, purity).
    purity : float, default 1.0
        Share of true positives among the **labeled** rows; 1 means clean labels.

    Notes
    -----
    Prior and purity are α and β of Jain et al. (2017) and Ramola et al. (2019); the prior is
    β of Claesen et al. (2015); the label frequency is ρ of Tabatabaei et al. (2020) and c of
    Elkan and Noto (2008).

    Examples
    --------
    >>> from pueval import Counts, Mixture
    >>> counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[200, 700])
    >>> mixture = Mixture.from_prevalence(counts, 0.28)
    >>> mixture
    Mixture(prior=0.2, purity=1.0)
    >>> round(mixture.label_frequency(counts), 3)
    0.357
    """

    prior: float
    purity: float = 1.0

    _share_hint: ClassVar[str] = "Pass its .prior as prior, and its .purity as purity."

    def __post_init__(self) -> None:
        purity = check_share("purity", self.purity, low_open=True)
        prior = check_share("prior", self.prior, high_open=True)
        object.__setattr__(self, "purity", purity)
        object.__setattr__(self, "prior", prior)
        if self.prior >= self.purity:
            raise InputError(
                f"prior must be below purity; got prior={self.prior:g} and "
                f"purity={self.purity:g}. Labels carry information only if positives are more "
                "frequent among labeled than among unlabeled rows."
            )

    @classmethod
    def from_prevalence(
        cls, counts: SampleSizes[float], prevalence: float, purity: float = 1.0
    ) -> Mixture:
        """Solve prevalence = (purity·n_L + prior·n_U) / n for the prior.

        Parameters
        ----------
        counts : Counts
            The data; all rows together are the population.
        prevalence : float
            Share of positives among all rows, labeled ones included.
        purity : float, default 1.0
            Share of true positives among the labeled rows.

        Returns
        -------
        Mixture

        Examples
        --------
        >>> from pueval import Counts
        >>> counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[200, 700])
        >>> Mixture.from_prevalence(counts, 0.1).prior
        0.0
        """
        prevalence = check_share("prevalence", prevalence)
        purity = check_share("purity", purity, low_open=True)
        check_unlabeled(counts, "prevalence")
        prior = _snap_to_zero(prior_from_prevalence(counts, prevalence, purity))
        if not 0 <= prior < purity:
            labeled = purity * counts.n_labeled
            least, most = labeled / counts.n, (labeled + purity * counts.n_unlabeled) / counts.n
            raise InputError(
                f"prevalence must be in [{least:.4g}, {most:.4g}) with {counts.n_labeled:,} "
                f"labeled rows of purity {purity:g} among {counts.n:,}; got {prevalence:g}. "
                "Check which rows it refers to."
            )
        return cls(prior, purity)

    @classmethod
    def from_label_frequency(
        cls, counts: SampleSizes[float], label_frequency: float, purity: float = 1.0
    ) -> Mixture:
        """Solve label_frequency = purity·n_L / (purity·n_L + prior·n_U) for the prior.

        Parameters
        ----------
        counts : Counts
            The data.
        label_frequency : float
            Share of all positives that are labeled.
        purity : float, default 1.0
            Share of true positives among the labeled rows.

        Returns
        -------
        Mixture

        Examples
        --------
        >>> from pueval import Counts
        >>> counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[200, 700])
        >>> Mixture.from_label_frequency(counts, 0.4)
        Mixture(prior=0.16666666666666666, purity=1.0)
        """
        label_frequency = check_share("label_frequency", label_frequency, low_open=True)
        purity = check_share("purity", purity, low_open=True)
        check_unlabeled(counts, "label_frequency")
        prior = _snap_to_zero(prior_from_label_frequency(counts, label_frequency, purity))
        if prior >= purity:
            labeled = purity * counts.n_labeled
            least = labeled / (labeled + purity * counts.n_unlabeled)
            raise InputError(
                f"label_frequency must be above {least:.4g} with these counts; got "
                f"{label_frequency:g}. {labeled:,.6g} labeled positives would mean "
                f"{labeled / label_frequency:,.6g} positives, too many for "
                f"{counts.n_unlabeled:,} unlabeled rows."
            )
        return cls(prior, purity)

    def prior_standard_error(
        self,
        counts: SampleSizes[float],
        given: PriorSource = "label_frequency",
        target: Target = "population",
    ) -> float:
        """Return the standard error of a prior computed from the number of labeled rows.

        The number of labeled rows varies from sample to sample, and so does a prior computed from
        it.

        - Given the label frequency, the estimated number of positives is proportional to the
          number of labeled rows. For the population, this method returns the standard error of
          that number divided by n_U. This makes the standard error of the prevalence correct and
          overstates that of the prior. For the unlabeled rows, it returns the standard error of
          the prior itself.
        - Given the prevalence, the more positives are labeled, the fewer remain among the
          unlabeled rows: prior = (prevalence·n − purity·n_L) / (n − n_L), which changes by
          −(purity − prior)/n_U per labeled row.

        Parameters
        ----------
        counts : Counts
            The data.
        given : {"label_frequency", "prevalence"}
            Known quantity from which the prior was computed.
        target : {"population", "unlabeled"}
            Population whose share of positives gets the correct standard error.

        Returns
        -------
        float

        Examples
        --------
        >>> from pueval import Counts
        >>> counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[200, 700])
        >>> round(Mixture.from_label_frequency(counts, 0.4).prior_standard_error(counts), 4)
        0.0264
        >>> mixture = Mixture.from_prevalence(counts, 0.25)
        >>> round(mixture.prior_standard_error(counts, "prevalence"), 4)
        0.0088
        """
        relative = math.sqrt((1 - counts.labeled_share) / counts.effective_sizes[0])
        if given == "prevalence":
            return relative * (self.purity - self.prior) * counts.n_labeled / counts.n_unlabeled
        if target == "unlabeled":
            # One more labeled row means one fewer unlabeled row.
            return relative * self.prior * (1 + counts.n_labeled / counts.n_unlabeled)
        positives = self.purity * counts.n_labeled / self.label_frequency(counts)
        return relative * positives / counts.n_unlabeled

    def prevalence(self, counts: SampleSizes[float], target: Target = "population") -> float:
        """Return the share of positives in the target.

        Parameters
        ----------
        counts : Counts
            The data.
        target : {"population", "unlabeled"}
            All rows, or only the unlabeled rows (then the prevalence is the prior).

        Returns
        -------
        float
        """
        return float(_prevalence(self.prior, self.purity, counts, target))

    def prevalence_standard_error(self, counts: SampleSizes[float]) -> float:
        """Return the standard error of the population's prevalence for known prior and purity.

        The number of labeled rows varies from sample to sample. The prevalence is the mean over
        all rows of the probability of being positive: purity for labeled rows, prior for
        unlabeled rows and 0 for known negatives.

        Parameters
        ----------
        counts : Counts
            The data.

        Returns
        -------
        float

        Examples
        --------
        >>> from pueval import Counts
        >>> counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[200, 700])
        >>> round(Mixture(0.0).prevalence_standard_error(counts), 4)    # √(0.1·0.9/1000)
        0.0095
        """
        return float(_prevalence_standard_error(self.prior, self.purity, counts))

    def label_frequency(self, counts: SampleSizes[float]) -> float:
        """Return the share of all positives that are labeled.

        Parameters
        ----------
        counts : Counts
            The data.

        Returns
        -------
        float
        """
        labeled = self.purity * counts.n_labeled
        return labeled / (labeled + self.prior * counts.n_unlabeled)

    def wrong_label_frequency(self, counts: SampleSizes[float]) -> float:
        """Return the share of the negatives, known ones left out, that are labeled by mistake.

        Parameters
        ----------
        counts : Counts
            The data.

        Returns
        -------
        float

        Examples
        --------
        >>> from pueval import Counts
        >>> counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[200, 700])
        >>> round(Mixture(prior=0.1, purity=0.9).wrong_label_frequency(counts), 4)    # 10 of 820
        0.0122
        """
        labeled = (1 - self.purity) * counts.n_labeled
        negatives = labeled + (1 - self.prior) * counts.n_unlabeled
        return labeled / negatives if labeled else 0.0

    def background_prior(self, counts: SampleSizes[float]) -> float:
        """Return the share of positives in the background: unlabeled rows and known negatives.

        Parameters
        ----------
        counts : Counts
            The data.

        Returns
        -------
        float
        """
        return float(_background_prior(self.prior, counts))


@dataclass(frozen=True, eq=False)
class Mixtures:
    """Arrays of mixtures: one per resample, or the points of a grid.

    Attributes
    ----------
    prior, purity : ndarray
        Arrays of equal shape; every prior is below its purity.
    """

    prior: Array
    purity: Array

    @classmethod
    def naive(cls, size: int) -> Mixtures:
        """Return mixtures that count every unlabeled row as negative."""
        return cls(np.full(size, NAIVE.prior), np.full(size, NAIVE.purity))

    def prevalence(self, counts: SampleSizes[Any], target: Target = "population") -> Array:
        """Return the share of positives in the target for each mixture."""
        return np.asarray(_prevalence(self.prior, self.purity, counts, target))

    def prevalence_standard_error(self, counts: SampleSizes[Any]) -> Array:
        """Return the standard error of the population's prevalence for each mixture."""
        return np.asarray(_prevalence_standard_error(self.prior, self.purity, counts))

    def background_prior(self, counts: SampleSizes[Any]) -> Array:
        """Return the share of positives in the background for each mixture."""
        return np.asarray(_background_prior(self.prior, counts))

    def lines(self, block: slice) -> Mixtures:
        """Return the mixtures of some resamples."""
        return Mixtures(self.prior[block], self.purity[block])

    def __len__(self) -> int:
        return int(self.prior.size)

    def __getitem__(self, index: int) -> Mixture:
        return Mixture(float(self.prior.ravel()[index]), float(self.purity.ravel()[index]))


def _prevalence(prior: Any, purity: Any, counts: SampleSizes[Any], target: Target) -> Any:
    check_target(target)
    if target == "unlabeled":
        return prior
    return (purity * counts.n_labeled + prior * counts.n_unlabeled) / counts.n


def _prevalence_standard_error(prior: Any, purity: Any, counts: SampleSizes[Any]) -> Any:
    mean = _prevalence(prior, purity, counts, "population")
    probabilities = (purity, prior, 0.0)
    variances = (
        squared_weight * (probability - mean) ** 2
        for squared_weight, probability in zip(counts.squared_weights, probabilities, strict=True)
    )
    return np.sqrt(sum(variances)) / counts.n


def _background_prior(prior: Any, counts: SampleSizes[Any]) -> Any:
    return prior * counts.n_unlabeled / (counts.n_unlabeled + counts.n_negative)


def prior_from_prevalence(counts: SampleSizes[float], prevalence: float, purity: float) -> float:
    """Return the prior that a prevalence implies; below 0 or above the purity if impossible."""
    return (prevalence * counts.n - purity * counts.n_labeled) / counts.n_unlabeled


def prior_from_label_frequency(
    counts: SampleSizes[float], label_frequency: float, purity: float
) -> float:
    """Return the prior that a label frequency implies; above the purity if impossible."""
    # Rounded like the line of priors by purity, whose slope is the prior of clean labels.
    of_clean_labels = (
        counts.n_labeled * (1 - label_frequency) / (label_frequency * counts.n_unlabeled)
    )
    return of_clean_labels * purity


def check_share(
    name: str, value: float, *, low_open: bool = False, high_open: bool = False
) -> float:
    """Return a share as a float; raise if it is not a number from 0 to 1."""
    number: object = value
    if isinstance(number, Real):
        low_holds = value > 0 if low_open else value >= 0
        high_holds = value < 1 if high_open else value <= 1
        if low_holds and high_holds:
            return float(value)
    interval = ("(" if low_open else "[") + "0, 1" + (")" if high_open else "]")
    hint = percent_hint(number)
    if isinstance(number, str) and number == "estimate":
        hint = f" To estimate it, leave {name} out of evaluate(), or see pueval.priors."
    advice = _MEANING[name]
    if isinstance(number, Result) and number._share_hint:
        advice = number._share_hint
    raise InputError(
        f"{name} must be a number in {interval}; got {short_text(number)}. {advice}{hint}"
    )


_MEANING = {
    "prior": "It is the share of positives among the unlabeled rows.",
    "purity": "It is the share of true positives among the labeled rows; 1 means clean labels.",
    "prevalence": "It is the share of positives in the population.",
    "label_frequency": "It is the share of all positives that are labeled.",
}


def check_unlabeled(counts: SampleSizes[float], name: str) -> None:
    """Raise if a share was given that needs unlabeled rows, and there are none."""
    check_counts(counts)
    if not counts.n_unlabeled:
        raise InputError(
            f"{name} was given, but there are no unlabeled rows. Leave it out: if the class of "
            "every row is known, there is nothing to correct."
        )


def _snap_to_zero(prior: float) -> float:
    """Return 0 for a prior that is negative only by rounding."""
    return 0.0 if -1e-12 < prior < 0 else prior


@overload
def cap_prior(prior: float, purity: float = 1.0, contrast: float | None = None) -> float: ...


@overload
def cap_prior(
    prior: Array, purity: float | Array = 1.0, contrast: float | Array | None = None
) -> Array: ...


def cap_prior(prior: Any, purity: Any = 1.0, contrast: Any = None) -> Any:
    """Keep the prior below the purity, where the correction is defined.

    Parameters
    ----------
    prior : float or ndarray
        Share of positives among the unlabeled rows.
    purity : float or ndarray, default 1.0
        Share of true positives among the labeled rows.
    contrast : float or ndarray, optional
        Smallest allowed purity − prior, in (0, purity]; by default `LEAST_CONTRAST` of the purity.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> cap_prior(0.3), cap_prior(0.95, 0.9, contrast=0.1)
    (0.3, 0.8)
    """
    largest = purity * (1 - LEAST_CONTRAST) if contrast is None else purity - contrast
    capped = np.minimum(prior, largest)
    return capped if isinstance(capped, np.ndarray) else float(capped)


NAIVE = Mixture(0.0, 1.0)
