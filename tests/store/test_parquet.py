"""A run as a Parquet file: typed columns, every point, its run beside it."""

import io

import pandas as pd

from gpuexplain.model import Dtype, Flag, Point
from gpuexplain.points import COLUMNS
from gpuexplain.store.parquet import export_parquet
from gpuexplain.store.run import RunState, StoredRun


def run(*points: Point) -> StoredRun:
    """Return a stored run of these points."""
    return StoredRun(
        id="r1", experiment="matmul", measuring_version=3, key="k", params={}, machine=None, device="cpu",
        state=RunState.DONE, created_at=12.5, points=points,
    )  # fmt: skip


def read(content: bytes) -> pd.DataFrame:
    """Return the frame in a Parquet file."""
    return pd.read_parquet(io.BytesIO(content))


def test_it_is_read_back_with_its_types_and_its_run() -> None:
    """Numbers stay numbers; a missing one stays missing."""
    point = Point(
        experiment="matmul", series="cpu", x=64, shape=(64, 64, 64), dtype=Dtype.FP32, device="cpu",
        flags=(Flag.DRIFTING,), samples_s=(0.1, 0.2), n_samples=2, median_s=0.15,
    )  # fmt: skip
    frame = read(export_parquet(run(point, point.model_copy(update={"x": 128.0, "median_s": None}))))
    assert list(frame.columns) == [
        *COLUMNS, "schema_version", "run_id", "measuring_version", "run_state", "created_at",
    ]  # fmt: skip
    assert frame["x"].tolist() == [64.0, 128.0]
    assert frame["median_s"].isna().tolist() == [False, True]
    assert frame.loc[0, ["shape", "flags", "run_id", "measuring_version", "run_state", "created_at"]].tolist() == [
        "64x64x64", "drifting", "r1", 3, "done", 12.5,
    ]  # fmt: skip


def test_a_run_without_points_is_a_table_without_rows() -> None:
    """Its columns are there."""
    frame = read(export_parquet(run()))
    assert (len(frame), "median_s" in frame) == (0, True)
