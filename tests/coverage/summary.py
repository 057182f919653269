"""Summary of the tables on docs/understand/coverage.md, one line per section.

python -m tests.coverage.summary writes it to the page, from the tables that stand there.
"""

import re
from math import isnan
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/understand/coverage.md"
START, END = "<!-- summary -->", "<!-- end of summary -->"
LOW, HIGH = 0.92, 0.98
# Title of a section: how many columns describe the setting, and why coverage is not 95% everywhere.
# "Confidence levels" is about other levels, and has no line.
SECTIONS = {
    "Prior and purity known": (5, "low: *roc area* of weak scores; high: AP of good ones"),
    "Bands of curves": (5, "high: simultaneous ROC bands, PR bands of good scores"),
    "Bands, prior estimated": (5, "high: the prior's interval holds for all shapes"),
    "Prior given as an interval or estimated, labels resampled, and more": (
        5,
        "low: best accuracy, estimated prior; high: uncertain priors",
    ),
    "Prevalence or label frequency known, purity uncertain": (
        5,
        "the true purity is at the end of its range",
    ),
    "Default threshold, populations of many shapes": (5, "low: few labels decide on the threshold"),
    "Estimated prior": (2, "high: the prior's interval holds for all shapes"),
    "Labeling bias": (6, "high: not the least favorable labeling; low: 100 samples of 400"),
    "Cross-validation": (6, "low: 30 labels; high: estimated prior, few rows per feature"),
    "Rows that belong together": (5, "low: few clusters with skewed effects"),
    "Rows that belong together, prior estimated": (
        5,
        "high: the prior's interval holds for all shapes",
    ),
    "Predicted probabilities": (3, "low: few labels; high: estimated prior"),
    "Top of the list": (6, "high: lists that look perfect by chance, estimated prior"),
    "Many small groups, shrunken": (5, "low: AP of small groups is skewed; high: equal groups"),
}
# Columns that are no coverage of an interval of pueval.
OTHERS = re.compile(
    r"width|^loss$|design effect|replications|rejected|bias|^error |bounds only|no cluster="
)


def split_sections(page):
    """Return the text of each section whose intervals are at 95%."""
    parts = re.split(r"^## (.+)\n", page, flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {title: text for title, text in found.items() if title in SECTIONS}


def read_table(text):
    """Return the head and the rows of the table of a section, as text."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    return head, [row for row in rows if row[0] != "mean"]


def coverages(head, rows, n_settings):
    """Return each coverage at 95%, with the name of its column."""
    level = head.index("level") if "level" in head else None
    columns = [k for k in range(n_settings, len(head)) if not OTHERS.search(head[k])]
    found = [
        (float(row[k].split()[0]), head[k])
        for row in rows
        for k in columns
        if level is None or float(row[level]) == 0.95
    ]
    return [(share, name) for share, name in found if not isnan(share)]


def replications(text, head, rows):
    """Return how much was simulated per row."""
    if "replications" in head:
        numbers = [int(row[head.index("replications")]) for row in rows]
    elif groups := re.search(r"ten times ([\d,]+)\s+groups", text):
        return f"≥ {10 * int(groups[1].replace(',', '')):,} groups"
    else:
        amount = re.search(r"([\d,]+)\s+replications\s+per\s+row([^.|]*)\.", text)
        others = re.findall(r"rows (\d+)|or (\d+)", amount[2])
        numbers = [int(amount[1].replace(",", "")), *(int(a or b) for a, b in others)]
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def anchor(title):
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def summary(page):
    """Return the lines of the summary of a page."""
    lines = [
        f"| section | samples | numbers | < {LOW} | {LOW} to {HIGH} | lowest | highest | reason |",
        "|---|---:|---:|---:|---:|---|---:|---|",
    ]
    total = []
    for title, text in split_sections(page).items():
        n_settings, reason = SECTIONS[title]
        head, rows = read_table(text)
        found = coverages(head, rows, n_settings)
        total += found
        link, amount = f"[{title}](#{anchor(title)})", replications(text, head, rows)
        lines.append(f"| {link} | {amount} | {describe(found)} | {reason} |")
    return [*lines, f"| all | | {describe(total)} | |"]


def describe(found):
    """Return the cells of the summary for some coverages with their names."""
    shares = [share for share, _ in found]
    below = sum(share < LOW for share in shares)
    within = sum(LOW <= share <= HIGH for share in shares) / len(shares)
    lowest, name = min(found, key=lambda each: each[0])
    name = name.removesuffix(" cov.")
    return f"{len(shares):,} | {below} | {within:.0%} | {lowest:.3f} ({name}) | {max(shares):.3f}"


def put_summary(page):
    """Return the page with a new summary between the markers."""
    before, rest = page.split(START)
    return before + "\n".join([START, *summary(page), END]) + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(put_summary(PAGE.read_text()))
