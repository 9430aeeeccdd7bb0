"""How does a run leave the store as a file, and come back from one?

JSON is lossless: the whole run with every raw sample; NaN and infinity are the strings "NaN",
"Infinity" and "-Infinity". CSV is for spreadsheets: one row a point, no raw samples, numbers in SI
units (``_s`` seconds), an empty cell where there is no number, an apostrophe before a text that a
spreadsheet would take for a formula.

Version history of both: that of ``StoredRun.schema_version``.
"""

import csv
import io
from typing import Any

from pydantic import ValidationError

from gpuexplain.errors import InputError
from gpuexplain.model import Point
from gpuexplain.store.encoding import dump_json, load_json
from gpuexplain.store.foreign import DEVICE, RUN_ID, SERIES, as_cell, clean_texts
from gpuexplain.store.run import StoredRun

FORMAT = "gpuexplain-run"
_RUN_COLUMNS = ("schema_version", "run_id", "measuring_version", "run_state", "created_at")
# Fields of a point, one column each; sequences are joined: shape by "x", the others by spaces.
_POINT_COLUMNS = (
    "experiment",
    "series",
    "x",
    "shape",
    "dtype",
    "device",
    "device_name",
    "clock",
    "threads",
    "source",
    "source_note",
    "status",
    "reason",
    "flags",
    "timing",
    "n_samples",
    "median_s",
    "q1_s",
    "q3_s",
    "min_s",
    "max_s",
    "ci_low_s",
    "ci_high_s",
    "first_call_s",
    "flops",
    "bytes",
    "items",
    "rate_flops",
    "rel_error",
    "nan_count",
    "inf_count",
    "cache_ratio",
)
# What else went on, from the point's conditions; the JSON has all of them.
_CONDITION_COLUMNS = (
    "other_cpu_cores",
    "sm_clock_mhz",
    "power_w",
    "power_limit_w",
    "temperature_c",
    "throttle_reasons",
    "other_gpu_processes",
    "gpu_utilisation",
)
# What was read off once per case.
_GAUGE_COLUMNS = (
    "memory_allocated_bytes",
    "memory_reserved_bytes",
    "memory_context_bytes",
    "memory_resident_bytes",
    "energy_j",
    "clipped_count",
    "zeroed_count",
)
CSV_COLUMNS = (*_POINT_COLUMNS, *_GAUGE_COLUMNS, *_CONDITION_COLUMNS, *_RUN_COLUMNS)


def export_json(run: StoredRun) -> str:
    """Return the whole run as JSON, two spaces deep."""
    document = {
        "format": FORMAT,
        "schema_version": StoredRun.schema_version,
        "point_schema_version": Point.schema_version,
        **run.model_dump(),
    }
    return dump_json(document, indent=2) + "\n"


def read_json(text: str, name: str = "this file") -> StoredRun:
    """Return the run in a text that ``export_json`` wrote.

    Args:
        text: The JSON.
        name: What to call it in an error.

    Raises:
        InputError: If it is no exported run, or one of a newer release.
    """
    try:
        document = load_json(text)
    except ValueError as error:
        raise InputError(f"Cannot read {name}: malformed JSON ({error}). Export the run again.") from None
    if not isinstance(document, dict) or document.pop("format", None) != FORMAT:
        raise InputError(
            f"Cannot read {name}: it is no exported run. Make one with `export ID --format json`; "
            "measurements from elsewhere are read by `analyse`."
        )
    found = (document.pop("schema_version", None), document.pop("point_schema_version", None))
    known = (StoredRun.schema_version, Point.schema_version)
    # Every version so far only added optional fields, so this release reads the older ones as they are.
    if not all(isinstance(have, int) and 1 <= have <= newest for have, newest in zip(found, known, strict=True)):
        raise InputError(
            f"Cannot read {name}: its format is version {found}, this release reads up to {known}. "
            "Use the release that wrote it, or a newer one."
        )
    try:
        run = StoredRun.model_validate_json(dump_json(clean_texts(document, name)))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise InputError(f"Cannot read {name}: {place} is wrong ({problem['msg']}). Export the run again.") from None
    if not RUN_ID.fullmatch(run.id):
        raise InputError(f"Cannot read {name}: the run's id may have letters, digits and .-_ only. Export it again.")
    for device, series in {(run.device, "")} | {(point.device, point.series) for point in run.points}:
        if not DEVICE.fullmatch(device) or (series and not SERIES.fullmatch(series)):
            raise InputError(f"Cannot read {name}: device {device!r} or series {series!r} is no name of ours.")
    return run


def export_csv(run: StoredRun) -> str:
    """Return the points as CSV: a header of ``CSV_COLUMNS``, then one row each, lines end with LF."""
    text = io.StringIO()
    writer = csv.DictWriter(text, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for point in run.points:
        writer.writerow({column: as_cell(value) for column, value in _row(run, point).items()})
    return text.getvalue()


def _row(run: StoredRun, point: Point) -> dict[str, Any]:
    cells = {name: getattr(point, name) for name in _POINT_COLUMNS}
    cells |= {name: getattr(point.conditions, name, None) for name in _CONDITION_COLUMNS}
    cells |= {name: getattr(point.gauges, name, None) for name in _GAUGE_COLUMNS}
    cells["shape"] = "x".join(str(side) for side in point.shape)
    cells["flags"] = " ".join(point.flags)
    cells["throttle_reasons"] = " ".join(cells["throttle_reasons"] or ())
    return cells | {
        "schema_version": StoredRun.schema_version,
        "run_id": run.id,
        "measuring_version": run.measuring_version,
        "run_state": run.state.value,
        "created_at": run.created_at,
    }
