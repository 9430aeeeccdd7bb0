"""What does a file of a stranger hold for this page: rows of anybody's, or points that we exported?"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from gpuexplain.errors import InputError
from gpuexplain.experiments.contract import Experiment, FileOrigin
from gpuexplain.model import Dtype, Point, Source
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.store.exported_points import read_exported_points
from gpuexplain.store.nvbandwidth import is_nvbandwidth
from gpuexplain.store.series_columns import SERIES_COLUMNS, canonical_column
from gpuexplain.store.series_files import SeriesFile, read_series
from gpuexplain.store.series_table import read_table
from gpuexplain.ui.upload_names import TEXT_CHARACTERS, file_label, plain_label

# A page concludes from and draws at most so many sizes of a series; no screen shows more.
MOST_SIZES = 1000
# More than any run has: beyond, an export is none of ours.
MOST_POINTS = 5000
MOST_SERIES = 60


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file holds, before a visitor says what part it is about."""

    name: str
    label: str  # the name, with a number where it is taken
    digest: str  # of the bytes: the same file again, or another of the same name
    series: SeriesFile | None  # anybody's rows
    exported: tuple[Point, ...]  # else our own points
    machine_name: str
    notes: tuple[str, ...]

    @property
    def key(self) -> str:
        """Name for the widgets of this file, whatever characters its own name has."""
        return hashlib.sha256(f"{self.label}|{self.digest}".encode()).hexdigest()[:12]


def read_content(experiment: Experiment, content: bytes, name: str, taken: Sequence[str] = ()) -> FileContent:
    """Return what a file called ``name`` holds for a page.

    Raises:
        InputError: If it cannot be used; the text says where and why, and which page it seems to be for.
    """
    label, digest = file_label(name, taken), content_digest(content)
    try:
        if not is_nvbandwidth(content) and (found := read_exported_points(content, label)) is not None:
            points = _own_points(experiment, found.points, label)
            machine = plain_label(found.machine_name)
            return FileContent(file_label(name), label, digest, None, points, machine, _thinning_notes(points))
        if experiment.points_of_file is None:
            raise InputError(f"Cannot read {label}: this page reads only what it exported itself, as JSON or CSV.")
        series = read_series(experiment.id, content, label)
    except InputError as error:
        hint = say_where_it_belongs(experiment, content)
        raise InputError(f"{error} {hint}".strip()) from None
    n_sizes = max(len(series.frame), 1)
    notes = (*series.notes, *([_say_thinned(n_sizes)] if n_sizes > MOST_SIZES else []))
    return FileContent(file_label(name), label, digest, series, (), "", notes)


def content_digest(content: bytes) -> str:
    """Return what tells two contents apart."""
    return hashlib.sha256(content).hexdigest()


def _own_points(experiment: Experiment, points: Sequence[Point], label: str) -> tuple[Point, ...]:
    others = [name for name in dict.fromkeys(p.experiment for p in points) if name != experiment.id]
    if others:
        raise InputError(f"Cannot read {label}: it holds points of {plain_label(', '.join(others))}.")
    n_series = len({(p.series, p.device, p.dtype) for p in points})
    if len(points) > MOST_POINTS or n_series > MOST_SERIES:
        limits = f"a run has at most {MOST_POINTS:,} points in {MOST_SERIES} series"
        raise InputError(f"Cannot read {label}: {len(points):,} points in {n_series:,} series; {limits}.")
    return tuple(points)


def _thinning_notes(points: Sequence[Point]) -> tuple[str, ...]:
    sizes = [len(list(own)) for _, own in groupby(sorted(points, key=_series_of), _series_of)]
    return (_say_thinned(max(sizes)),) if max(sizes) > MOST_SIZES else ()


def _say_thinned(n_sizes: int) -> str:
    return f"{n_sizes:,} sizes: {MOST_SIZES:,} of them taken, evenly spread; `analyse` takes all"


def points_of(experiment: Experiment, content: FileContent, gpu_name: str, dtype: Dtype | None) -> tuple[Point, ...]:
    """Return the points of a file, with what a visitor says of it: recorded ones, all named by the file."""
    if content.series is None:
        note = f"{content.label}, measured on {content.machine_name}" if content.machine_name else content.label
        return thin([_foreign(point, content.label, note) for point in content.exported])
    assert experiment.points_of_file is not None
    frame = content.series.frame
    if len(frame) > MOST_SIZES:
        frame = frame.iloc[_spread(len(frame), MOST_SIZES)].reset_index(drop=True)
    origin = FileOrigin(content.label, plain_label(gpu_name), dtype)
    points = experiment.points_of_file(replace(content.series, frame=frame), origin)
    return tuple(_foreign(point, content.label, content.label) for point in points)


def _foreign(point: Point, label: str, note: str) -> Point:
    """Return a point as one that was not measured here, its texts fit for our sentences."""
    return point.model_copy(
        update={
            "source": Source.RECORDED,
            "source_note": note,
            "device_name": plain_label(point.device_name) or label,
            "device": plain_label(point.device, TEXT_CHARACTERS),
            "series": plain_label(point.series),
            "reason": plain_label(point.reason, TEXT_CHARACTERS),
            "timing": plain_label(point.timing, TEXT_CHARACTERS),
        }
    )


def thin(points: Sequence[Point], most: int = MOST_SIZES) -> tuple[Point, ...]:
    """Return at most so many points of each series, evenly spread, the first and the last among them."""
    kept: list[Point] = []
    for _, group in groupby(sorted(points, key=lambda p: (_series_of(p), p.x)), _series_of):
        own = list(group)
        kept += own if len(own) <= most else [own[i] for i in _spread(len(own), most)]
    return tuple(kept)


def _series_of(point: Point) -> tuple[str, str, str]:
    return (point.series, point.device, point.dtype)


def _spread(count: int, most: int) -> list[int]:
    return [round(i * (count - 1) / (most - 1)) for i in range(most)]


def say_where_it_belongs(experiment: Experiment, content: bytes) -> str:
    """Return which other page a file looks made for; "" where it looks like none."""
    if is_nvbandwidth(content) and experiment.id != "transfer":
        return f"It is what nvbandwidth prints: {_say_page('transfer')}."
    try:
        table = read_table(content, "")
    except InputError:
        return ""
    exported = {row.cells.get("experiment", "") for row in table.rows}
    if experiment.id in exported:
        return ""
    if origins := [name for name in EXPERIMENTS if name in exported]:
        return f"Another page exported it: {' or '.join(map(_say_page, origins))}."
    fitting = [name for name in _fitting(table.columns) if name != experiment.id]
    return f"Its columns look like those of {' or of '.join(map(_say_place, fitting))}." if fitting else ""


def _fitting(columns: Sequence[str]) -> list[str]:
    """Return the experiments that know every one of these columns and miss none."""
    given = {canonical_column(column)[0] for column in columns}
    return [
        name
        for name, known in SERIES_COLUMNS.items()
        if given <= set(known.known)
        and known.size in given
        and known.has_dtype <= ("dtype" in given)
        and all(given.intersection(group) for group in known.measures)
    ]


def _say_place(experiment_id: str) -> str:
    if experiment_id not in EXPERIMENTS:  # a question that files can answer and no page asks
        return f"{experiment_id}: the command `analyse {experiment_id}` reads it"
    return f"{experiment_id}: {_say_page(experiment_id)}"


def _say_page(experiment_id: str) -> str:
    return f"drop it on the page {EXPERIMENTS[experiment_id].nav_label!r}"
