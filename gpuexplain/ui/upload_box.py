"""The place on a page for anybody's numbers: a drop zone, and a box for each file with what it says."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.reference import load_reference_gpus
from gpuexplain.model import Dtype, Params
from gpuexplain.settings import load_settings
from gpuexplain.store.series_columns import SERIES_COLUMNS
from gpuexplain.store.series_table import MOST_ROWS
from gpuexplain.ui.badges import Badge, badges_markdown
from gpuexplain.ui.notices import show_error
from gpuexplain.ui.rich_text import plain_markdown, to_markdown
from gpuexplain.ui.upload_files import DroppedFile, drop, dropped_files, error_slot, remove, say_of
from gpuexplain.units import format_percent
from gpuexplain.wording.phrases import count_of

_CAVEATS_SHOWN = 2
# A file's own answer needs no hint at how to measure: whoever reads it brought the numbers.
_PRESS_RUN = re.compile(r"[;,] press Run to measure here(?=\.)")


def show_upload(experiment: Experiment, params: Params) -> None:
    """Write the drop zone, what went wrong with the last file, and a box for each file that is on the page."""
    st.markdown("**Your own numbers**")
    st.caption(say_what_is_read(experiment))
    counter = f"{experiment.id}:drops"
    key = f"{experiment.id}-drop-{st.session_state.get(counter, 0)}"
    st.file_uploader(
        "Measurements, as CSV or JSON",
        key=key,
        max_upload_size=load_settings().max_upload_mb,
        on_change=_take,
        args=(experiment, params, key, counter),
    )
    problem = st.session_state.get(error_slot(experiment))
    if problem:
        show_error(problem, icon=":material/error:")
    for file in dropped_files(experiment):
        with st.container(border=True, key=f"file-{file.content.key}"):
            _show_file(experiment, file)


def say_what_is_read(experiment: Experiment) -> str:
    """Return what files this page reads."""
    own = "an export of a run of this page (JSON or CSV)"
    columns = SERIES_COLUMNS.get(experiment.id)
    if experiment.points_of_file is None or columns is None:
        return f"Reads {own}. The file stays in this browser session."
    also = ", what `nvbandwidth -j` prints" if experiment.id == "transfer" else ""
    most = f"At most {load_settings().max_upload_mb} MB and {MOST_ROWS:,} rows."
    return f"Reads columns {columns.describe()}{also}; also {own}. {most} The file stays in this browser session."


def _take(experiment: Experiment, params: Params, key: str, counter: str) -> None:
    """Take the file out of the drop zone, which is then empty again for the next one."""
    uploaded = st.session_state.get(key)
    if uploaded is not None:
        drop(experiment, uploaded.getvalue(), uploaded.name, params)
        st.session_state[counter] = st.session_state.get(counter, 0) + 1
        _let_go(uploaded)


def _let_go(uploaded: UploadedFile) -> None:
    """Free the bytes: what was read of them is kept, and the server would hold them until the tab is closed."""
    context = get_script_run_ctx()
    if context is not None and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_file(context.session_id, uploaded.file_id)


def _show_file(experiment: Experiment, file: DroppedFile) -> None:
    content = file.content
    answer = to_markdown(_PRESS_RUN.sub("", file.answer))
    sizes = count_of(len(file.points), "point")
    badges = badges_markdown([Badge(f"recorded: {content.label}", "ghost"), Badge(sizes), *_machine_badge(file)])
    st.markdown(f"**{plain_markdown(content.label)}:** {answer}\n\n{badges}")
    caveats = [to_markdown(caveat) for caveat in file.caveats]
    notes = [f"Note: {plain_markdown(note)}." for note in content.notes]
    _show_list([say_reference(file), *notes, *caveats[:_CAVEATS_SHOWN]])
    if rest := caveats[_CAVEATS_SHOWN:]:
        with st.expander(f"{len(rest)} more to know"):
            _show_list(rest)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if content.series is not None:
            _ask_what_it_is(experiment, file)
        st.button(
            "Remove",
            key=f"{content.key}-remove",
            icon=":material/close:",
            help=f"Take {plain_markdown(content.label)} off this page",
            on_click=remove,
            args=(experiment, file),
        )


def _show_list(lines: Sequence[str]) -> None:
    said = [f"- {line}" for line in lines if line]
    if said:
        st.markdown("\n".join(said))


def _machine_badge(file: DroppedFile) -> list[Badge]:
    return [Badge(f"measured on {file.content.machine_name}")] if file.content.machine_name else []


def _ask_what_it_is(experiment: Experiment, file: DroppedFile) -> None:
    """Ask for what a table of sizes and times does not hold: the part, and the number format."""
    gpu_key, dtype_key = f"{file.content.key}-gpu", f"{file.content.key}-dtype"
    names = [gpu.name for gpu in load_reference_gpus()]
    options = names if file.gpu_name in ("", *names) else [file.gpu_name, *names]
    st.selectbox(
        "GPU it is from",
        options,
        index=options.index(file.gpu_name) if file.gpu_name else None,
        placeholder="not said",
        accept_new_options=True,
        help="Its peak is then looked up, to see whether the numbers can be.",
        key=gpu_key,
        on_change=_say,
        args=(experiment, file, gpu_key, dtype_key),
        width=260,
    )
    if not _has_dtype(experiment):
        return
    formats = [str(dtype) for dtype in Dtype]
    st.selectbox(
        "Number format",
        formats,
        index=formats.index(file.dtype) if file.dtype else None,
        placeholder="not said",
        key=dtype_key,
        on_change=_say,
        args=(experiment, file, gpu_key, dtype_key),
        width=140,
    )


def _has_dtype(experiment: Experiment) -> bool:
    """Whether the numbers are operations of one number format, which no column names."""
    columns = SERIES_COLUMNS.get(experiment.id)
    return columns is not None and "tflops" in columns.numbers and not columns.has_dtype


def _say(experiment: Experiment, file: DroppedFile, gpu_key: str, dtype_key: str) -> None:
    dtype = st.session_state.get(dtype_key, file.dtype)
    say_of(experiment, file, str(st.session_state.get(gpu_key) or ""), Dtype(dtype) if dtype else None)


def say_reference(file: DroppedFile) -> str:
    """Return how the best rate compares with the part's data sheet; "" where no part is named, or none has a peak."""
    found: Mapping[str, Any] = file.findings
    part = plain_markdown(file.gpu_name)
    match found.get("plausibility"):
        # A part of the reference table, within its peak or a little above.
        case "ok" | "above_reference_clock":
            share = format_percent(found["fraction_of_peak"], 3)
            above = ": above its reference clock" if found["plausibility"] == "above_reference_clock" else ""
            matched = plain_markdown(str(found.get("matched_gpu")))
            return f"The best is {share} of the reference peak of {matched}, {found['peak_tflops']:g} TFLOP/s{above}."
        # A name that the table does not hold; where none was given there is nothing to say.
        case "unknown_gpu" if file.gpu_name:
            return f"{part} is not in the reference table: whether the numbers can be is not judged."
        # Withheld (a caveat says so), a CPU, or an experiment without peaks.
        case _:
            return ""
