"""A row of anybody's file as the fields of a point: its time, interval, status and flags."""

import math
from collections.abc import Hashable, Mapping
from typing import Any

from gpuexplain.model import Flag, Source, Status


def fields_of_row(row: Mapping[Hashable, Any], *, rate_column: str, work: float) -> dict[str, Any]:
    """Return what a row says of one call, as fields of ``Point``.

    Args:
        row: One row of a ``SeriesFile``'s frame.
        rate_column: The column of rates, where the file has no seconds.
        work: What one call does in units of that rate times seconds: ``time = work / rate``.
    """
    median_s = _number(row, "seconds")
    low_s, high_s = _number(row, "seconds_lo"), _number(row, "seconds_hi")
    if median_s is None and (rate := _number(row, rate_column)):
        median_s = work / rate
        fast, slow = _number(row, f"{rate_column}_hi"), _number(row, f"{rate_column}_lo")
        low_s, high_s = work / fast if fast else None, work / slow if slow else None
    has_both = low_s is not None and high_s is not None
    return {
        "source": Source.RECORDED,
        "timing": "as in the file; how the clock was read is not reported",
        "median_s": median_s,
        "ci_low_s": low_s if has_both else None,
        "ci_high_s": high_s if has_both else None,
        "n_samples": 1 if median_s is not None else 0,
        "rel_error": _number(row, "rel_error"),
        "status": Status(row.get("status", Status.OK)),
        "reason": str(row.get("reason", "")),
        "flags": tuple(Flag(name) for name in str(row.get("flags", "")).split()),
    }


def _number(row: Mapping[Hashable, Any], name: str) -> float | None:
    number = row.get(name)
    return None if number is None or math.isnan(number) else float(number)
