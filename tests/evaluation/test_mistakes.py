"""Mistakes that people make with the functions: each message names the fix."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pueval import AssumptionWarning, InputError, compare, evaluate, evaluate_by, priors
from pueval.metrics import f1_score, roc_auc_score
from tests.conftest import draw


@pytest.fixture
def rows(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    return pd.DataFrame({"label": labeled.astype(int), "a": score, "b": -score})


def refuses(error, message):
    return pytest.raises(error, match=re.escape(message))


@pytest.mark.parametrize("function", [evaluate, priors.estimate])
def test_arguments_of_scikit_learn(rows, function):
    name = function.__name__
    with refuses(TypeError, f"{name}() has no argument 'y_true'. Use 'y'."):
        function(y_true=rows["label"], score=rows["a"])
    with refuses(TypeError, "has no argument 'y_true' or 'y_score'. Use 'y' and 'score'."):
        function(y_true=rows["label"], y_score=rows["a"])
    with refuses(TypeError, "has no argument 'levl'. Use 'level'."):
        function(rows["label"], rows["a"], levl=0.9)
    with refuses(TypeError, "has no argument 'colour'. Its arguments are y, score, "):
        function(rows["label"], rows["a"], colour="red")


def test_arguments_of_thresholds(rows):
    ev = evaluate(rows["label"], rows["a"], prior=0.2, level=None)
    with refuses(TypeError, "threshold_for() has no argument 'specificity': a specificity of"):
        ev.threshold_for(specificity=0.9)
    with refuses(TypeError, "threshold_for() has no argument 'sensitivity'. Use 'recall'."):
        ev.threshold_for(sensitivity=0.9)
    with refuses(TypeError, "takes no argument by position; got 0.9. Name it: precision, recall"):
        ev.threshold_for(0.9)


def test_arguments_of_scikit_learn_for_models_and_groups(rows):
    with refuses(TypeError, "compare() has no argument 'y_true' or 'score'. Use 'y' and 'scores'."):
        compare(y_true=rows["label"], score=rows[["a", "b"]])
    with refuses(TypeError, "evaluate_by() has no argument 'groups'. Use 'by'."):
        evaluate_by(rows["label"], rows["a"], groups=rows["b"] > 0)


def test_prior_given_by_position():
    message = "evaluate() takes only y and score by position; got 3 arguments. Pass the others by "
    with refuses(TypeError, f"{message}name. Did you mean prior=0.2?"):
        evaluate([1, 0], [2.0, 1.0], 0.2)
    with refuses(TypeError, f"{message}name."):
        evaluate([1, 0], [2.0, 1.0], "population")
    with refuses(TypeError, "evaluate_by() takes only y, score and by by position"):
        evaluate_by([1, 0], [2.0, 1.0], ["a", "b"], 5)


def test_warnings_point_to_the_caller(rows):
    with pytest.warns(AssumptionWarning) as caught:
        evaluate(rows["label"], rows["a"], prior=0.9)
    assert {warning.filename for warning in caught} == {__file__}
    with pytest.warns(AssumptionWarning) as caught:
        compare(rows["label"], rows[["a", "b"]], prior=0.9)
    assert {warning.filename for warning in caught} == {__file__}


def test_a_file_name(rows):
    for function in (evaluate, priors.estimate):
        with refuses(InputError, "Counts.from_file('scores.csv', label=…, score=…)"):
            function("scores.csv")
        with refuses(InputError, "y must hold labels; got the text 'scores.csv'"):
            function("scores.csv", "a")
    with refuses(InputError, "y must hold labels; got the text 'scores.csv'"):
        compare("scores.csv", {"a": rows["a"], "b": rows["b"]})
    with refuses(InputError, "score must hold numbers; got the text 'a'. Pass the column itself"):
        evaluate(rows["label"], "a")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_a_data_frame(rows, frame):
    with refuses(
        InputError,
        "score has 2 columns ('a', 'b'). Pass one of them, or compare the models: "
        "compare(y, score).",
    ):
        evaluate(rows["label"], frame(rows[["a", "b"]]))
    with refuses(InputError, "y has 3 columns ('label', 'a', 'b'). Pass the one with the labels."):
        evaluate(frame(rows), rows["a"])


def test_models_in_a_dict(rows):
    with refuses(InputError, "score has 2 columns ('a', 'b')"):
        evaluate(rows["label"], {"a": rows["a"], "b": rows["b"]})


@pytest.mark.parametrize("metric", [roc_auc_score, f1_score])
def test_a_metric_without_a_prior(rows, metric):
    with refuses(
        TypeError,
        f"{metric.__name__}() needs prior, the share of positives among the unlabeled rows. Pass "
        "prior=0 for the naive value. If you do not know it, pueval.evaluate estimates it.",
    ):
        metric(rows["label"], rows["a"] > 0)
    with refuses(TypeError, f"{metric.__name__}() got an unexpected keyword argument 'priro'"):
        metric(rows["label"], rows["a"] > 0, prior=0.2, priro=0.2)


@pytest.mark.parametrize("dtype", [int, float, bool])
def test_predictions_in_the_place_of_scores(rows, dtype):
    predictions = (rows["a"] > 1).astype(dtype)
    with pytest.warns(AssumptionWarning, match="all scores are 0 or 1, so they look like"):
        ev = evaluate(rows["label"], predictions, prior=0.2)
    [warning] = ev.warnings
    assert "predict_proba(X)[:, 1]" in warning
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(rows["label"], predictions * 0.5, prior=0.2)
        evaluate(rows["label"], np.where(np.arange(3000) == 7, 0.5, predictions), prior=0.2)
