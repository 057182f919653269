"""ev.family: measures of families as a mapping and as a table."""

from __future__ import annotations

import numpy as np
import pytest

from pueval import AssumptionWarning, Counts, InputError, evaluate
from pueval.errors import UnknownMeasureError
from pueval.families.field_measures import FAMILIES
from pueval.text.numbers import CLIPPED_NOTE
from tests.comparison.test_families import probabilities

Y, SCORES, _ = probabilities(0, n=900)


@pytest.fixture(scope="module")
def ev():
    return evaluate(Y, SCORES["a"], prior=0.25)


def test_families_and_single_measures(ev):
    family = ev.family("probability", "bedroc_score", "boyce_index", "log_loss")
    assert [*family] == [*FAMILIES["probability"], "bedroc_score", "boyce_index"]
    assert family["bedroc_score"] is ev["bedroc_score"]
    assert family["boyce_index"].value == ev.presence()["boyce_index"].value
    assert family.level == 0.95


@pytest.mark.parametrize("prior", [0.25, (0.2, 0.3)])
def test_measures_together_are_those_one_by_one(prior):
    together, alone = (evaluate(Y, SCORES["a"], prior=prior) for _ in range(2))
    family = together.family("top", "presence")
    for name in reversed([*family]):
        assert alone[name] == family[name], name


def test_table_and_data(ev):
    family = ev.family("top")
    lines = str(family).splitlines()
    assert lines[0] == "Measures: top"
    assert len(lines) == len(FAMILIES["top"]) + 2
    assert family.frame().shape == (len(FAMILIES["top"]), 6)
    assert family.to_dict()["rie"]["value"] == ev["rie"].value
    assert "RIE" in family._repr_html_()


def test_refusals(ev):
    with pytest.raises(InputError, match="name at least one family: probability, top, presence"):
        ev.family()
    with pytest.raises(UnknownMeasureError, match="Did you mean 'probability'"):
        ev.family("probabilities")
    outside = evaluate(Y, 5 * SCORES["a"], prior=0.25, level=None)
    assert np.isfinite(outside.family("top")["rie"].value)
    with pytest.raises(InputError, match="needs probabilities"):
        outside.family("probability")


def test_membership_says_what_can_be_looked_up(rng):
    positive = rng.random(500) < 0.3
    ev = evaluate(positive & (rng.random(500) < 0.5), rng.normal(size=500) + positive, prior=0.2)
    for name in ("f1", "roc_auc", "aul", "bedroc_score", "boyce_index"):
        assert name in ev
        assert ev[name].value == ev.get(name).value
    assert "f0" not in ev
    assert "aul" not in list(ev)  # the default table leaves families out


def test_marks_of_clipped_values_are_explained():
    counts = Counts.from_table([2, 1], labeled=[50, 0], unlabeled=[10, 990])
    with pytest.warns(AssumptionWarning):
        ev = evaluate(counts, prior=0.1, threshold=2, level=None)
    family = ev.family("r_precision", "bedroc_score", "aul")
    assert "†" in str(family)
    assert str(family).endswith(CLIPPED_NOTE)
    assert CLIPPED_NOTE in family._repr_html_()
    assert CLIPPED_NOTE not in str(ev.family("aul"))


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("precision_at_k", "as in precision_at_100"),
        ("net_benefit", "as in net_benefit_at_0.2"),
        ("precision_at_0.05", "write it in percent: precision_at_5%"),
        ("precision_at_10.5", "write it in percent: precision_at_10.5%"),
        ("precision_at_0", "precision_at_0: the number of rows must be at least 1"),
        ("recall_at_150%", "recall_at_150%: the share must be above 0% and at most 100%"),
        ("net_benefit_at_20", "net_benefit_at_20: .* For 20%, write net_benefit_at_0.2"),
        ("net_benefit_at_1", r"the risk must lie between 0 and 1\.$"),
        ("ece", "Did you mean 'expected_calibration_error'"),
    ],
)
def test_measures_with_a_number_have_it_in_their_names(name, use):
    ev = evaluate([1, 0, 1, 0, 0], [5, 4, 3, 2, 1], prior=0.1, level=None)
    look_ups = [ev.__getitem__, ev.family]
    if not any(character.isdigit() for character in name) and name != "ece":
        look_ups.append(ev.best)
    for look_up in look_ups:
        with pytest.raises(UnknownMeasureError, match=use):
            look_up(name)
