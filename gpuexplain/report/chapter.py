"""One experiment's part of a page that is kept: answer, chart, caveats, conditions, table, origin."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.theme import Theme
from gpuexplain.experiments.contract import Experiment, Explanation, Headline
from gpuexplain.measuring.session import Coverage
from gpuexplain.model import Point, Source
from gpuexplain.report.condition_words import summarise_conditions
from gpuexplain.report.method_words import say_coverage
from gpuexplain.report.point_table import NOTES, point_columns, tell_reasons
from gpuexplain.report.text import bullets, escape, pairs, paragraphs, to_html
from gpuexplain.store.run import RunState, StoredRun

THEMES: tuple[Theme, ...] = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of one experiment: points, and where, when and how they were measured."""

    experiment: Experiment
    points: tuple[Point, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    run_id: str = ""
    state: str = RunState.DONE.value
    reason: str = ""  # why it ended other than done
    coverage: Coverage | None = None
    measured_at: float | None = None  # seconds since the epoch
    beside: tuple[Point, ...] = ()  # of other experiments, concluded from too

    @property
    def is_measured(self) -> bool:
        """Whether the machine of the page measured it."""
        return any(point.source is Source.MEASURED for point in self.points)


def told_run(experiment: Experiment, run: StoredRun, beside: tuple[Point, ...] = ()) -> Told:
    """Return what is told of a stored run, with what it borrows from other experiments."""
    return Told(
        experiment=experiment,
        points=run.points,
        params=run.params,
        run_id=run.id,
        state=run.state.value,
        reason=run.reason,
        coverage=Coverage.model_validate(run.coverage) if run.coverage else None,
        measured_at=run.finished_at or run.created_at,
        beside=beside,
    )


@dataclass(frozen=True, slots=True)
class Chapter:
    """What the points say, concluded once for words, figures and table."""

    told: Told
    findings: Any
    points: tuple[Point, ...]  # with the flags that only the whole series can tell
    words: Explanation
    headline: Headline | None
    sources: tuple[str, ...]  # of whatever was not measured, reference figures included

    def figures(self, *, with_second: bool) -> dict[str, dict[Theme, go.Figure]]:
        """Return the charts in every theme, by the id of their place."""
        draws = {"main": self.told.experiment.draw_main, "second": self.told.experiment.draw_second}
        return {
            self._place(name): {theme: draw(self.points, self.findings, theme) for theme in THEMES}
            for name, draw in draws.items()
            if name == "main" or with_second
        }

    def _place(self, name: str) -> str:
        return f"{self.told.experiment.id}-{name}"

    def html(self, *, in_full: bool) -> str:
        """Return the section; ``in_full`` with the second chart and all the words."""
        experiment = self.told.experiment
        parts = [
            f"<h2>{escape(experiment.title)}</h2>",
            f'<p class="answer">{to_html(self.words.answer)}</p>',
            f"<p>{self.badges()}</p>",
            self._chart("main", experiment.describe_main(self.findings)),
            self._caveats(),
        ]
        if in_full:
            parts += [f"<h3>{title}</h3>{paragraphs(text)}" for title, text in self._paragraphs() if text]
            parts.append(self._chart("second", experiment.describe_second(self.findings)))
        parts += [self._how(in_full), self._table(in_full)]
        return f'<section class="chapter" id="{escape(experiment.id)}">{"".join(parts)}</section>'

    def badges(self) -> str:
        """Return where and when it is from."""
        told = self.told
        if not told.is_measured:
            notes = dict.fromkeys(p.device_name or p.source_note for p in told.points)
            return "".join(_badge(f"published: {note}", "ghost") for note in notes) or _badge("not measured yet")
        at = f", {say_when(told.measured_at)}" if told.measured_at else ""
        ended = "" if told.state == RunState.DONE.value else _badge(f"incomplete: {told.state}", "warning")
        return _badge(f"measured on this machine{at}", "here") + ended

    def _paragraphs(self) -> tuple[tuple[str, str], ...]:
        return (("What you see", self.words.see), ("Why", self.words.why), ("So what", self.words.so_what))

    def _chart(self, name: str, described: str) -> str:
        # Without scripts the text alternative and the table are there.
        return (
            f'<figure><div class="chart" id="{escape(self._place(name))}" role="img" aria-label="{escape(described)}">'
            f"<noscript><p>{escape(described)}</p></noscript></div></figure>"
        )

    def _caveats(self) -> str:
        if not self.words.caveats:
            return ""
        return f'<div class="caveats"><h3>Before you trust it</h3>{bullets(list(self.words.caveats))}</div>'

    def _how(self, in_full: bool) -> str:
        told = self.told
        rows = [("Run", told.run_id), ("Settings", say_params(told))]
        rows += [("Time", say_coverage(told.coverage))] if told.coverage else []
        rows += [("Ended", f"{told.state}. {told.reason}")] if told.reason else []
        rows += [("Source", source) for source in self.sources]
        rows += summarise_conditions(p for p in self.points if p.source is Source.MEASURED)
        shown = pairs([(label, text) for label, text in rows if text])
        return _details("How it was measured, and under which conditions", shown, is_open=in_full)

    def _table(self, in_full: bool) -> str:
        columns = point_columns(self.told.experiment)
        head = "".join(f"<th{_side(c.justify)}>{escape(c.heading)}</th>" for c in columns)
        rows = "".join(
            f"<tr>{''.join(f'<td{_side(c.justify)}>{escape(_cell(c.write(p), c.heading))}</td>' for c in columns)}</tr>"
            for p in self.points
        )
        table = f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        reasons = tell_reasons(self.told.experiment, self.points)
        told = f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in reasons)}</ul>" if reasons else ""
        return _details(f"All {len(self.points)} points", table + told, is_open=in_full)


def open_chapter(told: Told) -> Chapter:
    """Return what the points of ``told`` say, by the rules of their experiment."""
    experiment = told.experiment
    findings = experiment.find((*told.points, *told.beside))
    return Chapter(
        told=told,
        findings=findings,
        points=tuple(experiment.flag_points(told.points, findings)),
        words=experiment.tell(findings),
        headline=experiment.headline(findings),
        sources=tuple(dict.fromkeys([*_cited(told.points), *_named_sources(experiment.findings_json(findings))])),
    )


def say_when(at_s: float) -> str:
    """Return a moment as ``30 November 2026, 07:45 UTC``: a page that is kept has no "just now"."""
    moment = time.gmtime(at_s)
    return f"{moment.tm_mday} {time.strftime('%B %Y, %H:%M', moment)} UTC"


def say_params(told: Told) -> str:
    """Return what was asked for, name by name."""
    return ", ".join(f"{name} {setting}" for name, setting in told.params.items() if setting is not None)


def _cited(points: Sequence[Point]) -> list[str]:
    return [p.source_note for p in points if p.source is not Source.MEASURED and p.source_note]


def _named_sources(found: Any) -> list[str]:
    """Return the sources that findings name, such as that of a reference peak."""
    if isinstance(found, list):
        return [source for item in found for source in _named_sources(item)]
    if not isinstance(found, dict):
        return []
    own = [item for name, item in found.items() if name.endswith("_source") and isinstance(item, str) and item]
    return own + [source for item in found.values() for source in _named_sources(item)]


def _details(title: str, content: str, *, is_open: bool) -> str:
    return f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>{content}</details>"


def _badge(text: str, kind: str = "") -> str:
    return f'<span class="badge {kind}">{escape(text)}</span>'


def _side(justify: str) -> str:
    return ' class="left"' if justify == "left" else ""


def _cell(text: str, heading: str) -> str:
    return text.replace("_", " ") if heading == NOTES else text
