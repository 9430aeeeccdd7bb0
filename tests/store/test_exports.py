"""What leaves the store comes back, or can be read by a spreadsheet."""

import csv
import io
import json
import math
from collections.abc import Callable

import pytest

from gpuexplain.errors import InputError
from gpuexplain.model import Conditions, Flag, Point
from gpuexplain.points import COLUMNS
from gpuexplain.store.exports import CSV_COLUMNS, export_csv, export_json, read_json
from gpuexplain.store.run import RunState, StoredRun


@pytest.fixture
def run(make_point: Callable[..., Point]) -> StoredRun:
    """A finished run with an odd point."""
    odd = make_point(
        32,
        rel_error=math.inf,
        flags=(Flag.UNDER_LOAD, Flag.FEW_SAMPLES),
        reason='commas, "quotes"\nand lines',
        conditions=Conditions(power_w=70.5, throttle_reasons=("power", "heat")),
    )
    return StoredRun(
        id="20260102-150405-ab12",
        experiment="matmul",
        measuring_version=3,
        key="key",
        params={"preset": "quick"},
        machine={"cpu": {"model": "Some CPU"}},
        device="cpu",
        state=RunState.DONE,
        created_at=1767366245.5,
        n_points=2,
        points=(make_point(16), odd),
    )


def test_json_loses_nothing(run: StoredRun) -> None:
    """Raw samples, conditions and infinity come back."""
    text = export_json(run)
    assert read_json(text) == run
    document = json.loads(text, parse_constant=pytest.fail)
    assert (document["format"], document["schema_version"], document["id"]) == ("gpuexplain-run", 2, run.id)
    assert document["points"][0]["samples_s"] == [0.1, 0.2, 0.3]
    assert document["points"][1]["rel_error"] == "Infinity"


def test_csv_has_one_row_a_point(run: StoredRun) -> None:
    """Every cell is under its name; nothing is empty that was measured."""
    rows = list(csv.DictReader(io.StringIO(export_csv(run))))
    assert [row["x"] for row in rows] == ["16.0", "32.0"]
    assert set(rows[0]) == set(CSV_COLUMNS)
    assert (rows[0]["shape"], rows[0]["median_s"], rows[0]["rel_error"]) == ("16x16x16", "0.2", "")
    assert (rows[1]["flags"], rows[1]["reason"]) == ("under_load few_samples", 'commas, "quotes"\nand lines')
    assert (rows[1]["power_w"], rows[1]["throttle_reasons"]) == ("70.5", "power heat")
    assert (rows[0]["run_id"], rows[0]["schema_version"], rows[0]["run_state"]) == (run.id, "2", "done")


def test_csv_has_every_column_of_the_frame() -> None:
    """Whoever knows the frame finds its columns in the file."""
    assert list(CSV_COLUMNS[: len(COLUMNS)]) == list(COLUMNS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "malformed JSON"),
        ("[1, 2]", r"no exported run\. Make one with `export ID --format json`"),
        ('{"format": "gpuexplain-run", "schema_version": 9}', r"version \(9, None\).*a newer one"),
        ('{"format": "gpuexplain-run", "schema_version": 1, "point_schema_version": 1}', "id is wrong"),
    ],
    ids=["malformed", "foreign", "newer", "incomplete"],
)
def test_what_is_no_export_is_refused(text: str, said: str) -> None:
    """The error names the file and what to do."""
    with pytest.raises(InputError, match=rf"Cannot read mine\.json: .*{said}"):
        read_json(text, "mine.json")


def test_json_of_the_first_release_is_still_read(run: StoredRun) -> None:
    """Version 2 only added optional fields, so a file of version 1 loses nothing."""
    document = json.loads(export_json(run))
    document |= {"schema_version": 1, "point_schema_version": 1}
    for point in document["points"]:
        del point["items"], point["gauges"]
        (point["conditions"] or {}).pop("gpu_utilisation", None)
    assert read_json(json.dumps(document)) == run
