"""The paper's numbers were copied by hand: here they are read from its source."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from inctnp.paper.reported import (
    AUTOREGRESSIVE,
    COST_RATIO,
    FACTORISED,
    HALF_WINDOWS,
    ORDER_AVERAGING,
    ORDER_AVERAGING_REFERENCE,
    Line,
)

SOURCE = Path(__file__).parents[3] / "shared" / "paper" / "incremental-tnp.tex"
pytestmark = pytest.mark.skipif(not SOURCE.is_file(), reason="the paper's source is not at hand")

PAIR = r"([+-]?\d+\.\d+)\s*\\pm\s*(\d+\.\d+)"
NAMES = {
    "1D GP": "1D GP",
    "Tabular (synthetic)": r"Tabular \(Synthetic\)",
    "Temperature (interpolation), HadISD": r"HadISD \(Interp\)",
    "Temperature (forecasting), HadISD": r"HadISD \(Forecast\)",
}


def section(label: str) -> str:
    """A part of a table, from its label to the next label."""
    text = SOURCE.read_text(encoding="utf-8")
    marks = [match.start() for match in re.finditer(r"\\label", text)] + [len(text)]
    start = text.index(rf"\label{{{label}}}")
    return next(text[a:b] for a, b in pairwise(marks) if a == start)


def printed(part: str, data: str) -> list[tuple[float, float]]:
    """Means and errors of a line, from left to right."""
    name = NAMES.get(data, data)
    (line,) = [line for line in part.splitlines() if re.search(f"{name} +&", line)]
    return pairs(line)


def pairs(text: str) -> list[tuple[float, float]]:
    return [(float(mean), float(error)) for mean, error in re.findall(PAIR, text)]


def copied(line: Line) -> list[tuple[float, float]]:
    return [(reported.mean, reported.sem) for reported in line.values()]


@pytest.mark.parametrize(
    ("label", "lines"),
    [("tab_app:aggregated_results_factorised", FACTORISED), ("tab_app:aggregated_results_ar", AUTOREGRESSIVE)],
)
def test_tables_of_log_likelihoods_are_those_of_the_paper(label: str, lines: dict[str, Line]) -> None:
    part = section(label)
    for data, line in lines.items():
        assert copied(line) == printed(part, data)


def test_half_windows_are_those_of_the_paper() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    lines = [pairs(line) for line in text.splitlines() if re.search("24 Hours +&", line)]
    assert [copied(line) for line in HALF_WINDOWS.values()] == lines


def test_cost_ratios_are_those_of_the_paper() -> None:
    part = section("tab:aggregated_results_ar")
    for data, name in (("1D GP", "1D GP"), ("Temperature (HadISD sizes)", r"Temperature \(Interp\)")):
        lines = part.splitlines()
        (start,) = [i for i, line in enumerate(lines) if re.search(rf"{name} &", line)]
        ratios = re.findall(r"(\d+\.\d+)\\times", "".join(lines[start : start + 2]))
        assert [float(ratio) for ratio in ratios] == list(COST_RATIO[data].values())


def test_order_averaging_is_that_of_the_paper() -> None:
    part = section("tab_app:permutation_averaging")
    for data, models in ORDER_AVERAGING.items():
        reference = f"{ORDER_AVERAGING_REFERENCE[data]:.4f}"
        block = part[part.index(reference) :].split("midrule")[0]
        means = [mean for mean, _ in pairs(block)]
        assert means[1:] == [reported.mean for line in models.values() for reported in line.values()]
