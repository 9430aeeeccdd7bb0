"""The two charts of the matmul page: what they draw, for every way a page can stand."""

import math
import re
from collections.abc import Sequence

import plotly.graph_objects as go
import pytest
from matmul_made import cpu_points, cubic, gpu_points, make_findings, make_point, make_series, published_points

from gpuexplain.charts.theme import ENTITY_STYLES, Entity, Theme, with_alpha
from gpuexplain.experiments.matmul.chart import HINT, describe_main, describe_second, draw_main, draw_second
from gpuexplain.experiments.matmul.claims import claim_main, claim_second
from gpuexplain.experiments.matmul.conclude import find_matmul_findings
from gpuexplain.experiments.matmul.spec import CPU, CPU_ONE_THREAD, GPU_CALL
from gpuexplain.experiments.matmul.words import tell
from gpuexplain.model import Flag, Point, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.markup import plain

GPU_COLOR = ENTITY_STYLES[Entity.GPU].light
TRANSFER_COLOR = ENTITY_STYLES[Entity.TRANSFER].light
ALL_SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048)


def draw(points: Sequence[Point], theme: Theme = "light") -> tuple[go.Figure, go.Figure]:
    """Return both charts with the findings that the points lead to."""
    findings = find_matmul_findings(points)
    return draw_main(points, findings, theme), draw_second(points, findings, theme)


def texts(figure: go.Figure) -> list[str]:
    """Return what is written on a chart, with ordinary spaces and without tags."""
    found = [words.text.replace(NBSP, " ") for words in figure.layout.annotations]
    return [text.replace("<b>", "").replace("</b>", "").replace("<br>", " ") for text in found]


def title(figure: go.Figure) -> str:
    """Return the title as a reader sees it."""
    return re.sub("<[^>]+>", "", figure.layout.title.text.replace("<br>", " "))


def lines(figure: go.Figure) -> list[str]:
    """Return the names of the lines, without bands and crosses."""
    return [trace.name for trace in figure.data if trace.mode == "lines+markers"]


def shaded(figure: go.Figure) -> list[tuple[float, float]]:
    """Return the shaded ranges of sizes."""
    return [(shape.x0, shape.x1) for shape in figure.layout.shapes if shape.type == "rect"]


PAGES = {
    "CPU": cpu_points(),
    "one point": [make_point(CPU, 128, 1e-4)],
    # A CPU that needs 1 µs to start: at n = 64 it is faster than the GPU, at n = 128 slower.
    "CPU and GPU": [
        *cubic(CPU, 190e9, 1e-6, ALL_SIZES),
        *cubic(CPU_ONE_THREAD, 100e9, 0.0, ALL_SIZES[:-1]),
        *gpu_points(ALL_SIZES),
    ],
    "CPU and a published GPU": [*cpu_points(), *published_points()],
    "published": published_points(),
}


@pytest.mark.parametrize("points", PAGES.values(), ids=list(PAGES))
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_title_is_the_finding(points: list[Point], theme: Theme) -> None:
    """The same words as the claim; axes say that they are logarithmic."""
    findings = find_matmul_findings(points)
    for figure, claim in zip(draw(points, theme), (claim_main(findings), claim_second(findings)), strict=True):
        assert title(figure) == plain(claim)
        assert figure.layout.xaxis.title.text == "matrix side n (log)"
        assert figure.layout.yaxis.title.text in ("time for one product (log)", "speed (log)")
        assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")


def test_the_answer_says_what_the_title_says() -> None:
    """Chart and words cannot disagree."""
    findings = find_matmul_findings(PAGES["CPU and GPU"])
    claim = plain(claim_main(findings))
    assert claim[1:] in plain(tell(findings).answer)


def test_with_nothing_measured_the_chart_says_what_to_do() -> None:
    """A friendly empty chart, twice."""
    for figure in draw([]):
        assert (title(figure), texts(figure)) == ("Nothing is measured yet", [HINT])


def test_only_failures_leave_crosses_and_no_speed() -> None:
    """The time chart shows where each case ended; the speed chart has nothing to show."""
    main, second = draw([make_point(CPU, 64, None, status=Status.SKIPPED, reason="no time left")])
    assert [trace.name for trace in main.data] == ["not measured, CPU"]
    assert (title(second), texts(second)) == ("Nothing could be measured", [HINT])


def test_five_lines_are_named_at_their_ends() -> None:
    """Each in the colour of its entity; the one thread's name stands free of the CPU's line."""
    main, _ = draw(PAGES["CPU and GPU"])
    assert set(lines(main)) == {"CPU", "GPU", "GPU, device time", "GPU with both copies"}
    names = {words.text: words.font.color for words in main.layout.annotations if words.text.startswith("<b>")}
    assert names["<b>CPU</b>"] == names["<b>1 thread</b>"] == ENTITY_STYLES[Entity.CPU].light
    assert names["<b>GPU</b>"] == names["<b>device</b>"] == GPU_COLOR
    assert names["<b>+ copies</b>"] == TRANSFER_COLOR


def test_series_of_one_hue_differ_in_dash_and_marker() -> None:
    """Colour is never alone."""
    main, _ = draw(PAGES["CPU and GPU"])
    drawn = [trace for trace in main.data if trace.mode == "lines+markers"]
    assert len({(trace.line.dash, trace.marker.symbol) for trace in drawn}) == 5


def test_the_crossovers_are_shaded_and_said_above_the_plot() -> None:
    """Without and with the copies, each in its colour, no line through the words."""
    main, _ = draw(PAGES["CPU and GPU"])
    findings = find_matmul_findings(PAGES["CPU and GPU"])
    crossover = findings.pairs[0].crossover
    copies = crossover.with_transfer
    assert copies is not None
    assert shaded(main) == [(crossover.low, crossover.high), (copies.low, copies.high)]
    estimates = [s.x0 for s in main.layout.shapes if s.type == "line" and s.x0 == s.x1]
    assert estimates == [crossover.estimate, copies.estimate]
    said = {words.text: words for words in main.layout.annotations if "overtakes" in words.text}
    assert list(said) == [
        f"GPU overtakes {crossover.low:.0f} – {crossover.high:.0f}",
        f"with copies it overtakes {copies.low:.0f} – {copies.high:.0f}",
    ]
    assert [words.font.color for words in said.values()] == [GPU_COLOR, TRANSFER_COLOR]
    assert [(words.yref, words.y, words.yanchor) for words in said.values()] == [("paper", 1, "bottom")] * 2


def test_where_the_smaller_size_was_a_tie_no_overtaking_is_claimed() -> None:
    """Only from which size on the challenger wins."""
    points = [
        *(make_point(CPU_ONE_THREAD, n, t) for n, t in ((64, 1e-4), (128, 2e-4), (256, 4e-4))),
        *(make_point(CPU, n, t) for n, t in ((64, 1e-4), (128, 1e-4), (256, 2e-4))),
    ]
    assert "2 threads win from 128" in texts(draw(points)[0])


def test_threads_overtake_in_the_plural() -> None:
    """Two of them against one."""
    assert any(text.startswith("2 threads overtake ") for text in texts(draw(cpu_points())[0]))


def test_the_launch_floor_is_a_line_with_its_time() -> None:
    """Measured here, or not at all."""
    main, _ = draw(PAGES["CPU and GPU"])
    assert "launch floor 10.0 µs" in texts(main)
    floors = [shape for shape in main.layout.shapes if shape.line.color == ENTITY_STYLES[Entity.OVERHEAD].light]
    assert [(floor.y0 == floor.y1, floor.line.dash) for floor in floors] == [(True, "dot")]
    assert not any("launch floor" in text for text in texts(draw(PAGES["CPU and a published GPU"])[0]))


def test_the_guide_is_as_steep_as_the_cube() -> None:
    """Eight times for each doubling, under the CPU's line."""
    main, _ = draw(cpu_points())
    (guide,) = [shape for shape in main.layout.shapes if shape.line.dash == "longdash"]
    assert math.log(guide.y1 / guide.y0) / math.log(guide.x1 / guide.x0) == pytest.approx(3.0)
    assert "n³" in texts(main)
    assert "n³" not in texts(draw(PAGES["one point"])[0])


def test_a_published_gpu_is_a_ghost_called_by_its_name() -> None:
    """Beside the CPU measured here."""
    main, _ = draw(PAGES["CPU and a published GPU"])
    (ghost,) = [trace for trace in main.data if trace.name == "GPU"]
    assert (ghost.line.color, ghost.line.dash) == (with_alpha(GPU_COLOR, 0.45), "dot")
    assert "RTX 3080 published" in texts(main)


def test_a_flagged_point_is_open_and_no_best() -> None:
    """Suspect or disturbed."""
    points = [*cubic(CPU, 100e9, 5e-4), make_point(CPU, 2048, 1e-3, flags=(Flag.UNDER_LOAD,))]
    main, second = draw(points)
    warning = ENTITY_STYLES[Entity.WARNING].light
    assert main.data[-1].marker.line.color.index(warning) == 5
    assert "best here 97.7 GFLOP/s" in texts(second)


def test_a_case_without_a_time_is_a_cross_under_the_lines() -> None:
    """With its reason, inside the axes, and at its size."""
    failed = make_point(CPU, 4096, None, status=Status.SKIPPED, reason="no time left")
    main, _ = draw([*cpu_points(), failed])
    cross = main.data[-1]
    assert (cross.name, list(cross.x)) == ("not measured, CPU", [4096])
    assert "skipped: no time left" in cross.hovertext[0]
    low, high = main.layout.yaxis.range
    assert low < math.log10(cross.y[0]) < low + 0.1 * (high - low)
    assert main.layout.xaxis.range[1] > math.log10(4096)


def test_a_product_that_is_not_square_says_what_its_axis_is() -> None:
    """The side of a square of equal work."""
    points = [make_point(CPU, 101.6, 1e-4, shape=(64, 256, 64)), make_point(CPU, 203.2, 8e-4, shape=(128, 512, 128))]
    main, second = draw(points)
    wanted = "side of the square product of equal work (log)"
    assert main.layout.xaxis.title.text == second.layout.xaxis.title.text == wanted


def test_the_best_speed_is_a_solid_level() -> None:
    """Of the CPU, without a peak to compare with: no second axis."""
    _, second = draw(cpu_points())
    (level,) = second.layout.shapes
    assert (level.y0, level.line.dash) == (level.y1, "solid")
    assert level.y0 == pytest.approx(max(p.rate_flops or 0 for p in cpu_points()))
    assert "yaxis2" not in second.layout.to_plotly_json()


def test_a_known_peak_is_dashed_with_an_axis_in_percent_of_it() -> None:
    """100 % on the right stands at the peak on the left."""
    _, second = draw(PAGES["CPU and GPU"])
    best, peak = second.layout.shapes
    assert (best.line.dash, peak.line.dash, peak.y0) == ("solid", "longdash", 19.5e12)
    assert texts(second)[-2:][::-1] == ["dashed: reference peak 19.5 TFLOP/s", "best here: 76.3 % of it"]
    left, right = second.layout.yaxis.range, second.layout.yaxis2.range
    assert 10 ** (right[0] - left[0]) == pytest.approx(100 / 19.5e12)
    assert [text.replace(NBSP, " ") for text in second.layout.yaxis2.ticktext][-1] == "100 %<br>of peak"


def test_an_unknown_part_has_no_axis_of_percents() -> None:
    """Its peak is not guessed."""
    points = [*cpu_points(), *cubic(GPU_CALL, 15e12, 10e-6, device_name="Mystery GPU")]
    _, second = draw(points)
    assert "yaxis2" not in second.layout.to_plotly_json()
    assert not any("reference peak" in text for text in texts(second))


def test_no_text_leaves_a_narrow_chart() -> None:
    """Names have a margin that holds them, or stand left of their end; titles break in time."""
    for figure in draw(PAGES["CPU and GPU"]):
        rows = re.sub("<(?!br)[^>]+>", "", figure.layout.title.text).split("<br>")
        assert max(len(row) for row in rows) <= 40
        names = [words for words in figure.layout.annotations if words.text.startswith("<b>")]
        for words in names:
            if words.xanchor == "left":
                assert figure.layout.margin.r >= 7 * len(words.text.removeprefix("<b>").removesuffix("</b>"))


def test_figures_are_small_and_drawn_as_svg() -> None:
    """The page has several, and each visitor receives them anew while a job runs."""
    for figure in draw(PAGES["CPU and GPU"]):
        assert {trace.type for trace in figure.data} == {"scatter"}
        assert len(figure.to_json()) < 60_000


def test_both_charts_have_a_text_alternative() -> None:
    """Kind of chart, axes and finding."""
    findings = make_findings(make_series(CPU))
    claim = f"The CPU reaches 100{NBSP}GFLOP/s on two threads at n{NBSP}={NBSP}1,024."
    assert describe_main(findings) == f"Line chart, both axes logarithmic: time for one product against size. {claim}"
    assert describe_second(findings) == f"Line chart, both axes logarithmic: speed against size. {claim}"
