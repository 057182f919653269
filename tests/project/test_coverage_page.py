"""The summary on docs/understand/coverage.md is that of the tables below it."""

from tests.coverage.summary import END, PAGE, SECTIONS, START, put_summary, split_sections
from tests.coverage.tables import INTRO, sections


def test_summary_is_that_of_the_tables():
    page = PAGE.read_text()
    assert put_summary(page) == page, "run python -m tests.coverage.summary"


def test_every_section_of_the_script_is_on_the_page():
    titles = [title for title, _, _ in sections(1, 0) if title != "Confidence levels"]
    assert titles == list(SECTIONS) == list(split_sections(PAGE.read_text()))


def test_a_changed_number_changes_the_summary():
    page = PAGE.read_text()
    changed = page.replace("0.841 (0.35)", "0.741 (0.35)")
    assert changed != page
    assert "0.741 (roc area)" in put_summary(changed)


def test_introduction_is_that_of_the_script():
    above, below = INTRO.split(START)[0], INTRO.split(END)[1]
    page = PAGE.read_text()
    assert page.startswith(above)
    assert below in page
