"""Figures and words of a result, made once per state and shared by every viewer of it."""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from gpuexplain.charts.theme import Theme
from gpuexplain.errors import PointsError
from gpuexplain.experiments.contract import Experiment, Explanation
from gpuexplain.model import Point
from gpuexplain.ui.chart_panel import Panel, make_panel
from gpuexplain.ui.compare import Beside
from gpuexplain.ui.result import Result
from gpuexplain.ui.upload_files import drawn_points

# A running job hands over a point every few milliseconds, and drawing takes time from what is measured: a drawing
# stays for this long (less than between two looks of one page), or until drawing took this share of a core.
_FRESH_S = 0.3
_STALEST_S = 2.0
_DRAWING_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything a page shows of one state of a result in one theme."""

    findings: Any
    main: Panel
    second: Panel
    main_alt: str
    second_alt: str
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class _Kept:
    """A drawing, the points it shows, and until when it stands for newer ones."""

    drawing: Drawing
    points: tuple[Point, ...]
    fresh_until: float

    def is_fresh(self, result: Result) -> bool:
        """Whether it still stands for this result: an ended one changes no more."""
        return not result.is_active or self.points is result.points or time.monotonic() < self.fresh_until


class Drawings:
    """A bounded cache; one thread draws, the others wait for it instead of drawing the same."""

    def __init__(self, most: int) -> None:
        """Make an empty cache that keeps the latest ``most`` drawings."""
        self._most = most
        self._lock = threading.Lock()
        self._drawings: OrderedDict[object, _Kept] = OrderedDict()
        self.n_drawn = 0

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._drawings.clear()
            self.n_drawn = 0

    def get(self, experiment: Experiment, result: Result, beside: Beside, theme: Theme) -> Drawing:
        """Return the drawing, made at most once a state, of a running job only now and then."""
        ghosts = (*beside.points, *beside.ghosts, *result.ghosts)
        extra = tuple(dict.fromkeys((p.source_note, p.device, p.series) for p in ghosts))
        version = None if result.is_active else result.version
        key = (experiment.id, result.id, version, result.state, extra, beside.files_id, theme)
        with self._lock:
            kept = self._drawings.get(key)
            if kept is None or not kept.is_fresh(result):
                began_s = time.thread_time()
                drawing = _draw(experiment, result, beside, theme)
                earned_s = (time.thread_time() - began_s) / _DRAWING_SHARE
                stays_s = min(_STALEST_S, max(_FRESH_S, earned_s))
                self._drawings[key] = _Kept(drawing, result.points, time.monotonic() + stays_s)
                self.n_drawn += 1
                while len(self._drawings) > self._most:
                    self._drawings.popitem(last=False)
            self._drawings.move_to_end(key)
            return self._drawings[key].drawing


def _draw(experiment: Experiment, result: Result, beside: Beside, theme: Theme) -> Drawing:
    findings = _conclude(experiment, result, beside.points)
    flagged = experiment.flag_points((*result.points, *beside.points), findings)
    drawn = drawn_points((*flagged, *beside.ghosts, *result.ghosts), beside.file_names)
    return Drawing(
        findings=findings,
        main=make_panel(experiment.draw_main(drawn, findings, theme)),
        second=make_panel(experiment.draw_second(drawn, findings, theme)),
        main_alt=experiment.describe_main(findings),
        second_alt=experiment.describe_second(findings),
        explanation=experiment.tell(findings),
    )


def _conclude(experiment: Experiment, result: Result, beside: tuple[Point, ...]) -> Any:
    """Conclude from what is beside the result too, once the two have enough in common."""
    try:
        return experiment.find((*result.points, *beside))
    except PointsError:
        return experiment.find(result.points)


SHARED = Drawings(most=48)  # a handful of runs, two themes each


def _own_drawings() -> Drawings:
    """Return the cache of this session: what it drew from its files is nobody else's, and ends with it."""
    if "drawings" not in st.session_state:
        st.session_state["drawings"] = Drawings(most=8)
    return cast("Drawings", st.session_state["drawings"])


def draw(experiment: Experiment, result: Result, beside: Beside, theme: Theme) -> Drawing:
    """Return the drawing of a result.

    Args:
        experiment: The slice whose result it is.
        result: What to conclude from and draw; its ghosts are only drawn.
        beside: What is drawn faint beside it, and concluded from where it is to be compared with.
        theme: The colours.
    """
    drawings = _own_drawings() if beside.files_id else SHARED
    return drawings.get(experiment, result, beside, theme)
