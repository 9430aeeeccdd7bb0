"""The charts of the batch page: what they draw, for every way a page can stand."""

import math
import re
from collections.abc import Sequence
from itertools import pairwise

import plotly.graph_objects as go
import pytest
from batch_made import (
    CPU,
    GIB,
    GPU,
    MIB,
    affine,
    cpu_points,
    gpu_points,
    make_point,
    out_of_memory,
    published_points,
    resident,
)

from gpuexplain.charts.theme import ENTITY_STYLES, Entity, Theme, with_alpha
from gpuexplain.experiments.batch.chart import HINT, describe_main, draw_main, size_ticks
from gpuexplain.experiments.batch.claims import claim_main, claim_second
from gpuexplain.experiments.batch.conclude import find_batch_findings
from gpuexplain.experiments.batch.second_chart import describe_second, draw_second
from gpuexplain.experiments.batch.words import tell
from gpuexplain.model import Flag, Gauges, Point, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.markup import plain

CPU_COLOR, GPU_COLOR = (ENTITY_STYLES[entity].light for entity in (Entity.CPU, Entity.GPU))
THROUGHPUT, TIME, MEMORY = "examples per second (log)", "time of one step (log)", "peak memory of a step (log)"
TIGHT = [
    p.model_copy(update={"gauges": resident(30 * MIB + int(p.x) * MIB // 8, 512 * MIB)}) for p in cpu_points()[:12]
]

PAGES = {
    "CPU": cpu_points(),
    "CPU and GPU": [*cpu_points((1, 4, 16, 64, 256)), *gpu_points()],
    "CPU and published": [*cpu_points(), *published_points()],
    "published": published_points(),
    "out of memory": [*TIGHT, out_of_memory(CPU, 4096)],
    "one point": cpu_points((1,)),
}


def draw(points: Sequence[Point], theme: Theme = "light") -> tuple[go.Figure, go.Figure]:
    """Return both charts with the findings that the points lead to."""
    findings = find_batch_findings(points)
    return draw_main(points, findings, theme), draw_second(points, findings, theme)


def texts(figure: go.Figure) -> list[str]:
    """Return what is written on a chart, with ordinary spaces and without tags."""
    found = [words.text.replace(NBSP, " ") for words in figure.layout.annotations]
    return [text.replace("<b>", "").replace("</b>", "").replace("<br>", " ") for text in found]


def title(figure: go.Figure) -> str:
    """Return the title as a reader sees it."""
    return re.sub("<[^>]+>", "", figure.layout.title.text.replace("<br>", " "))


def panel(figure: go.Figure, axis: str) -> list[str]:
    """Return the names of the lines of one panel."""
    return [t.name for t in figure.data if (t.yaxis or "y") == axis and t.mode and t.mode.startswith("lines+markers")]


@pytest.mark.parametrize("points", PAGES.values(), ids=list(PAGES))
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_titles_are_the_findings_and_axes_are_logarithmic(points: list[Point], theme: Theme) -> None:
    """The same words as the claims, over one axis of batches."""
    findings = find_batch_findings(points)
    main, second = draw(points, theme)
    assert title(main) == plain(claim_main(findings))
    assert title(second) == plain(claim_second(findings))
    assert main.layout.xaxis.title.text == "batch: examples in one step (log)"
    assert second.layout.xaxis.title.text == "time of one step (log)"
    assert second.layout.yaxis.title.text == "examples per second (log)"
    axes = [main.layout.xaxis, main.layout.yaxis, main.layout.yaxis2, second.layout.xaxis, second.layout.yaxis]
    assert {axis.type for axis in axes} == {"log"}


def test_the_answer_says_what_the_title_says() -> None:
    """Chart and words cannot disagree."""
    findings = find_batch_findings(PAGES["CPU"])
    assert plain(claim_main(findings))[1:] in plain(tell(findings).answer)


def test_with_nothing_measured_the_chart_says_what_run_will_show() -> None:
    """A friendly empty chart, twice."""
    for figure in draw([]):
        assert title(figure) == "Nothing is measured yet"
        assert texts(figure) == [HINT]


def test_three_panels_share_one_axis_of_batches() -> None:
    """Throughput on top, then time, then memory; each with its heading; only the lowest has the ticks."""
    main, _ = draw(PAGES["CPU"])
    domains = [main.layout[name].domain for name in ("yaxis", "yaxis2", "yaxis3")]
    assert all(upper[0] > lower[1] for upper, lower in pairwise(domains))
    assert (domains[0][1], round(domains[2][0], 9)) == (1.0, 0.0)
    assert main.layout.xaxis.anchor == "y3"
    assert [text for text in texts(main) if text.endswith("(log)")] == [THROUGHPUT, TIME, MEMORY]
    assert [panel(main, axis) for axis in ("y", "y2", "y3")] == [["MLP training step, CPU"]] * 3
    assert {trace.xaxis for trace in main.data} == {None}


def test_panels_show_what_their_headings_say() -> None:
    """Examples over time, time, and bytes."""
    main, _ = draw(PAGES["CPU"])
    lines = {t.yaxis or "y": t for t in main.data if t.mode == "lines+markers"}
    first = PAGES["CPU"][0]
    assert lines["y"].y[0] == pytest.approx(1 / first.median_s)
    assert lines["y2"].y[0] == first.median_s
    assert lines["y3"].y[0] == first.gauges.memory_resident_bytes
    assert list(lines["y"].x) == [p.x for p in PAGES["CPU"]]


def test_the_knee_is_marked_with_its_rule() -> None:
    """A line through every panel at the batch, a level at 90 % of the best, and both in words."""
    main, second = draw(PAGES["CPU"])
    knee = find_batch_findings(PAGES["CPU"]).series[0].knee
    (line,) = [s for s in main.layout.shapes if s.type == "line" and s.x0 == s.x1]
    assert (line.x0, line.yref, line.y0, line.y1, line.line.color) == (knee.knee_batch, "paper", 0, 1, CPU_COLOR)
    (level,) = [s for s in main.layout.shapes if s.type == "line" and s.y0 == s.y1]
    assert (level.yref, level.y0) == ("y", pytest.approx(0.9 * knee.best_throughput))
    assert "knee 1,024: first with 90 % of the best" in texts(main)
    assert "90 % of the best" in texts(main)
    (ring,) = [t for t in second.data if t.name == "knee"]
    assert (ring.marker.symbol, list(ring.text)) == ("circle-open", ["knee 1,024"])


def test_a_knee_that_is_not_placed_is_not_marked() -> None:
    """Still rising: no line, no ring, no level."""
    main, second = draw(affine(CPU, 1.0, 1e-6))
    assert not [s for s in main.layout.shapes if s.type == "line"]
    assert not [t for t in second.data if t.name == "knee"]


def test_a_knee_known_within_a_range_says_so() -> None:
    """By the intervals."""
    wide = [p.model_copy(update={"ci_low_s": 0.98 * p.median_s, "ci_high_s": 1.02 * p.median_s}) for p in cpu_points()]
    knee = find_batch_findings(wide).series[0].knee
    assert knee.knee_low < knee.knee_high
    wanted = f"knee {knee.knee_batch:,} ({knee.knee_low:,} – {knee.knee_high:,}): 90 % of the best"
    assert wanted in texts(draw(wide)[0])


def test_free_batches_are_shaded_through_every_panel() -> None:
    """From the smallest to the last free one."""
    main, _ = draw(PAGES["CPU"])
    (shade,) = [s for s in main.layout.shapes if s.type == "rect"]
    assert (shade.x0, shade.x1, shade.yref, shade.y0, shade.y1) == (1, 16, "paper", 0, 1)
    assert "shaded: free up to 16, a step within +25 %" in texts(main)


def test_the_first_batch_out_of_memory_is_a_cross_on_the_ceiling() -> None:
    """With its reason, in the memory panel, beside the level that a run may fill."""
    main, _ = draw(PAGES["out of memory"])
    (cross,) = [t for t in main.data if t.name and t.name.startswith("not measured")]
    assert (cross.yaxis, list(cross.x), list(cross.y)) == ("y3", [4096], [512 * MIB])
    assert "out of memory: It needs more memory than the 512 MiB" in cross.hovertext[0]
    (level,) = [s for s in main.layout.shapes if s.yref == "y3"]
    assert (level.y0, level.y1, level.line.dash) == (512 * MIB, 512 * MIB, "longdash")
    assert {"a run may fill 512 MiB", "4,096 did not fit"} <= set(texts(main))


def test_a_ceiling_far_above_is_left_to_the_words() -> None:
    """It would press the curve flat; a near one is drawn though nothing failed."""
    assert not any("a run may fill" in text for text in texts(draw(PAGES["CPU"])[0]))
    near = [p.model_copy(update={"gauges": resident(MIB * (30 + int(p.x)), 8 * GIB)}) for p in cpu_points()]
    assert "a run may fill 8.00 GiB" in texts(draw(near)[0])


def test_a_skipped_batch_is_a_cross_under_the_throughput() -> None:
    """Not in the memory panel: it is not about memory."""
    skipped = make_point(CPU, 8192, None, status=Status.SKIPPED, reason="no time left")
    main, _ = draw([*cpu_points(), skipped])
    (cross,) = [t for t in main.data if t.name and t.name.startswith("not measured")]
    assert (cross.yaxis, list(cross.x)) == ("y", [8192])
    low, high = main.layout.yaxis.range
    assert low < math.log10(cross.y[0]) < low + 0.15 * (high - low)


def test_a_gpu_shows_what_its_allocator_held_beside_what_was_live() -> None:
    """Thin and dotted; the CPU's process is no part of that panel."""
    main, _ = draw(PAGES["CPU and GPU"])
    assert panel(main, "y") == ["MLP training step, CPU", "MLP training step, GPU"]
    assert panel(main, "y3") == ["MLP training step, GPU"]
    (held,) = [t for t in main.data if t.name and t.name.startswith("held by the allocator")]
    assert (held.yaxis, held.line.dash, held.line.color) == ("y3", "dot", GPU_COLOR)


def test_the_hover_tells_every_reading_of_the_memory() -> None:
    """Allocated, reserved, context; or why it is not reported."""
    main, _ = draw(PAGES["CPU and GPU"])
    hover = next(t for t in main.data if t.name == "MLP training step, GPU").hovertext[0].replace(NBSP, " ")
    for line in (
        "batch 1, width 512, depth 4, fp32",
        "peak of live tensors 40.0 MiB",
        "held by the allocator 50.0 MiB",
    ):
        assert line in hover
    assert "CUDA context, apart 400 MiB" in hover
    why = Gauges(not_reported={"memory_resident_bytes": "the peak cannot be reset: denied"})
    main, _ = draw([p.model_copy(update={"gauges": why}) for p in cpu_points()])
    hover = next(t for t in main.data if t.mode == "lines+markers").hovertext[0]
    assert "memory not reported: the peak cannot be reset: denied" in hover


def test_without_any_memory_there_are_two_panels() -> None:
    """A published series has none."""
    main, _ = draw(PAGES["published"])
    assert main.layout.xaxis.anchor == "y2"
    assert MEMORY not in texts(main)


def test_a_published_series_is_a_ghost_called_by_its_part() -> None:
    """Beside the CPU measured here."""
    main, second = draw(PAGES["CPU and published"])
    for figure in (main, second):
        (ghost,) = [t for t in figure.data if t.name == "ResNet-50 inference, GPU" and (t.yaxis or "y") == "y"]
        assert (ghost.line.color, ghost.line.dash) == (with_alpha(GPU_COLOR, 0.45), "dot")
        assert "V100 published" in texts(figure)


def test_points_of_the_second_chart_are_labelled_by_their_batch() -> None:
    """Every power of two while a phone has room, then every second or third."""
    _, second = draw(cpu_points((1, 2, 4, 8)))
    line = next(t for t in second.data if t.name == "MLP training step, CPU")
    assert list(line.text) == ["1", "2", "4", "8"]
    assert line.mode == "lines+markers+text"
    assert line.x[0] == cpu_points((1,))[0].median_s
    _, second = draw(cpu_points())
    line = next(t for t in second.data if t.name == "MLP training step, CPU")
    assert [text for text in line.text if text] == ["1", "4", "16", "64", "256", "4,096"]  # the ring says 1,024
    _, second = draw(affine(CPU, 4e-3, 40e-6, (8, 16, 20, 24, 28, 32, 40, 48, 56, 64)))
    line = next(t for t in second.data if t.name == "MLP training step, CPU")
    assert [text for text in line.text if text] == ["8", "16", "32", "64"]


def test_a_flagged_point_is_open() -> None:
    """Disturbed, so no knee."""
    points = [*cpu_points()[:-1], make_point(CPU, 4096, 0.2, flags=(Flag.UNDER_LOAD,))]
    main, _ = draw(points)
    line = next(t for t in main.data if t.mode == "lines+markers")
    assert line.marker.line.color.index(ENTITY_STYLES[Entity.WARNING].light) == 12


def test_ticks_of_time_stand_side_by_side_on_a_phone() -> None:
    """At most four, never turned."""
    for points in PAGES.values():
        axis = draw(points)[1].layout.xaxis
        assert 1 <= len(axis.tickvals) <= 4
        assert axis.tickangle == 0


def test_sizes_are_powers_of_two_in_words() -> None:
    """At most four, whatever the range."""
    values, words = size_ticks((math.log10(20 * MIB), math.log10(3 * GIB)))
    assert values == [2.0**26, 2.0**28, 2.0**30]
    assert [word.replace(NBSP, " ") for word in words] == ["64 MiB", "256 MiB", "1 GiB"]


@pytest.mark.parametrize("points", PAGES.values(), ids=list(PAGES))
def test_words_above_the_plot_fit_a_phone(points: list[Point]) -> None:
    """Rows of at most 45 characters, in rows of their own."""
    main, _ = draw(points)
    rows = [words for words in main.layout.annotations if words.yref == "paper" and words.y == 1]
    assert len({words.yshift for words in rows}) == len(rows)
    assert max(len(words.text) for words in rows) <= 45


def test_figures_are_small_and_drawn_as_svg() -> None:
    """Each visitor receives them anew while a job runs."""
    for figure in draw(PAGES["CPU and GPU"]):
        assert {trace.type for trace in figure.data} == {"scatter"}
        assert len(figure.to_json()) < 80_000


def test_both_charts_have_a_text_alternative() -> None:
    """Kind of chart, axes and finding."""
    findings = find_batch_findings(PAGES["CPU"])
    assert describe_main(findings) == (
        "Three line charts over one logarithmic axis of batches: examples per second, time of one step and peak memory. "
        f"{plain(claim_main(findings))}."
    )
    assert describe_second(findings) == (
        "Line chart, both axes logarithmic: examples per second against the time of one step, each point labelled by its "
        f"batch. {plain(claim_second(findings))}."
    )


def test_only_failures_still_show_where_they_ended() -> None:
    """A cross and its reason; the second chart has nothing to show."""
    main, second = draw([out_of_memory(CPU, 1)])
    assert [t.name for t in main.data] == ["not measured, MLP training step, CPU"]
    assert texts(second) == [HINT]


def test_the_gpu_memory_series_is_that_of_the_headline() -> None:
    """The same id."""
    assert find_batch_findings(PAGES["CPU and GPU"]).headline_series.series == GPU
