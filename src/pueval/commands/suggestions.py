"""Errors in the words of the command line: arguments of functions are options there."""

from __future__ import annotations

import re

OPTIONS = {
    "pos_label": "--positive",
    "unlabeled_label": "--unlabeled",
    "negative_label": "--negative",
    "n_resamples": "--n-resamples",
    "group_prior": "--group-prior",
}
PHRASES = {
    " For no intervals use level=None.": "",
    'purity="estimate"': "--purity estimate",
    'group_prior="label_frequency"': "--group-prior label_frequency",
    "For one model use evaluate()": "For one model use pueval evaluate",
}
# Not in quotes: that is what somebody else has written.
NAME = re.compile(rf"(?<!['\"\w])({'|'.join(OPTIONS)})\b(=(?=[^\s,.]))?=?")


def as_options(message: str) -> str:
    """Name options instead of arguments.

    Examples
    --------
    >>> as_options("Say which: unlabeled_label=-1 or negative_label=-1.")
    'Say which: --unlabeled -1 or --negative -1.'
    >>> as_options("there is no score column 'pos_label'.")
    "there is no score column 'pos_label'."
    """
    for phrase, words in PHRASES.items():
        message = message.replace(phrase, words)
    return NAME.sub(lambda found: OPTIONS[found[1]] + (" " if found[2] else ""), message)
