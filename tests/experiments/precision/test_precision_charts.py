"""The two charts of the precision page: what they draw, for every way a page can stand."""

import math
import re
from collections.abc import Sequence

import plotly.graph_objects as go
import pytest
from precision_made import (
    GPU,
    GPU_RATES,
    cpu_points,
    failed,
    gpu_points,
    make_formats,
    make_point,
    make_steps,
    make_sums,
    published_points,
)

from gpuexplain.charts.theme import ENTITY_STYLES, GHOST_OPACITY, Entity, Theme, with_alpha
from gpuexplain.experiments.precision.bars import describe_second, draw_second, list_rows
from gpuexplain.experiments.precision.chart import EXACT_X, HINT, X_RANGE, describe_main, draw_main
from gpuexplain.experiments.precision.claims import claim_main, claim_second
from gpuexplain.experiments.precision.conclude import find_precision_findings
from gpuexplain.model import Flag, Gauges, Point, Source, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.markup import plain

CPU_COLOR, GPU_COLOR = ENTITY_STYLES[Entity.CPU].light, ENTITY_STYLES[Entity.GPU].light
WARNING = ENTITY_STYLES[Entity.WARNING].light

PAGES = {
    "CPU": cpu_points(),
    "GPU": [*gpu_points(), *make_steps(1.8, device=GPU)],
    "CPU and a published GPU": [*cpu_points(), *published_points()],
    "published": published_points(),
    "one point": [make_point("fp32", 64, 0.1)],
}


def draw(points: Sequence[Point], theme: Theme = "light") -> tuple[go.Figure, go.Figure]:
    """Return both charts with the findings that the points lead to."""
    findings = find_precision_findings(points)
    return draw_main(points, findings, theme), draw_second(points, findings, theme)


def texts(figure: go.Figure) -> list[str]:
    """Return what is written on a chart, without tags."""
    written = (words.text.replace("<br>", " ") for words in figure.layout.annotations)
    return [re.sub("<[^>]+>", "", text).replace(NBSP, " ") for text in written]


def title(figure: go.Figure) -> str:
    """Return the title as a reader sees it."""
    return re.sub("<[^>]+>", "", figure.layout.title.text.replace("<br>", " "))


def traces(figure: go.Figure) -> dict[str, go.Scatter]:
    """Return the traces by name."""
    return {trace.name: trace for trace in figure.data}


@pytest.mark.parametrize("points", PAGES.values(), ids=list(PAGES))
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_title_is_the_finding(points: list[Point], theme: Theme) -> None:
    """The same words as the claims; axes say that they are logarithmic."""
    findings = find_precision_findings(points)
    for figure, claim in zip(draw(points, theme), (claim_main(findings), claim_second(findings)), strict=True):
        assert title(figure) == plain(claim)
        assert "(log)" in figure.layout.xaxis.title.text
        assert figure.layout.xaxis.type == "log"


def test_with_nothing_measured_the_chart_says_what_to_do() -> None:
    """A friendly empty chart, twice."""
    for figure in draw([]):
        assert (title(figure), "".join(texts(figure))) == ("Nothing is measured yet", HINT)


def test_only_failures_draw_nothing_but_the_rows() -> None:
    """The main chart is empty; the second one still lists the format and why."""
    main, second = draw([failed("fp32", Status.OOM, "full")])
    assert texts(main) == [HINT]
    assert texts(second) == ["out of memory"]


# -- speed against error --------------------------------------------------------------------------


def test_every_format_is_a_dot_at_its_speed_and_error() -> None:
    """Named directly, with its bytes; wider numbers are larger dots."""
    main, _ = draw(PAGES["GPU"])
    dots = traces(main)["NVIDIA A100-SXM4-80GB"]
    assert list(dots.y) == pytest.approx([GPU_RATES[name] * 1e12 for name in GPU_RATES])
    assert list(dots.x)[1:] == pytest.approx([3e-7, 3e-4, 2.7e-3, 3.3e-4, 5.6e-3])
    assert {"fp64 8 B", "fp32 4 B", "tf32 4 B", "bf16 2 B", "fp16 2 B", "int8 1 B"} <= set(texts(main))
    assert list(dots.marker.size) == [17, 14, 14, 11, 11, 8]
    assert (dots.marker.symbol, set(dots.marker.color)) == ("square", {GPU_COLOR})


def test_what_is_finer_than_the_axis_stands_at_its_edge() -> None:
    """fp64 is the yardstick: no error, or one far to the left."""
    for error in (0.0, 3e-16):
        main, _ = draw([make_point("fp64", 64, 0.1, rel_error=error), make_point("fp32", 64, 0.1)])
        assert math.log10(min(traces(main)["Fake CPU"].x)) == pytest.approx(EXACT_X)
        assert "finer" in main.layout.xaxis.ticktext


def test_intervals_are_those_of_the_rates() -> None:
    """Above and below, in the units of the axis."""
    main, _ = draw([make_point("fp32", 1024, 10.0)])
    bars = traces(main)["Fake CPU"].error_y
    assert bars.array[0] == pytest.approx(10e12 * (1 / 0.99 - 1))
    assert bars.arrayminus[0] == pytest.approx(10e12 * (1 - 1 / 1.01))


def test_the_front_joins_what_no_other_beats() -> None:
    """From exact to fast, dashed; not where one format is all there is."""
    main, _ = draw(PAGES["GPU"])
    front = traces(main)["best for their error"]
    assert list(front.y) == pytest.approx([GPU_RATES[name] * 1e12 for name in ("fp64", "fp32", "fp16", "int8")])
    assert (front.mode, front.line.dash) == ("lines", "dash")
    assert "best for their error" not in traces(draw(PAGES["one point"])[0])


def test_the_error_that_may_be_spent_is_a_line_with_its_words() -> None:
    """Half a unit of bf16; not where no error is known."""
    main, _ = draw(PAGES["GPU"])
    (line,) = main.layout.shapes
    assert (line.x0, line.x1) == (2.0**-8, 2.0**-8)
    assert "dotted: an error of 0.39 %" in texts(main)
    assert not draw(PAGES["published"])[0].layout.shapes


def test_a_published_part_is_faint_and_says_whose_it_is() -> None:
    """At the usual errors of its formats, which it does not report."""
    main, _ = draw(PAGES["CPU and a published GPU"])
    ghost = traces(main)["NVIDIA GeForce RTX 4090"]
    assert set(ghost.marker.line.color) == {with_alpha(GPU_COLOR, GHOST_OPACITY)}
    assert ghost.marker.color[0] != ghost.marker.line.color[0]
    assert sorted(ghost.x) == pytest.approx([3e-7, 3e-4, 3e-3])
    told = texts(main)
    assert "faint: RTX 4090 (published)" in told
    assert "published ones at the usual error of their format" in told
    assert "error not reported; usual for the format" in ghost.hovertext[0]


def test_alone_a_published_part_is_open_and_not_faint() -> None:
    """It is what the page is about."""
    main, _ = draw(PAGES["published"])
    dots = traces(main)["NVIDIA GeForce RTX 4090"]
    assert set(dots.marker.line.color) == {GPU_COLOR}
    assert "all at the usual error of their format" in texts(main)


def test_a_dropped_file_beside_a_published_part_is_faint_and_named() -> None:
    """With nothing measured here, the words are about the published part; the file is not to be taken for it."""
    published = published_points()
    changes = {"source": Source.RECORDED, "source_note": "lab.csv", "device_name": "Other CPU"}
    dropped = [p.model_copy(update=changes) for p in make_formats({"fp32": 0.4})]
    main = draw_main([*published, *dropped], find_precision_findings(published), "light")
    assert set(traces(main)["NVIDIA GeForce RTX 4090"].marker.line.color) == {GPU_COLOR}
    assert set(traces(main)["Other CPU"].marker.line.color) == {with_alpha(CPU_COLOR, GHOST_OPACITY)}
    assert "faint: Other CPU (lab.csv)" in texts(main)


def test_an_earlier_run_lies_faint_and_unnamed_under_the_new_one() -> None:
    """Two names on one spot help nobody."""
    new = make_formats({"fp32": 0.1, "bf16": 0.001})
    old = [p.model_copy(update={"source": Source.RECORDED, "source_note": "earlier run"}) for p in new]
    main = draw_main([*new, *old], find_precision_findings(new), "light")
    assert [trace.marker.color[0] for trace in main.data[-2:]] != [CPU_COLOR, CPU_COLOR]
    bent = [p.model_copy(update={"flags": (Flag.UNDER_LOAD,)}) for p in old]
    faint = draw_main([*new, *bent], find_precision_findings(new), "light").data[-2]
    assert set(faint.marker.line.color) == {with_alpha(WARNING, GHOST_OPACITY)}
    assert "faint: an earlier run" in texts(main)
    assert sum("fp32" in text for text in texts(main)) == 1


def test_a_run_of_another_machine_is_named_by_its_part_and_id() -> None:
    """Its dots have names: they are nobody's predecessors."""
    here = make_formats({"fp32": 0.1})
    changes = {"source": Source.RECORDED, "source_note": "run 7", "device_name": "Other CPU"}
    other = [p.model_copy(update=changes) for p in make_formats({"fp32": 0.4})]
    main = draw_main([*here, *other], find_precision_findings(here), "light")
    assert "faint: Other CPU (run 7)" in texts(main)
    assert sum("fp32" in text for text in texts(main)) == 2


def test_disturbed_formats_are_open_and_amber() -> None:
    """As everywhere."""
    main, second = draw(make_formats({"fp32": 0.1, "bf16": 0.001}, flags=(Flag.UNDER_LOAD,)))
    assert set(traces(main)["Fake CPU"].marker.line.color) == {WARNING}
    assert set(traces(second)["speed over fp32"].marker.line.color) == {WARNING}


def test_a_format_without_a_speed_is_a_cross_with_its_reason() -> None:
    """At its usual error, under the lowest dot, and named above the plot."""
    points = [*gpu_points(), failed("fp8", Status.UNSUPPORTED, "too old", device=GPU)]
    main, second = draw(points)
    cross = traces(main)["no speed to show"]
    assert list(cross.x) == pytest.approx([4e-2])
    assert min(GPU_RATES.values()) * 1e12 > cross.y[0] > 10 ** main.layout.yaxis.range[0]
    assert "not supported: too old" in cross.hovertext[0]
    assert "crosses: fp8 e4m3 (not supported)" in texts(main)
    assert "not supported" in texts(second)


def test_a_speed_beyond_the_part_is_not_drawn() -> None:
    """Only said."""
    main, second = draw(make_formats({"fp32": 18.0, "bf16": 600.0}, device=GPU))
    assert len(traces(main)["NVIDIA A100-SXM4-80GB"].y) == 1
    assert "crosses: bf16 (withheld)" in texts(main)
    assert "withheld: above the part's peak" in texts(second)


def test_every_dot_lies_inside_the_axes() -> None:
    """Both ranges hold every page."""
    for points in PAGES.values():
        main, _ = draw(points)
        low, high = main.layout.yaxis.range
        for trace in main.data:
            assert all(X_RANGE[0] <= math.log10(x) <= X_RANGE[1] for x in trace.x)
            assert all(low <= math.log10(y) <= high for y in trace.y)


def test_foreign_names_stay_literal() -> None:
    """A part's name is not markup."""
    evil = published_points(device_name="<b>RTX</b>", device="published:evil")
    main, _ = draw([*cpu_points(), *evil])
    assert any("&lt;b&gt;RTX" in words.text for words in main.layout.annotations)


# -- speed-ups ------------------------------------------------------------------------------------


def test_bars_go_from_one_to_the_factor() -> None:
    """One row a format, most exact first; the figures stand beyond the bars."""
    _, second = draw(PAGES["GPU"])
    bars = traces(second)["speed over fp32"]
    assert (set([bars.base] if isinstance(bars.base, int) else bars.base), bars.orientation) == ({1}, "h")
    factors = {second.layout.yaxis.ticktext[y]: 1 + x for y, x in zip(bars.y, bars.x, strict=True)}
    assert factors == pytest.approx(
        {"fp64": 0.5, "tf32": 120 / 18, "bf16": 250 / 18, "fp16": 245 / 18, "int8": 400 / 18, "step, autocast": 1.8}
    )
    assert texts(second) == ["1/2.00", "baseline", "6.67 ×", "13.9 ×", "13.6 ×", "22.2 ×", "1.80 ×"]


def test_intervals_of_the_factors_are_drawn() -> None:
    """From the worst to the best ratio."""
    _, second = draw(make_formats({"fp32": 10.0, "bf16": 20.0}, device=GPU))
    bars = traces(second)["speed over fp32"]
    assert bars.error_x.array[0] == pytest.approx(2 * (1.01 / 0.99 - 1))
    assert bars.error_x.arrayminus[0] == pytest.approx(2 * (1 - 0.99 / 1.01))


def test_what_cannot_be_told_apart_is_outlined_and_called_unsure() -> None:
    """A pale bar, its figure not bold; the zone of 5 % lies behind."""
    _, second = draw(make_formats({"fp32": 10.0, "bf16": 10.3}, device=GPU))
    assert texts(second) == ["baseline", "1.03 ×, unsure"]
    assert traces(second)["speed over fp32"].marker.color[0] == with_alpha(GPU_COLOR, 0.15)
    zone = next(shape for shape in second.layout.shapes if shape.type == "rect")
    assert (zone.x0, zone.x1) == (0.95, 1.05)


def test_energy_stands_beside_the_factor() -> None:
    """Where it was read."""
    points = [
        make_point(name, 1024, rate, device=GPU, gauges=Gauges(clipped_count=0, energy_j=joules * 2 * 1024**3))
        for name, rate, joules in (("fp32", 10.0, 4e-12), ("bf16", 20.0, 1e-12))
    ]
    assert texts(draw(points)[1]) == ["baseline, 4.00 pJ", "2.00 ×, 1.00 pJ"]


def test_a_format_that_ran_as_another_has_no_bar() -> None:
    """It says what ran."""
    told = {"reason": "ran as fp32, by its error", "flags": (Flag.FALLBACK,), "rel_error": 3e-7}
    rows = list_rows(
        find_precision_findings([*make_formats({"fp32": 0.1}), *make_formats({"tf32": 0.2}, **told)]).devices[0]
    )
    assert [(row.name, row.speedup, row.text) for row in rows] == [
        ("fp32", None, "baseline"),
        ("tf32", None, "ran as fp32"),
    ]


def test_the_running_sum_lies_below_with_its_own_axes() -> None:
    """A line a format, named where it rises; absent where nothing was added up."""
    _, second = draw(cpu_points())
    lost = {name: trace for name, trace in traces(second).items() if name.startswith("lost in")}
    assert list(lost) == ["lost in fp32", "lost in fp16", "lost in bf16"]
    assert {(trace.xaxis, trace.yaxis) for trace in lost.values()} == {("x2", "y2")}
    assert len({trace.line.dash for trace in lost.values()}) == 3
    assert list(lost["lost in bf16"].y) == [0.01, 0.04, 1.0]
    assert second.layout.yaxis2.domain[1] < second.layout.yaxis.domain[0]
    assert "Added to a 1 one by one: the share that is lost" in texts(second)
    assert "yaxis2" not in draw(PAGES["GPU"])[1].layout.to_plotly_json()


def test_sums_alone_have_no_bars() -> None:
    """Nothing was timed yet: the chart waits."""
    _, second = draw(make_sums(sum_fp32=(0.0, 0.0, 0.0)))
    assert texts(second) == [HINT]


# -- both -----------------------------------------------------------------------------------------


def test_both_charts_have_a_text_alternative() -> None:
    """Kind of chart, finding, and every figure of the headline's device."""
    findings = find_precision_findings(make_formats({"fp32": 10.0, "bf16": 20.0}, device=GPU))
    claim = "The GPU multiplies 2.00 × (± 2.0 %) as fast in bf16 as in fp32 at n = 2,048, and errs by 0.27 %."
    assert describe_main(findings).replace(NBSP, " ") == (
        f"Scatter chart, both axes logarithmic: speed against relative error. {claim} fp32 10.0 TFLOP/s with an error of "
        "3.0 × 10⁻⁷; bf16 20.0 TFLOP/s with an error of 0.27 %."
    )
    assert describe_second(findings).replace(NBSP, " ") == (
        "Bar chart, logarithmic: speed over fp32. Most speed over fp32: 2.00 × in bf16 at n = 2,048. fp32 baseline; bf16 "
        "2.00 ×."
    )
    with_sums = describe_second(find_precision_findings(cpu_points())).replace(NBSP, " ")
    assert with_sums.endswith(
        "Below, the share of a running sum that is lost: fp32 3.0 × 10⁻⁶ of 4,096; fp16 100 % of 4,096; bf16 100 % of 4,096."
    )


def test_figures_are_small_and_drawn_as_svg() -> None:
    """The page has several, and each visitor receives them anew while a job runs."""
    for points in PAGES.values():
        for figure in draw(points):
            assert {trace.type for trace in figure.data} <= {"scatter", "bar"}
            assert len(figure.to_json()) < 60_000


def test_titles_break_in_time_on_a_phone() -> None:
    """No line of a title is longer than a narrow chart."""
    for points in PAGES.values():
        for figure in draw(points):
            rows = re.sub("<(?!br)[^>]+>", "", figure.layout.title.text).split("<br>")
            assert max(len(row) for row in rows) <= 40
