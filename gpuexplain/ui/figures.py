"""Figures and words of a result, made once per state and shared by every viewer of it."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from gpuexplain.charts.theme import Theme
from gpuexplain.errors import PointsError
from gpuexplain.experiments.contract import Experiment, Explanation
from gpuexplain.model import Point
from gpuexplain.ui.chart_panel import Panel, make_panel
from gpuexplain.ui.result import Result

_KEPT = 48  # a handful of runs, two themes each


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything a page shows of one state of a result in one theme."""

    findings: Any
    main: Panel
    second: Panel
    main_alt: str
    second_alt: str
    explanation: Explanation


class _Shared:
    """A bounded cache; one thread draws, the others wait for it instead of drawing the same."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._drawings: OrderedDict[object, Drawing] = OrderedDict()
        self.n_drawn = 0

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._drawings.clear()
            self.n_drawn = 0

    def get(self, experiment: Experiment, result: Result, beside: tuple[Point, ...], theme: Theme) -> Drawing:
        """Return the drawing, made at most once."""
        ghosts = (*beside, *result.ghosts)
        extra = tuple(dict.fromkeys((p.source_note, p.device, p.series) for p in ghosts))
        key = (experiment.id, result.id, result.version, result.state, extra, theme)
        with self._lock:
            if key not in self._drawings:
                self._drawings[key] = _draw(experiment, result, beside, theme)
                self.n_drawn += 1
                while len(self._drawings) > _KEPT:
                    self._drawings.popitem(last=False)
            self._drawings.move_to_end(key)
            return self._drawings[key]


def _draw(experiment: Experiment, result: Result, beside: tuple[Point, ...], theme: Theme) -> Drawing:
    findings = _conclude(experiment, result, beside)
    flagged = experiment.flag_points((*result.points, *beside), findings)
    drawn = (*flagged, *result.ghosts)
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


SHARED = _Shared()


def draw(experiment: Experiment, result: Result, beside: tuple[Point, ...], theme: Theme) -> Drawing:
    """Return the drawing of a result.

    Args:
        experiment: The slice whose result it is.
        result: What to conclude from and draw; its ghosts are only drawn.
        beside: Published points to compare with: they are drawn faint and concluded from, too.
        theme: The colours.
    """
    return SHARED.get(experiment, result, beside, theme)
