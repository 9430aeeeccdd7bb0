"""The frame that every analysis and chart reads: one row a point, one schema, here.

Version history of the columns is that of ``Point.schema_version``.
"""

from collections.abc import Iterable, Sequence

import pandas as pd

from gpuexplain.errors import PointsError
from gpuexplain.model import HOLLOW_FLAGS, Flag, Point, Status

# What happened to the machine meanwhile, as opposed to what the time itself gives away.
LOAD_FLAGS = frozenset({Flag.UNDER_LOAD, Flag.THROTTLED, Flag.DRIFTING})

# Column -> pandas dtype. Numeric columns stay nullable floats; "OOM" is never written into one.
COLUMNS: dict[str, str] = {
    "experiment": "string",
    "series": "string",
    "x": "float64",
    "shape": "string",
    "dtype": "string",
    "device": "string",
    "device_name": "string",
    "clock": "string",
    "threads": "Float64",
    "source": "string",
    "source_note": "string",
    "status": "string",
    "reason": "string",
    "flags": "string",  # space-separated
    "timing": "string",
    "n_samples": "int64",
    "median_s": "Float64",
    "q1_s": "Float64",
    "q3_s": "Float64",
    "min_s": "Float64",
    "max_s": "Float64",
    "ci_low_s": "Float64",
    "ci_high_s": "Float64",
    "first_call_s": "Float64",
    "flops": "Float64",
    "bytes": "Float64",
    "items": "Float64",
    "rate_flops": "Float64",
    "rel_error": "Float64",
    "nan_count": "Float64",
    "inf_count": "Float64",
    "cache_ratio": "Float64",
}


def points_frame(points: Iterable[Point]) -> pd.DataFrame:
    """Return the points as the long frame of ``COLUMNS``, in the order given."""
    rows = [
        {
            **point.model_dump(include=set(COLUMNS) - {"shape", "flags", "rate_flops"}, mode="json"),
            "shape": "x".join(str(side) for side in point.shape),
            "flags": " ".join(point.flags),
            "rate_flops": point.rate_flops,
        }
        for point in points
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def usable(points: Iterable[Point]) -> list[Point]:
    """Return the points that may become a best, a knee or the end of a range."""
    return [p for p in points if p.status is Status.OK and p.median_s is not None and not p.is_hollow]


def has_flag(frame: pd.DataFrame, *flags: str) -> "pd.Series[bool]":
    """Return, by row, whether any of ``flags`` is set; all false without a ``flags`` column."""
    if "flags" not in frame:
        return pd.Series(False, index=frame.index)
    wanted = set(flags)
    return frame["flags"].map(lambda text: bool(wanted.intersection(str(text).split()))).astype(bool)


def usable_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that may become a best, a knee or the end of a range; ``usable`` for frames."""
    mask = ~has_flag(frame, *HOLLOW_FLAGS)
    if "status" in frame:
        mask &= frame["status"] == Status.OK.value
    return frame[mask]


def least_disturbed_rows(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[Flag, ...]]:
    """Return the frame to conclude from, and the flags that had to be overlooked for it.

    Disturbed rows count only where their series (their ``dtype``, where there is that column) has no
    usable row: then their flags are taken off. Everything else stays as it is.
    """
    of = frame["dtype"] if "dtype" in frame else pd.Series("", index=frame.index)
    has_usable = of.isin(set(of[usable_rows(frame).index]))
    overlooked = ~has_usable & has_flag(frame, *LOAD_FLAGS) & ~has_flag(frame, *HOLLOW_FLAGS - LOAD_FLAGS)
    if "status" in frame:
        overlooked &= frame["status"] == Status.OK.value
    if not overlooked.any():
        return frame, ()
    found = tuple(flag for flag in Flag if flag in LOAD_FLAGS and has_flag(frame[overlooked], flag).any())
    bare = frame["flags"].map(lambda text: " ".join(f for f in str(text).split() if f not in LOAD_FLAGS))
    return frame.assign(flags=frame["flags"].mask(overlooked, bare)), found


def series_of(points: Sequence[Point], series: str, device: str | None = None) -> list[Point]:
    """Return one series (of one device, if named), by rising x.

    Raises:
        PointsError: If the points of that series mix devices and none was named.
    """
    chosen = [p for p in points if p.series == series and (device is None or p.device == device)]
    devices = sorted({p.device for p in chosen})
    if len(devices) > 1:
        raise PointsError(f"Cannot read series {series!r}: its points mix devices {devices}. Name one device.")
    return sorted(chosen, key=lambda p: p.x)


def with_flags(point: Point, *flags: Flag) -> Point:
    """Return the point carrying these flags too, in the order of ``Flag``."""
    wanted = {*point.flags, *flags}
    return point.model_copy(update={"flags": tuple(f for f in Flag if f in wanted)})


__all__ = [
    "COLUMNS",
    "HOLLOW_FLAGS",
    "LOAD_FLAGS",
    "has_flag",
    "least_disturbed_rows",
    "points_frame",
    "series_of",
    "usable",
    "usable_rows",
    "with_flags",
]
