"""``pueval doctor``: a look at a file of labels and scores, before any number."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from pueval.commands.exit_codes import exit_code
from pueval.commands.options import COLUMNS, LABEL, OUTPUT, InputFile
from pueval.commands.output_files import check_outputs, write_json
from pueval.commands.terminal import print_line, print_written


def doctor_command(
    file: InputFile,
    /,
    *,
    label: Annotated[str | None, LABEL] = None,
    score: Annotated[list[str] | None, Parameter(group=COLUMNS, negative=())] = None,
    json_path: Annotated[str | None, Parameter(name="--json", group=OUTPUT)] = None,
) -> int:
    """Look at a file before you evaluate it: columns, problems, and the command to run next.

    Finds the columns of labels, scores, weights and ids, ties, duplicates and signs of leakage,
    and tells whether the prior can be estimated. DuckDB reads the rows in a few passes; only scores
    are kept in memory, in bins above 50 million.

    Example: pueval doctor scores.csv

    Parameters
    ----------
    file
        CSV, Parquet or Arrow file, folder, quoted pattern such as 'scores/*.parquet', database
        table (duckdb:///file.db?table=name), or - for standard input.
    score
        Column with a model's scores, if it is not found. Repeat the option for each model.
    json_path
        JSON file for all results.
    """
    from pueval.diagnosis.doctor import doctor

    check_outputs(file, {"--json": json_path})
    diagnosis = doctor(file, label=label, scores=score or None)
    if json_path is not None:
        write_json(json_path, diagnosis.to_dict())
    print_line(str(diagnosis))
    print_written(json_path)
    return exit_code(diagnosis.problems, "the file needs attention")
