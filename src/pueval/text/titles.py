"""Titles of measures within sentences."""

from __future__ import annotations

import re

# Titles that keep their capital letter in a sentence.
PROPER_TITLES = re.compile(
    r"F\d|F_pb|Matthews|Cohen|Fowlkes|Jaccard|Brier|Boyce|NDCG|RIE|BEDROC|AUC|ROC|R-precision"
)
# Titles that begin with the sound of a vowel.
VOWEL_SOUNDS = re.compile(r"[aeio]|F\d|F_pb|NDCG|RIE|AUC|ROC|R-precision", re.IGNORECASE)


def title_in_sentence(title: str) -> str:
    """Return a title in lower case; F1 and the names of people stay as they are.

    Examples
    --------
    >>> title_in_sentence("Precision"), title_in_sentence("Matthews correlation")
    ('precision', 'Matthews correlation')
    """
    if PROPER_TITLES.match(title):
        return title
    return title[:1].lower() + title[1:]


def title_with_article(title: str) -> str:
    """Return a title in lower case after "a" or "an".

    Examples
    --------
    >>> title_with_article("ROC AUC"), title_with_article("Recall")
    ('an ROC AUC', 'a recall')
    """
    return f"{'an' if VOWEL_SOUNDS.match(title) else 'a'} {title_in_sentence(title)}"
