import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from tests.report.redrawing import settle

settings.register_profile("suite", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("suite")

ROOT = Path(__file__).parent.parent


# Tests that need a cluster or a browser, or simulate: `make test` leaves them out.
THOROUGH = re.compile(r"dask|spark|tests/coverage/|test_browser_", re.IGNORECASE)


def pytest_collection_modifyitems(items):
    for item in items:
        if THOROUGH.search(item.nodeid):
            item.add_marker(pytest.mark.thorough)


@pytest.fixture
def rng():
    return np.random.default_rng(12345)


@pytest.fixture
def data_folder():
    """The folder of real data sets."""
    folder = os.environ.get("PUEVAL_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs the real data sets: set PUEVAL_DATA to their folder")
    return Path(folder)


def draw(rng, n, *, prevalence, label_frequency, purity=1.0, separation=1.5):
    """Population with known truth: classes, scores, and PU labels of a given purity.

    Labels are drawn at random: from the positives, and from the negatives as many as the
    purity asks for.
    """
    positive = rng.random(n) < prevalence
    score = rng.normal(size=n) + separation * positive
    labeled = positive & (rng.random(n) < label_frequency)
    wrong = labeled.sum() * (1 - purity) / purity / max((~positive).sum(), 1)
    labeled |= ~positive & (rng.random(n) < wrong)
    return positive, score, labeled


# ------------------------------------------------------------------ a real browser

# What Debian, Ubuntu, Fedora, macOS and Google call it.
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests. CI sets PUEVAL_BROWSER=required, so that it never skips."""
    found = filter(None, map(shutil.which, CHROMIUM))
    path = os.environ.get("PUEVAL_CHROMIUM") or next(found, None)
    if path is None:
        message = "needs Chromium: install it, or set PUEVAL_CHROMIUM to its path"
        if os.environ.get("PUEVAL_BROWSER") == "required":
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Open a file from disk; fails if the page logs anything or asks for anything else."""
    contexts, troubles = [], []

    def opened(path, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("dialog", lambda dialog: troubles.append(f"dialog: {dialog.message}"))
        address = Path(path).as_uri()

        def asked(request):
            if request.url != address:
                troubles.append(f"request: {request.url}")

        page.on("request", asked)
        page.goto(address)
        if options.get("java_script_enabled", True):
            settle(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture(scope="session")
def artefacts():
    """Folder for screenshots, which are kept."""
    folder = ROOT / "tests" / "report" / "artefacts"
    folder.mkdir(exist_ok=True)
    return folder


def need_pulearn_bagging():
    """Skip where scikit-learn does not take BaggingPuClassifier for a classifier."""
    pytest.importorskip("pulearn", reason="needs pulearn")
    pytest.importorskip("sklearn", "1.9", reason="pulearn's bagging needs scikit-learn 1.9")


def models(rng, n=1500, *, decimals=9, noise=(0.5, 0.8, 1.0), **given):
    """Labels and scores of models that look at the same hint with different noise."""
    positive, hint, labeled = draw(rng, n, **{"prevalence": 0.4, "label_frequency": 0.4} | given)
    y = labeled.astype(int)
    scores = {
        name: np.round(hint + spread * rng.normal(size=n), decimals)
        for name, spread in zip("abcdefghij", noise, strict=False)
    }
    return y, scores, positive


def with_negatives(y, positive, rng):
    """Some of the unlabeled negatives are known to be."""
    return np.where((y == 0) & ~positive & (rng.random(y.size) < 0.2), 2, y)
