"""What every experiment must offer: the shape of a slice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.theme import Theme
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Case, Dtype, Params, Point
from gpuexplain.store.series_files import SeriesFile


@dataclass(frozen=True, slots=True)
class Explanation:
    """The words beside a chart, Markdown; made from findings only.

    ``answer`` is the headline, one sentence with its number. ``see``, ``why`` and ``so_what`` are
    the three paragraphs beside the chart. ``next_step`` is shown when nothing was concluded.
    """

    answer: str
    see: str
    why: str
    so_what: str
    caveats: tuple[str, ...] = ()  # one short sentence each: flags, withheld figures, wide intervals


@dataclass(frozen=True, slots=True)
class Headline:
    """The one number of an experiment for Home and the summary; made from findings only."""

    label: str  # what the number is: "All threads over one"
    number: str  # with its unit: "1.8x", "batch 64", "12.3 GB/s"
    interval: str = ""  # "1.7 to 1.9"; empty where there is none
    detail: str = ""  # one short clause: where, or under which condition


@dataclass(frozen=True, slots=True)
class Question:
    """What a visitor may guess before the run, and how to read the measured answer."""

    ask: Callable[[bool], str]  # whether there is a GPU -> the question
    options: tuple[float, ...]
    say: Callable[[float], str]  # a guess in words: "n = 1,024"
    find_answer: Callable[[Any], float | None]  # findings -> the answer, None while there is none


@dataclass(frozen=True, slots=True)
class Example:
    """Well-known settings, one click away: a button's text and the params it chooses."""

    label: str
    params: Params


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """A series that others published, as points of this experiment; ``key`` is its name in an address."""

    key: str
    name: str  # the part it was measured on
    source: str
    dtype: Dtype | None  # None where the params have no number format
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class FileOrigin:
    """What is known of a file of measurements beside its rows."""

    file_name: str
    gpu_name: str = ""  # as the visitor names the part; empty: not said
    dtype: Dtype | None = None  # of the whole file, where it has no such column


@dataclass(frozen=True, slots=True)
class Experiment:
    """One slice. ``F`` findings are opaque here: only its own chart and words read them."""

    id: str  # also the page's URL and the CLI's name
    title: str  # the question
    nav_label: str
    icon: str  # Streamlit material icon
    teaser: str  # one sentence for Home
    params_type: type[Params]
    measuring_version: int  # part of the cache key: raise it when the measuring changes
    measure_module: str  # loaded by name in the worker: the only place that may import torch
    plan_cases: Callable[[Any, Machine], Sequence[Case]]
    find: Callable[[Sequence[Point]], Any]
    flag_points: Callable[[Sequence[Point], Any], list[Point]]  # what only the whole series can tell
    draw_main: Callable[[Sequence[Point], Any, Theme], go.Figure]
    draw_second: Callable[[Sequence[Point], Any, Theme], go.Figure]
    tell: Callable[[Any], Explanation]
    write_snippet: Callable[[Any, Point | None], str]  # params, the selected point -> a standalone script
    describe_main: Callable[[Any], str]  # text alternative of the main chart, from findings
    describe_second: Callable[[Any], str]
    findings_json: Callable[[Any], dict[str, Any]]  # the published names, for --json
    say_x: Callable[[float], str]  # a size in words: "n = 512", "batch 64", "4 MiB"
    x_heading: str  # the column of sizes in a table
    say_rate: Callable[[Point], str]  # the speed of a point with its unit; "" where it has none
    headline: Callable[[Any], Headline | None]  # None while there is no number
    # What the tour asks for: about 11 s, so that four runs fit into a minute; None: not in the tour.
    tour_params: Params | None = None
    points_of_file: Callable[[SeriesFile, FileOrigin], list[Point]] | None = None  # anybody's rows, source RECORDED
    published: Callable[[], tuple[PublishedResult, ...]] = tuple
    default_published: Callable[[Any], PublishedResult | None] = lambda _: None  # by params
    # Experiments whose runs of the same machine are concluded from too, beside this one's own points.
    borrows_from: tuple[str, ...] = ()
    question: Question | None = None
    examples: tuple[Example, ...] = ()
