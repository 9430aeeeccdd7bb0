"""The page that is kept: one HTML file that opens offline, tells what a machine did, and can be printed."""

import json
from collections.abc import Sequence

import plotly.graph_objects as go

from gpuexplain import __version__
from gpuexplain.charts.theme import Theme
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Point
from gpuexplain.report.chapter import Chapter, Told, open_chapter, say_when, told_run
from gpuexplain.report.method_words import method_summary
from gpuexplain.report.style import SCRIPT, style_sheet
from gpuexplain.report.text import escape, pairs, paragraphs
from gpuexplain.store.run import StoredRun
from gpuexplain.wording.machine_words import tell_machine_card
from gpuexplain.wording.phrases import count_of

# Nothing is loaded and nothing is sent: the browser itself is told so.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
)
_LONG_NUMBER = 14  # characters that fit on one line of a tile in large type


def write_summary(machine: Machine, parts: Sequence[Told], now_s: float) -> str:
    """Return the page about a machine: its headline numbers, then a section an experiment."""
    chapters = [open_chapter(told) for told in parts]
    measured = sum(chapter.told.is_measured for chapter in chapters)
    body = [
        _head("What this machine does for deep learning", now_s),
        f"<p>{escape(count_of(measured, 'experiment').capitalize())} measured on it, every sample kept.</p>",
        _tiles(chapters),
        _machine(machine),
        *(chapter.html(in_full=False) for chapter in chapters),
        _method(),
    ]
    return _page("GPU Explain: summary", "".join(body), _all_figures(chapters, with_second=False))


def write_run(experiment: Experiment, run: StoredRun, now_s: float, beside: tuple[Point, ...] = ()) -> str:
    """Return the page about one stored run, in full; ``beside`` is what it borrows from other experiments."""
    chapter = open_chapter(told_run(experiment, run, beside))
    machine = _read_machine(run)
    body = [
        _head(f"{experiment.nav_label}: one run", now_s),
        _tiles([chapter]) if chapter.headline else "",
        _machine(machine) if machine else "",
        chapter.html(in_full=True),
        _method(),
    ]
    title = f"GPU Explain: {experiment.nav_label}, run {run.id}"
    return _page(title, "".join(body), _all_figures([chapter], with_second=True))


def _read_machine(run: StoredRun) -> Machine | None:
    """Return the machine as it was; None where the run does not say."""
    try:
        return Machine.model_validate(run.machine) if run.machine else None
    except ValueError:  # a run of a release that knew other facts
        return None


def _head(title: str, now_s: float) -> str:
    return (
        f'<header><p class="eyebrow">GPU Explain {escape(__version__)} · {escape(say_when(now_s))}</p>'
        f"<h1>{escape(title)}</h1></header>"
    )


def _tiles(chapters: Sequence[Chapter]) -> str:
    items = "".join(f"<li>{_tile(chapter)}</li>" for chapter in chapters)
    return f'<section><ul class="tiles">{items}</ul></section>'


def _tile(chapter: Chapter) -> str:
    experiment, headline = chapter.told.experiment, chapter.headline
    link = f'<a href="#{escape(experiment.id)}">{escape(experiment.nav_label)}</a>'
    if headline is None:
        said = f'<p class="small">{escape(chapter.told.reason or experiment.teaser)}</p>'
    else:
        said = (
            f"<p>{escape(headline.label)}</p>"
            f'<p class="number{" long" if len(headline.number) > _LONG_NUMBER else ""}">{escape(headline.number)}</p>'
            f'<p class="small">{escape(", ".join(filter(None, [headline.interval, headline.detail])))}</p>'
        )
    return f'<p class="eyebrow">{link}</p>{said}<p>{chapter.badges()}</p>'


def _machine(machine: Machine) -> str:
    rows = []
    for line in tell_machine_card(machine).lines:
        label, colon, text = line.partition(": ")
        rows.append((label, text) if colon else ("Note", line))
    return f"<section><h2>This machine</h2>{pairs(rows + _versions(machine))}</section>"


def _versions(machine: Machine) -> list[tuple[str, str]]:
    known = {
        "GPU Explain": __version__,
        "torch": machine.torch.version if machine.torch else machine.torch_version,
        "NVIDIA driver": machine.driver_version,
        "CUDA of the driver": machine.cuda_driver_version,
        "Python": machine.platform.python,
        "System": f"{machine.platform.system}, {machine.platform.kernel}",
    }
    overrides = sorted(machine.environment_overrides.items())
    return [(name, text) for name, text in known.items() if text] + overrides


def _method() -> str:
    return f'<section class="chapter"><h2>How we measure</h2>{paragraphs(method_summary())}</section>'


def _all_figures(chapters: Sequence[Chapter], *, with_second: bool) -> dict[str, dict[Theme, go.Figure]]:
    figures: dict[str, dict[Theme, go.Figure]] = {}
    for chapter in chapters:
        figures |= chapter.figures(with_second=with_second)
    return figures


def _page(title: str, body: str, figures: dict[str, dict[Theme, go.Figure]]) -> str:
    from plotly.offline import get_plotlyjs  # 5 MB of text: only when a page is written

    drawn = {
        place: {theme: json.loads(figure.to_json()) for theme, figure in themes.items()}
        for place, themes in figures.items()
    }
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{escape(title)}</title><style>{style_sheet()}</style></head>\n<body><main>{body}</main>\n"
        f'<script type="application/json" id="figures">{_script_safe(json.dumps(drawn))}</script>\n'
        f"<script>{get_plotlyjs()}</script>\n<script>{SCRIPT}</script></body></html>\n"
    )


def _script_safe(text: str) -> str:
    """Return JSON that cannot end its script element, whatever a text in it says."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
