"""The comparison with other libraries shows the features that its script checks."""

import re

import pytest

peers = pytest.importorskip("benchmarks.peers.__main__", reason="only in the repository")


def test_features_are_those_of_the_script():
    shown = re.search(r"<!-- features -->\n(.*?)\n<!-- end", peers.PAGE.read_text(), re.DOTALL)
    assert shown[1].splitlines() == list(peers.feature_table())


def test_every_library_is_described():
    page = peers.PAGE.read_text()
    for library in peers.LIBRARIES:
        assert library == "pueval" or re.search(rf"^\| {library}\b", page, re.MULTILINE), library
    for pins in peers.ENVIRONMENTS.values():
        for name, version in (pin.split("==") for pin in pins if "==" in pin):
            assert f"{name} {version}" in page, name


def test_names_of_pueval_exist():
    from benchmarks.peers.worker import names

    wanted = [
        name
        for offers in peers.FEATURES.values()
        for name in peers.word_and_names(offers.get("pueval", ("–", [])))[1]
    ]
    assert all(names(*wanted).values())


def test_missing_names_are_found():
    from benchmarks.peers.worker import names

    missing = ("pueval:Evaluation.missing", "pueval:missing", "missing:evaluate")
    found = names("pueval:Evaluation.calibration", *missing)
    assert list(found.values()) == [True, False, False, False]
