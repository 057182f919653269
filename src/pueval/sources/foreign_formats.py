"""Files that are no CSV files, recognized by their first bytes."""

from __future__ import annotations

import re

from pueval.errors import InputError

# First bytes, and the rest of the message.
SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (rb"\x80[\x02-\x05]", "is a pickle file. Save the table as CSV or Parquet (frame.to_parquet)."),
    (rb"PK\x03\x04", "is a spreadsheet or another archive. Save it as CSV."),
    (rb"PAR1", "is a Parquet file. Rename it to end in .parquet."),
    (rb"ARROW1", "is an Arrow file. Rename it to end in .arrow."),
    (rb"\x1f\x8b", "is compressed. Rename it to end in .csv.gz."),
    (rb"\x93NUMPY", "is a NumPy array. Save labels and scores as columns of a CSV file."),
    (rb"\x89HDF", "is an HDF5 file. Save the table as CSV or Parquet."),
    (rb"SQLite format 3", "is an SQLite database. Export the table as CSV."),
    (
        rb"\xff\xfe|\xfe\xff",
        "is encoded as UTF-16. Save it as UTF-8 (spreadsheets call it CSV UTF-8).",
    ),
    (
        rb"\s*[\[{]",
        (
            "looks like JSON. Convert it to CSV, Parquet or Arrow; the format is taken from the "
            "end of the file name."
        ),
    ),
)
# Bytes that tell the formats apart.
LONGEST = 16


def refuse_foreign_format(file: str, start: bytes) -> None:
    """Raise an error if a file begins like one that is not CSV."""
    for signature, message in SIGNATURES:
        if re.match(signature, start):
            raise InputError(f"{file} {message}")
