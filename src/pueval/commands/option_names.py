"""Rewrites messages: function arguments become command-line options."""

from __future__ import annotations

import ast
import re
import shlex

OPTIONS = {
    "pos_label": "--positive",
    "unlabeled_label": "--unlabeled",
    "negative_label": "--negative",
    "n_resamples": "--n-resamples",
    "group_prior": "--group-prior",
    "label_delay": "--label-delay",
    "as_of": "--as-of",
    "false_alarm_rate": "--false-alarm-rate",
    "audit_probability": "the column 'probability'",
}
PHRASES = {
    "pass what you find as audited": "pass what you find with --audit",
    "pueval.audit.plan chooses": "pueval audit plan chooses",
    "Give prior, prevalence or label_frequency.": "Give --prior, --prevalence or "
    "--label-frequency.",
    "pueval.priors.estimate(y, score, purity='estimate')": "pueval prior --purity estimate",
    "LabelErrors need target='population'": "--label-errors needs --target population",
    "got target='unlabeled'": "got --target unlabeled",
    "LabelErrors describe rows": "--label-errors describes rows",
    "see .warnings": "--json has all",
    " For no intervals use level=None.": "",
    'purity="estimate"': "--purity estimate",
    'group_prior="label_frequency"': "--group-prior label_frequency",
    "; ev.audit.test() compares it with the audit": "",
    "Pass audit_probability,": "Add the column 'probability' to the checked rows,",
    "but cluster was given. Leave cluster out": "but --cluster was given. Leave it out",
    "cannot be combined with cluster:": "cannot be combined with --cluster:",
    "every must be a number too.": "--every must be a number too, such as --every 100.",
    "For one model use evaluate()": "For one model use pueval evaluate",
}
COLUMN_LIST = re.compile(r"(?<=\. )Name each column separately: (\[[^\]]*\])")
# Quoted names are left alone: they come from the data.
NAME = re.compile(rf"(?<!['\"\w])({'|'.join(OPTIONS)})\b(=(?=[^\s,.]))?=?")


def name_options(message: str) -> str:
    """Replace arguments of functions by options in a message.

    Examples
    --------
    >>> name_options("Say which: unlabeled_label=-1 or negative_label=-1.")
    'Say which: --unlabeled -1 or --negative -1.'
    >>> name_options("there is no score column 'pos_label'.")
    "there is no score column 'pos_label'."
    """
    message = COLUMN_LIST.sub(_repeat_option, message)
    for phrase, words in PHRASES.items():
        message = message.replace(phrase, words)
    return NAME.sub(lambda match: OPTIONS[match[1]] + (" " if match[2] else ""), message)


def _repeat_option(match: re.Match[str]) -> str:
    """Show how to pass several columns."""
    options = (f"--score {shlex.quote(name)}" for name in ast.literal_eval(match[1]))
    return f"Repeat the option for each column: {' '.join(options)}"
