"""The benchmark of growth: its fit, and the exponents that it has measured."""

import pytest

from benchmarks import growth


def test_exponent_is_that_of_a_power():
    sizes = [10, 20, 40]
    assert growth.exponent(sizes, [3 * n**1.5 for n in sizes], 0.1) == pytest.approx(1.5)
    assert growth.exponent(sizes, [1e-6, 3e-6, 9e-6], 0.1) == 0


def test_measured_exponents():
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in growth.RESULTS.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ][2:]
    assert [tuple(row[:2]) for row in rows] == [(grows, what) for grows, what, _ in growth.CASES]
    assert all(float(row[k]) <= growth.LARGEST for row in rows for k in (4, 6))
