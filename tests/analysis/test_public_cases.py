"""The verdicts on public series, file in, findings out."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from gpuexplain.analyse import analyse_file
from gpuexplain.findings import to_json

CASES = Path(__file__).parents[1] / "cases"
EXPECTED: dict[str, Any] = json.loads((CASES / "expected.json").read_text())
TOLERANCE = 0.01


def agrees(found: Any, expected: Any) -> bool:
    """Whether numbers agree within 1 % and everything else exactly."""
    if isinstance(expected, dict):
        return set(found) == set(expected) and all(agrees(found[k], expected[k]) for k in expected)
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        return found is not None and math.isclose(found, expected, rel_tol=TOLERANCE)
    return bool(found == expected)


@pytest.mark.parametrize(
    ("case", "name"), [(case, name) for case, entry in EXPECTED.items() for name in entry["expected"]]
)
def test_public_series_get_the_published_verdict(case: str, name: str) -> None:
    """Every figure of every public series comes out as published beside it."""
    entry = EXPECTED[case]
    found = to_json(analyse_file(entry["experiment"], CASES / f"{case}.csv", entry["gpu"] or None).findings)
    assert agrees(found[name], entry["expected"][name]), (found[name], entry["expected"][name])


def test_every_case_file_has_an_expectation() -> None:
    """No case lies unused in the folder."""
    assert {path.stem for path in CASES.glob("*.csv")} == set(EXPECTED)
