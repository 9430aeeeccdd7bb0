"""Data: the points as a table, and as files to keep."""

import io

import streamlit as st

from gpuexplain.experiments.contract import Experiment
from gpuexplain.points import points_frame
from gpuexplain.store.exports import export_csv, export_json
from gpuexplain.store.run import RunState, StoredRun
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.result import Result

_SHOWN = [
    "series",
    "x",
    "status",
    "median_s",
    "ci_low_s",
    "ci_high_s",
    "n_samples",
    "first_call_s",
    "rate_flops",
]
_SHOWN += ["rel_error", "flags", "device", "device_name", "threads", "source", "source_note", "reason"]


def show_data(experiment: Experiment, result: Result) -> None:
    """Write the table and the downloads."""
    if not result.points:
        st.markdown("No points yet: press Run.")
        return
    frame = points_frame(result.points).sort_values(["series", "x"])
    st.dataframe(frame[_SHOWN], hide_index=True, key="points", height=380, alt=_describe(result))
    st.caption("Times in seconds. The files hold every column; JSON holds every raw sample too.")
    name = f"{experiment.id}-{result.id}".replace(" ", "-")
    with st.container(horizontal=True):
        for label, suffix, mime, make in (
            ("CSV", "csv", "text/csv", lambda: export_csv(_stored(result))),
            ("JSON", "json", "application/json", lambda: export_json(_stored(result))),
            ("Parquet", "parquet", "application/vnd.apache.parquet", lambda: _parquet(result)),
        ):
            st.download_button(
                label,
                make,
                file_name=f"{name}.{suffix}",
                mime=mime,
                icon=":material/download:",
                on_click="ignore",
                key=f"download-{suffix}",
            )


def _describe(result: Result) -> str:
    return f"Table of {len(result.points)} points, one a row."


def _stored(result: Result) -> StoredRun:
    """Return the whole run of a result, with its machine, as the command line exports it."""
    run = access.get_store().find_run(result.id)
    return run or StoredRun(
        id=result.id,
        experiment=result.points[0].experiment,
        measuring_version=0,
        key="",
        params=dict(result.params),
        machine=None,
        device=result.points[0].device,
        state=RunState.DONE,
        created_at=0.0,
        points=result.points,
    )


def _parquet(result: Result) -> bytes:
    buffer = io.BytesIO()
    points_frame(result.points).to_parquet(buffer, index=False)
    return buffer.getvalue()
