"""The files that a visitor has dropped on a page: they live in the session, and nowhere else."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from gpuexplain.charts.marks import FILE_DEVICE
from gpuexplain.errors import GpuExplainError, InputError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.model import Dtype, Params, Point
from gpuexplain.settings import load_settings
from gpuexplain.ui.upload_names import file_label, plain_label
from gpuexplain.ui.upload_read import FileContent, content_digest, points_of, read_content

# More curves than this nobody can tell apart.
MOST_FILES = 4
GPU_CHARACTERS = 60
# What a slice may run into when points are none that its own sweep could have made.
UNTOLD = (
    GpuExplainError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    StopIteration,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, slots=True)
class DroppedFile:
    """A file with what its visitor said of it, and what it says by itself."""

    content: FileContent
    gpu_name: str
    dtype: Dtype | None
    points: tuple[Point, ...]
    answer: str  # in marked words
    caveats: tuple[str, ...]
    findings: Mapping[str, Any]  # under their published names

    @property
    def id(self) -> str:
        """The file and all that was said of it: equal ones are drawn alike."""
        return f"{self.content.key}|{self.gpu_name}|{self.dtype}"

    @property
    def note(self) -> str:
        """What every one of its points has as its source."""
        return self.points[0].source_note


def make_dropped(experiment: Experiment, content: FileContent, gpu_name: str, dtype: Dtype | None) -> DroppedFile:
    """Return a file with its own answer.

    Raises:
        InputError: If its points cannot be concluded from, or drawn.
    """
    points = points_of(experiment, content, gpu_name, dtype)
    if not points:
        raise InputError(f"Cannot use {content.label}: it holds no points.")
    try:
        findings = experiment.find(points)
        told = experiment.tell(findings)
        drawn = drawn_points(experiment.flag_points(points, findings), {points[0].source_note: content.label})
        # What fails must fail here, not on a page that was fine before.
        figures = [draw(drawn, findings, "light") for draw in (experiment.draw_main, experiment.draw_second)]
        named = experiment.findings_json(findings)
    except UNTOLD as error:
        why = str(error) if isinstance(error, GpuExplainError) else f"{type(error).__name__}: {plain_label(str(error))}"
        raise InputError(f"Cannot use {content.label}: nothing can be concluded from its points ({why}).") from None
    if not any(figure.data for figure in figures):
        series = ", ".join(dict.fromkeys(point.series for point in points))
        raise InputError(f"Cannot use {content.label}: this page knows none of its series ({plain_label(series)}).")
    return DroppedFile(content, gpu_name, dtype, points, told.answer, told.caveats, named)


def drawn_points(points: list[Point] | tuple[Point, ...], names: Mapping[str, str]) -> tuple[Point, ...]:
    """Return points as they are drawn: those of a file are called by it, their part stands in the note.

    ``names`` are labels by source note.
    """
    return tuple(_named(p, names[p.source_note]) if p.source_note in names else p for p in points)


def _named(point: Point, label: str) -> Point:
    device = point.device if point.device.startswith(FILE_DEVICE) else f"{FILE_DEVICE}{label}"
    part = "" if point.device_name == label else f", {point.device_name}"
    return point.model_copy(
        update={"device": device, "device_name": label, "source_note": f"{point.source_note}{part}"}
    )


# -- the session --------------------------------------------------------------------------------


def _slot(experiment: Experiment) -> str:
    return f"{experiment.id}:files"


def error_slot(experiment: Experiment) -> str:
    """Return where this session keeps why the last file could not be used."""
    return f"{experiment.id}:file_error"


def dropped_files(experiment: Experiment) -> tuple[DroppedFile, ...]:
    """Return the files on the page of an experiment, in the order in which they came."""
    return tuple(st.session_state.get(_slot(experiment), ()))


def drop(experiment: Experiment, content: bytes, name: str, params: Params) -> None:
    """Take a file onto the page; what is wrong with it is kept for the page to say, and nothing else changes."""
    st.session_state.pop(error_slot(experiment), None)
    files = dropped_files(experiment)
    same = (file_label(name), content_digest(content))
    others = [file for file in files if (file.content.name, file.content.digest) != same]
    try:
        if len(others) >= MOST_FILES:
            raise InputError(f"{MOST_FILES} files are on this page: remove one first.")
        most_mb = load_settings().max_upload_mb
        if len(content) > most_mb * 1_000_000:
            size = f"{len(content) / 1e6:.1f} MB"
            raise InputError(f"{file_label(name)} has {size}, the limit here is {most_mb} MB. Keep one row per size.")
        found = read_content(experiment, content, name, [file.content.label for file in others])
        dropped = make_dropped(experiment, found, "", _dtype_of(params))
    except InputError as error:
        st.session_state[error_slot(experiment)] = str(error)
        return
    st.session_state[_slot(experiment)] = (*others, dropped)


def _dtype_of(params: Params) -> Dtype | None:
    """Return the number format that the controls ask for: until told otherwise, the file's too."""
    found = getattr(params, "dtype", None)
    return found if isinstance(found, Dtype) else None


def say_of(experiment: Experiment, file: DroppedFile, gpu_name: str, dtype: Dtype | None) -> None:
    """Note what a visitor says of a file, and conclude anew."""
    st.session_state.pop(error_slot(experiment), None)
    try:
        changed = make_dropped(experiment, file.content, plain_label(gpu_name, GPU_CHARACTERS), dtype)
    except InputError as error:
        st.session_state[error_slot(experiment)] = str(error)
        return
    files = dropped_files(experiment)
    st.session_state[_slot(experiment)] = tuple(changed if kept.id == file.id else kept for kept in files)


def remove(experiment: Experiment, file: DroppedFile) -> None:
    """Take a file off the page."""
    st.session_state.pop(error_slot(experiment), None)
    st.session_state[_slot(experiment)] = tuple(kept for kept in dropped_files(experiment) if kept.id != file.id)
