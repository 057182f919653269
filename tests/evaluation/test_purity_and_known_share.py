"""A known prevalence or label frequency, and an uncertain purity: the prior moves with it."""

import json
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from pueval import AssumptionWarning, InputError, compare, evaluate
from pueval.commands.app import run
from pueval.evaluation.assumption_text import assumption_sentences, share_origin
from pueval.model_selection import evaluate_cv
from pueval.report._python_code import reproducing_code
from pueval.scoring import make_scorer

NAMES = ("roc_auc", "average_precision", "f1", "accuracy", "precision", "balanced_accuracy")
PREVALENCE, PURITY = 0.37, 0.9


@pytest.fixture(scope="module")
def rows():
    """One sample of 3,000 rows; 300 are labeled, 270 of them rightly."""
    rng = np.random.default_rng(1)
    positive = np.arange(3000) < PREVALENCE * 3000
    y = np.zeros(3000, dtype=bool)
    y[rng.choice(np.flatnonzero(positive), 270, replace=False)] = True
    y[rng.choice(np.flatnonzero(~positive), 30, replace=False)] = True
    return y, rng.normal(size=3000) + 2.2 * positive


LABEL_FREQUENCY = 270 / (PREVALENCE * 3000)
SHARES = [{"prevalence": PREVALENCE}, {"label_frequency": LABEL_FREQUENCY}]


def quiet(*rows, function=evaluate, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return function(*rows, **given)


@pytest.mark.parametrize("share", SHARES)
def test_intervals_hold_those_of_every_purity(rows, share):
    whole = quiet(*rows, **share, purity=(0.85, 0.95), threshold=1.2)
    best = whole.best("f1")
    for purity in (0.85, 0.88, 0.91, 0.95):
        one = quiet(*rows, **share, purity=purity, threshold=1.2)
        for name in NAMES:
            # In the interval, the error of the number of labels is linear in the prior.
            slack = 1e-2 if name == "average_precision" else 5e-3
            assert whole[name].low <= one[name].low + slack, name
            assert whole[name].high >= one[name].high - slack, name
        assert best.low <= one.best("f1").low + 4e-3
        assert best.high >= one.best("f1").high - 4e-3
    for kind in ("pointwise", "simultaneous"):
        band = whole.roc_band(kind)
        assert np.all(band.low <= band.high)


@pytest.mark.parametrize("share", SHARES)
def test_the_known_share_stays_as_it_is(rows, share):
    whole = quiet(*rows, **share, purity=(0.85, 0.95), level=None)
    ((name, value),) = share.items()
    for mixture in (whole.mixture, *whole.region.nodes):
        assert getattr(mixture, name)(whole.counts) == pytest.approx(value)


def test_intervals_of_both(rows):
    whole = quiet(*rows, prevalence=(0.35, 0.4), purity=(0.85, 0.95), threshold=1.2)
    rng = np.random.default_rng(0)
    for prevalence, purity in zip(
        rng.uniform(0.35, 0.4, 6), rng.uniform(0.85, 0.95, 6), strict=True
    ):
        one = quiet(*rows, prevalence=prevalence, purity=purity, threshold=1.2)
        for name in NAMES:
            assert whole[name].low <= one[name].low + 3e-3, name
            assert whole[name].high >= one[name].high - 3e-3, name


@pytest.mark.parametrize("share", [*SHARES, {"prior": 0.31}])
def test_purity_estimated(rows, share):
    ev = quiet(*rows, **share, purity="estimate", threshold=1.2)
    ((name, value),) = share.items()
    low, high = ev.prior_estimate.purity_interval
    assert low < PURITY < high
    assert ev.prior_estimate.known_share == name
    shown = ev.prior if name == "prior" else getattr(ev.mixture, name)(ev.counts)
    assert shown == pytest.approx(value)
    exact = quiet(*rows, **share, purity=ev.purity, threshold=1.2)
    for measure in NAMES:
        assert ev[measure].value == pytest.approx(exact[measure].value)
        assert ev[measure].low <= ev[measure].value <= ev[measure].high
    assert np.all(ev.roc_band().low <= ev.roc_band().high)
    assert ev.at(2.0)["precision"].low < ev.at(2.0)["precision"].high


def test_draws_keep_the_prevalence(rows):
    """Without new numbers of labeled rows, only the purity varies."""
    ev = quiet(*rows, prevalence=PREVALENCE, purity="estimate", variance="labeling")
    draws = ev._resamples.mixture_draws
    assert draws.purity.std() > 0.01
    assert draws.prevalence(ev.counts) == pytest.approx(PREVALENCE)


def test_unlabeled_rows_as_target(rows):
    """There the prevalence is the prior, whatever the purity."""
    by_prevalence, by_prior = (
        quiet(*rows, **{name: 0.31}, purity=(0.85, 0.95), target="unlabeled")
        for name in ("prevalence", "prior")
    )
    assert by_prevalence.region == by_prior.region
    assert by_prevalence.region.prior == (0.31, 0.31)
    estimated = quiet(*rows, prevalence=0.31, purity="estimate", target="unlabeled")
    assert estimated.prior == 0.31


@pytest.mark.parametrize("purity", [(0.85, 0.95), "estimate"])
@pytest.mark.parametrize("share", SHARES)
def test_models_compared(rows, share, purity):
    y, score = rows
    worse = score + np.random.default_rng(5).normal(size=y.size)
    found = quiet(y, {"a": worse, "b": score}, function=compare, **share, purity=purity)
    [difference] = found.differences("roc_auc")
    assert difference.low < difference.value < difference.high < 0
    alone = quiet(*rows, **share, purity=purity)
    assert found.mixture == alone.mixture
    # The purity is estimated by the model that separates better.
    assert found.prior_model == ("b" if purity == "estimate" else None)
    for name in NAMES:
        assert found.evaluations["b"][name].value == pytest.approx(alone[name].value)


@pytest.mark.parametrize("share", SHARES)
def test_an_estimate_given_to_another_model(rows, share):
    first = quiet(*rows, **share, purity="estimate")
    second = quiet(*rows, prior=first.prior_estimate)
    for name in NAMES:
        assert second[name].low == pytest.approx(first[name].low)


@pytest.mark.parametrize("share", SHARES)
def test_a_prior_that_follows_from_a_known_share_was_not_given(rows, share):
    text = " ".join(assumption_sentences(quiet(*rows, **share)))
    [name] = share
    assert f"It follows from the given {name.replace('_', ' ')} and the purity." in text


def test_said_in_words(rows):
    ev = quiet(*rows, prevalence=PREVALENCE, purity=(0.85, 0.95))
    text = " ".join(assumption_sentences(ev))
    assert "It follows from the given prevalence and the purity, and ranges from 0.3056" in text
    assert "covering every prevalence and purity in the given intervals" in text
    ev = quiet(*rows, prevalence=PREVALENCE, purity="estimate")
    text = " ".join(assumption_sentences(ev))
    assert "It follows from the given prevalence and the purity." in text
    assert "It was estimated from the scores (tilt, 95% CI" in text
    assert "including uncertainty in the estimated purity" in text
    assert "(from prevalence and purity), purity" in " ".join(repr(ev).split())
    assert "It was given, not estimated." in " ".join(
        assumption_sentences(quiet(*rows, prior=0.31, purity="estimate"))
    )
    # Too few clusters for an interval.
    ev = quiet(*rows, purity="estimate", cluster=np.arange(len(rows[0])) % 5)
    assert ev.mixture.purity < 1
    assert "It was estimated from the scores (consensus)." in share_origin(ev, "purity")
    assert f"purity {ev.mixture.purity:.3g} (estimated)" in " ".join(repr(ev).split())
    # Nobody gave the default.
    assert "is 1 (clean labels). It was assumed, not estimated." in " ".join(
        assumption_sentences(quiet(*rows, prior=0.31))
    )


@pytest.mark.parametrize(
    "given",
    [
        {"prevalence": 0.37, "purity": (0.85, 0.95)},
        {"prevalence": (0.35, 0.4), "purity": (0.85, 0.95)},
        {"prevalence": 0.37, "purity": "estimate"},
        {"label_frequency": 0.25, "purity": (0.85, 0.95)},
        {"label_frequency": 0.25, "purity": "estimate"},
        {"prior": 0.3, "purity": "estimate"},
    ],
)
def test_reproducing_code_and_pickle(rows, given):
    ev = quiet(*rows, **given, n_resamples=100)
    code = reproducing_code({"model": ev}, choices=False, rankings=False)
    call = code.split("\n")[-1].removesuffix('.to_html("report.html")')
    y, score = rows
    again = quiet(function=lambda: eval(call, {"evaluate": evaluate, "y": y, "score": score}))  # noqa: S307
    assert again.mixture.prior == pytest.approx(ev.mixture.prior)
    assert again["f1"].low == pytest.approx(ev["f1"].low)
    assert pickle.loads(pickle.dumps(ev))["f1"] == ev["f1"]  # noqa: S301 - made here


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"prevalence": 0.05, "purity": (0.9, 1.0)}, "prevalence must be in"),
        ({"prevalence": (0.3, 0.4), "purity": "estimate"}, "needs prevalence as a number"),
        ({"prevalence": 1.0, "purity": "estimate"}, "whatever the purity"),
        ({"label_frequency": 0.05, "purity": (0.9, 1.0)}, "label_frequency must be above"),
        ({"prevalence": 0.37, "purity": "guess"}, 'an interval or "estimate"'),
    ],
)
def test_bad_input(rows, given, message):
    with pytest.raises(InputError, match=message):
        evaluate(*rows, **given)


class FirstFeature(ClassifierMixin, BaseEstimator):
    """The score is the first feature, whatever the training rows."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] > 1).astype(int)]


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("purity", [(0.85, 0.95), "estimate"])
def test_cross_validation(rows, share, purity):
    y, score = rows
    ev = quiet(
        FirstFeature(), score[:, None], y, function=evaluate_cv, **share, purity=purity, level=None
    )
    alone = quiet(*rows, **share, purity=purity, level=None)
    # Scores become ranks within folds.
    assert ev.purity == pytest.approx(alone.purity, abs=0.01)
    assert ev["f1"].value == pytest.approx(alone["f1"].value, abs=0.02)
    ((name, value),) = share.items()
    assert getattr(ev.mixture, name)(ev.counts) == pytest.approx(value)


def test_cross_validation_checks_before_it_trains(rows):
    y, score = rows
    for given in ({"prevalence": (0.3, 0.4)}, {"label_frequency": 0.05}, {"prevalence": 1.2}):
        with pytest.raises(InputError):
            evaluate_cv(None, score[:, None], y, **given, purity="estimate")


@pytest.mark.parametrize("share", [*SHARES, {"prior": 0.31}])
def test_scorer(rows, share):
    y, score = rows
    model = FirstFeature().fit(score[:, None], y)
    scorer = make_scorer("roc_auc", **share, purity="estimate")
    ev = quiet(*rows, **share, purity="estimate", level=None)
    assert quiet(model, score[:, None], y, function=scorer) == pytest.approx(
        ev["roc_auc"].unclipped
    )


@pytest.mark.parametrize("given", [["--purity", "0.85,0.95"], ["--purity", "estimate"]])
@pytest.mark.parametrize("share", [["--prevalence", "0.37"], ["--label-frequency", "0.243"]])
def test_command_line(rows, tmp_path, capsys, share, given):
    y, score = rows
    path = tmp_path / "scores.csv"
    worse = score + np.random.default_rng(0).normal(size=y.size)
    columns = np.column_stack([y, score, worse])
    np.savetxt(path, columns, delimiter=",", header="label,a,b", comments="")
    command = ["evaluate", str(path), "--label", "label", "--score", "b", "--score", "a"]
    outputs = ["--json", str(tmp_path / "out.json"), "--html", str(tmp_path / "out.html")]
    assert run([*command, *share, *given, *outputs]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    models = json.loads((tmp_path / "out.json").read_text())["models"]
    mixtures = {
        (model["assumptions"]["prior"], model["assumptions"]["purity"]) for model in models.values()
    }
    assert len(mixtures) == 1  # one estimate for all models, by the better one
    name = share[0][2:].replace("-", " ")
    if given[1] == "estimate":
        assert f"(from {name} and purity), purity" in printed
        assert "(estimated from the scores of a," in printed
    else:
        assert f"covering every {name} and purity in the given intervals" in printed
    assert "follows from" in (tmp_path / "out.html").read_text()
