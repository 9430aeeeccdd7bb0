"""What every experiment must offer: the shape of a slice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.theme import Theme
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Case, Params, Point


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
