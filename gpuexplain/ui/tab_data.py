"""Data: the points as a table, and as files to keep."""

import io
import json

import streamlit as st

from gpuexplain.experiments.contract import Experiment
from gpuexplain.points import points_frame
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
            ("CSV", "csv", "text/csv", lambda: frame.to_csv(index=False)),
            ("JSON", "json", "application/json", lambda: _json(result)),
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


def _json(result: Result) -> str:
    return json.dumps([point.model_dump(mode="json") for point in result.points], indent=1)


def _parquet(result: Result) -> bytes:
    buffer = io.BytesIO()
    points_frame(result.points).to_parquet(buffer, index=False)
    return buffer.getvalue()
