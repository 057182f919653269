"""Many models: what is computed, shown and kept grows with their number, not with its square."""

import json

import numpy as np
import pytest
from scipy.stats import rankdata

from pueval import AssumptionWarning, InputError, compare
from pueval.comparison import paired_shares
from pueval.comparison.model_exchanges import ModelExchanges
from pueval.comparison.paired_estimates import BEST_VALUES
from pueval.comparison.rankings import MOST_MODELS, Rankings
from pueval.report import write_report
from pueval.report._summary import MOST_MODELS as MOST_ON_A_PAGE
from pueval.uncertainty.resampled_rates import MOST_KEPT

N_MODELS = 30
N_PAIRS = N_MODELS * (N_MODELS - 1) // 2


def draw(rng, n_models, rows=300):
    positive = rng.random(rows) < 0.4
    hint = rng.normal(size=rows) + positive
    labeled = positive & (rng.random(rows) < 0.5)
    noise = rng.normal(size=(n_models, rows)) * np.linspace(0.5, 2, n_models)[:, None]
    return labeled, {f"model_{k}": hint + noise[k] for k in range(n_models)}


def compare_many(n_models=N_MODELS, **how):
    how = {"prior": 0.1, "n_resamples": 20} | how
    return compare(*draw(np.random.default_rng(0), n_models), **how)


@pytest.fixture(scope="module")
def comparison():
    return compare_many()


@pytest.fixture
def compared_pairs(monkeypatch):
    """Pairs whose exchanges are computed, in a list that grows."""
    pairs, exchange = [], ModelExchanges._exchanged_rates

    def count(exchanges, first, second, *rest):
        pairs.append((first, second))
        return exchange(exchanges, first, second, *rest)

    monkeypatch.setattr(ModelExchanges, "_exchanged_rates", count)
    return pairs


def test_printing_compares_no_pairs(compared_pairs, monkeypatch):
    monkeypatch.setattr(ModelExchanges, "of", None)
    together, count_rows = [], paired_shares._shares_reaching_both

    def count_models(rows, thresholds):
        together.append(thresholds.size)
        return count_rows(rows, thresholds)

    monkeypatch.setattr(paired_shares, "_shares_reaching_both", count_models)
    comparison = compare_many()
    text = repr(comparison)
    assert not compared_pairs
    assert {*together} == {1}  # for the standard error of each model
    lines = text.splitlines()
    best = comparison.ranking("roc_auc").order("roc_auc")[:MOST_MODELS]
    # The headline takes several lines; the header of the table comes before the models.
    first = next(k for k, line in enumerate(lines) if line.startswith("model_"))
    assert [line.split()[0] for line in lines[first : first + MOST_MODELS]] == [*best]
    assert f"The best {MOST_MODELS} of {N_MODELS} models by ROC AUC." in text
    assert len(lines) < MOST_MODELS + 20
    assert comparison._repr_html_().count("<tr>") == MOST_MODELS + 1
    assert comparison._pairs.model_values.shares.covariance is None


def test_many_warnings_are_cut():
    with pytest.warns(AssumptionWarning) as caught:
        comparison = compare_many(prior=0.9)
    assert len(caught) == 3
    assert len(comparison.warnings) >= N_MODELS
    n_more = len(comparison.warnings) - 3
    assert repr(comparison).endswith(f"(And {n_more} more: see .warnings.)")
    assert repr(comparison).count("\n! ") == 3
    first, second, *_ = comparison
    few = comparison.subset([first, second]).warnings
    assert few
    assert all(warning.startswith((f"{first}: ", f"{second}: ")) for warning in few)


def test_subset_compares_its_pairs_only(comparison, compared_pairs):
    names = comparison.names[3:6]
    few = comparison.subset(names)
    assert few.names == names
    assert few["model_4"] is comparison["model_4"]
    differences = few.differences("best_f1")
    assert compared_pairs == [(0, 1), (0, 2), (1, 2)]
    assert [(row.first, row.second) for row in differences] == [
        (names[0], names[1]),
        (names[0], names[2]),
        (names[1], names[2]),
    ]
    every = {(row.first, row.second): row for row in comparison.differences("roc_auc")}
    for row in few.differences("roc_auc"):
        same = every[row.first, row.second]
        assert (row.value, row.low, row.high) == pytest.approx((same.value, same.low, same.high))
        assert row.pvalue == pytest.approx(same.pvalue)
        # Also after a choice of models, all pairs count.
        assert row.adjusted_pvalue >= min(1, (N_PAIRS - 2) * row.pvalue)


def test_subset_of_a_subset_still_counts_all_pairs(comparison):
    few = comparison.subset(comparison.names[:10]).subset(comparison.names[1:3])
    (difference,) = few.differences("roc_auc")
    assert difference.adjusted_pvalue == pytest.approx(min(1, N_PAIRS * difference.pvalue))
    with pytest.raises(InputError, match="at least two models"):
        comparison.subset(["model_0"])
    with pytest.raises(InputError, match=r"no model 'nobody'.* and 10 more"):
        comparison.subset(["model_0", "nobody"])


def test_scores_are_the_caller_s_to_change():
    labeled, scores = draw(np.random.default_rng(1), 2)
    expected = compare(labeled, scores, prior=0.1).differences("average_precision")
    comparison = compare(labeled, scores, prior=0.1)
    for score in scores.values():
        score[:] = 0
    assert comparison.differences("average_precision") == expected


def test_plain_data_has_pairs_of_the_best(comparison, compared_pairs):
    content = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert [*content["models"]] == [*comparison]
    assert len(content["compared"]) == MOST_MODELS
    n_pairs = MOST_MODELS * (MOST_MODELS - 1) // 2
    assert len(content["differences"]) == n_pairs * len(comparison.measures)
    assert len({*compared_pairs}) == len(compared_pairs) == n_pairs
    assert [*content["best_probability"]["roc_auc"]] == content["compared"]


def test_page_shows_the_best_and_lists_the_rest(comparison, compared_pairs, tmp_path):
    assert MOST_ON_A_PAGE == MOST_MODELS
    comparison.to_html(tmp_path / "page.html", ranking=True)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(compared_pairs) == MOST_MODELS * (MOST_MODELS - 1) // 2
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    best = comparison.ranking("roc_auc").order("roc_auc")
    assert tuple(model["name"] for model in data["models"]) == best[:MOST_MODELS]
    rest = page.split('<table id="others"')[1].split("</table>")[0]
    assert all(f">{name}<" in rest for name in best[MOST_MODELS:])
    assert f">{best[0]}<" not in rest
    assert f"<h1>{N_MODELS} models</h1>" in page
    assert f"# {N_MODELS - MOST_MODELS} more models" in page


def test_page_of_a_thousand_models_is_small(comparison, tmp_path):
    sizes = []
    for n_models in (MOST_MODELS + 1, 1000):
        names = comparison.names * (n_models // N_MODELS + 1)
        evaluations = {f"{name} {k}": comparison[name] for k, name in enumerate(names[:n_models])}
        write_report(tmp_path / "page.html", evaluations)
        sizes.append((tmp_path / "page.html").stat().st_size)
    assert sizes[1] < 2_000_000
    assert (sizes[1] - sizes[0]) / (1000 - MOST_MODELS) < 1000


def test_plot_shows_the_best_and_the_reference(comparison, compared_pairs):
    worst = comparison.ranking("roc_auc").order("roc_auc")[-1]
    frame = comparison.plot(measures=["roc_auc"], reference=worst).frame()
    assert frame["model"].nunique() == MOST_MODELS + 1
    assert worst in {*frame["model"]}
    assert not compared_pairs
    shown = comparison.plot(measures=["roc_auc"]).frame()["model"]
    assert shown.nunique() == MOST_MODELS


def test_few_models_keep_their_draws():
    comparison = compare_many(2 * MOST_KEPT)
    frame = comparison.frame()
    assert len(frame) == len(comparison) * len(comparison.measures)
    kept = [name for name in comparison if "draws" in vars(comparison[name]._resamples)]
    assert 0 < len(kept) <= MOST_KEPT
    first = comparison.names[0]
    assert first not in kept
    # Draws that are made again are the same.
    again = comparison[first].best("f1")
    assert (again.low, again.high) == tuple(frame.loc[("best_f1", first), ["low", "high"]])


def test_values_need_no_draws(comparison):
    comparison = comparison.subset(comparison.names[:MOST_MODELS])
    for measure in (*comparison.measures, *BEST_VALUES):
        assert len(comparison.values(measure)) == MOST_MODELS
    assert not any("draws" in vars(ev._resamples) for ev in compare_many(6).evaluations.values())


def test_rankings_of_many_models():
    value = np.round(np.random.default_rng(2).normal(size=50), 1)
    value[7] = np.nan
    names = [f"model_{k}" for k in range(50)]
    criteria = {
        name: dict(zip(names, sign * value, strict=True)) for name, sign in (("a", 1), ("b", -1))
    }
    rankings = Rankings(criteria, {"a": True, "b": False})
    expected = rankdata(-value, nan_policy="omit")
    for criterion in "ab":
        np.testing.assert_array_equal([*rankings.rank(criterion).values()], expected)
    assert f"The best {MOST_MODELS} of 50 models by a" in repr(rankings)
    assert len(repr(rankings).splitlines()[0].split()) == MOST_MODELS + 2


def test_one_labeled_row(rng):
    """Covariances are unknown; the comparison says so instead of failing."""
    y = np.zeros(60, dtype=int)
    y[0] = 1
    scores = {f"m{k}": rng.normal(size=60) + y for k in range(3)}
    comparison = compare(y, scores, prior=0.1, n_resamples=50)
    assert "m2" in repr(comparison)
