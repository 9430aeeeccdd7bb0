"""The charts of the transfer page, by traces, titles, levels and words."""

import math
import re

import plotly.graph_objects as go
import pytest
from transfer_made import (
    KIB,
    MIB,
    copies,
    link_points,
    make_point,
    memory_points,
    product,
    published_points,
    recorded,
)

from gpuexplain.charts.theme import ENTITY_STYLES, Entity, Theme
from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.chart import FIT_NAME, HINT, describe_main, draw_main
from gpuexplain.experiments.transfer.claims import claim_main, claim_second
from gpuexplain.experiments.transfer.conclude import find_transfer_findings, flag_points
from gpuexplain.experiments.transfer.second_chart import describe_second, draw_second
from gpuexplain.experiments.transfer.words import tell
from gpuexplain.model import Point, Source, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.markup import plain


def draw(points: list[Point], theme: Theme = "light") -> tuple[go.Figure, go.Figure]:
    """Return both figures of the points, flagged as the page flags them."""
    findings = find_transfer_findings(points)
    flagged = flag_points(points, findings)
    return draw_main(flagged, findings, theme), draw_second(flagged, findings, theme)


def title(figure: go.Figure) -> str:
    """Return the title as a reader sees it."""
    return re.sub("<[^>]+>", "", figure.layout.title.text.replace("<br>", " "))


def texts(figure: go.Figure) -> list[str]:
    """Return what is written in a figure, without tags, with ordinary spaces."""
    found = [re.sub("<[^>]+>", "", a.text.replace("<br>", " ")) for a in figure.layout.annotations]
    return [text.replace(NBSP, " ") for text in found]


def lines(figure: go.Figure) -> list[str]:
    """Return the names of the lines, without bands, crosses and the fitted curve."""
    return [trace.name for trace in figure.data if trace.mode == "lines+markers"]


def levels(figure: go.Figure) -> list[float]:
    """Return the heights of the horizontal lines."""
    return [shape.y0 for shape in figure.layout.shapes if shape.type == "line" and shape.y0 == shape.y1]


SLOW_GPU = [
    *[p for p in link_points() if p.series != spec.GPU_PRODUCT],
    product(spec.GPU_PRODUCT, 14.5e-3, noise=0.001),
]
PAGES = {
    "memory": memory_points(),
    "memory and published": [*memory_points(), *published_points()],
    "link": link_points(),
    "published": published_points(),
    "one point": [make_point(spec.H2D_PINNED, MIB, 1e-4)],
    "no break-even": [p for p in link_points() if p.series not in spec.PRODUCTS],
    "file": [p.model_copy(update={"device": "file:mine.csv", "device_name": "mine.csv"})
             for p in recorded(copies(spec.FILE_COPY, 8e-6, 25e9), "mine.csv")],
}  # fmt: skip


@pytest.mark.parametrize("points", PAGES.values(), ids=list(PAGES))
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_title_is_the_finding(points: list[Point], theme: Theme) -> None:
    """The same words as the claim; axes say that they are logarithmic."""
    findings = find_transfer_findings(points)
    main, second = draw(points, theme)
    assert (title(main), title(second)) == (plain(claim_main(findings)), plain(claim_second(findings)))
    assert main.layout.xaxis.title.text == "bytes of one copy (log)"
    assert main.layout.yaxis.title.text == "copied bytes per second (log)"
    for figure in (main, second):
        assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")


def test_the_answer_says_what_the_title_says() -> None:
    """Chart and words cannot disagree."""
    for points in (PAGES["link"], PAGES["memory"]):
        findings = find_transfer_findings(points)
        assert plain(claim_main(findings))[1:] in plain(tell(findings).answer)


def test_with_nothing_measured_the_charts_say_what_to_do() -> None:
    """Friendly empty charts."""
    for figure in draw([]):
        assert (title(figure), texts(figure)) == ("Nothing is measured yet", [HINT])


# -- speed --------------------------------------------------------------------------------------------


def test_both_directions_and_kinds_of_memory_are_lines_of_their_own() -> None:
    """Named at their ends, told apart by dash and marker, not by colour alone."""
    main, _ = draw(PAGES["link"])
    drawn = [trace for trace in main.data if trace.mode == "lines+markers"]
    assert set(lines(main)) == {
        "pinned, to the GPU", "pinned, from the GPU", "pageable, to the GPU", "pageable, from the GPU",
        "pinned first, then to the GPU", "pinned, to the GPU, device time",
    }  # fmt: skip
    assert len({(trace.line.dash, trace.marker.symbol) for trace in drawn}) == 6
    names = [text for text in texts(main) if text.startswith(("pin", "pageable", "device"))]
    assert sorted(names) == [
        "device time", "pageable from GPU", "pageable to GPU", "pin, then copy", "pinned from GPU", "pinned to GPU",
    ]  # fmt: skip


def test_a_memory_copy_has_no_hue_and_no_level_of_a_transfer() -> None:
    """CPU and overhead only; no link, no memory of a GPU."""
    main, _ = draw(PAGES["memory"])
    hues = {trace.line.color for trace in main.data if trace.mode == "lines+markers"}
    assert hues == {ENTITY_STYLES[Entity.CPU].light, ENTITY_STYLES[Entity.OVERHEAD].light}
    assert set(lines(main)) == {"memory copy", "memory copy to new memory"}
    assert levels(main) == []
    assert not any("PCIe" in text or "GPU memory" in text for text in texts(main))


def test_a_published_link_beside_it_is_faint_and_named_by_its_kind() -> None:
    """Drawn from the smallest size measured here on, so that it does not push that aside."""
    main, _ = draw(PAGES["memory and published"])
    ghosts = [trace for trace in main.data if trace.mode == "lines+markers" and trace.line.dash == "dot"]
    ghosts = [trace for trace in ghosts if trace.name in ("pinned, to the GPU", "pageable, to the GPU")]
    assert {min(trace.x) for trace in ghosts} == {1024.0}
    assert {"pinned published", "pageable published"} <= set(texts(main))
    assert all("rgba" in trace.line.color for trace in ghosts)
    alone, _ = draw(PAGES["published"])
    assert min(min(trace.x) for trace in alone.data) == 1.0


def test_the_fitted_curve_is_theory_and_says_its_line() -> None:
    """Latency + bytes / rate from the smallest to the largest size of the leading series."""
    main, _ = draw(PAGES["link"])
    (curve,) = [trace for trace in main.data if trace.name == FIT_NAME]
    assert curve.line.color == ENTITY_STYLES[Entity.THEORY].light
    assert (curve.x[0], curve.x[-1]) == (pytest.approx(KIB), pytest.approx(256 * MIB))
    for size, rate in zip(curve.x, curve.y, strict=True):
        assert rate == pytest.approx(size / (8e-6 + size / 25e9), rel=0.01)
    assert "dashed: 8.00 µs + bytes / 25.0 GB/s" in texts(main)


def test_n_half_is_marked_where_half_of_the_rate_is_reached() -> None:
    """8 µs at 25 GB/s: 195 KiB."""
    main, _ = draw(PAGES["link"])
    (mark,) = [shape for shape in main.layout.shapes if shape.type == "line" and shape.x0 == shape.x1]
    assert mark.x0 == pytest.approx(200_000)
    assert "half speed at 195 KiB" in texts(main)


def test_without_a_line_nothing_is_fitted() -> None:
    """A copy that leaves a cache is not affine."""
    rates = {MIB: 60e9, 4 * MIB: 30e9, 16 * MIB: 9e9, 64 * MIB: 6e9}
    main, _ = draw([make_point(spec.MEMORY_COPY, size, size / rate) for size, rate in rates.items()])
    assert FIT_NAME not in [trace.name for trace in main.data]
    assert not any("dashed" in text or "half speed" in text for text in texts(main))
    assert main.layout.shapes == ()


def test_the_link_is_a_band_and_device_memory_a_line_far_above() -> None:
    """Typical to theoretical; the data sheet's bandwidth."""
    main, _ = draw(PAGES["link"])
    (band,) = [shape for shape in main.layout.shapes if shape.type == "rect"]
    assert (band.y0, band.y1) == (26.0e9, 31.51e9)
    assert sorted(levels(main)) == [31.51e9, 2039e9]
    assert {"PCIe 4.0 x16 31.5 GB/s", "GPU memory 2.04 TB/s"} <= set(texts(main))
    assert 10 ** main.layout.yaxis.range[1] > 2039e9


def test_a_link_without_a_typical_rate_has_no_band() -> None:
    """Only its rate on paper."""
    points = [
        p.model_copy(update={"conditions": p.conditions.model_copy(update={"pcie_width": 4})})
        for p in copies(spec.H2D_PINNED, 8e-6, 6e9)
        if p.conditions
    ]
    main, _ = draw(points)
    assert [shape for shape in main.layout.shapes if shape.type == "rect"] == []
    assert "PCIe 4.0 x4 7.88 GB/s" in texts(main)


def test_an_unknown_card_has_no_memory_line() -> None:
    """Its bandwidth is not guessed."""
    main, _ = draw([p.model_copy(update={"device_name": "Mystery GPU"}) for p in PAGES["link"]])
    assert not any(text.startswith("GPU memory") for text in texts(main))


def test_a_rate_above_the_link_is_open_and_fits_nothing() -> None:
    """Flagged amber; no curve, no title with its number."""
    points = copies(spec.H2D_PINNED, 8e-6, 60e9)
    main, _ = draw(points)
    assert title(main) == "Pinned memory has no rate to show"
    assert FIT_NAME not in [trace.name for trace in main.data]
    (line,) = [trace for trace in main.data if trace.mode == "lines+markers"]
    assert ENTITY_STYLES[Entity.WARNING].light in line.marker.line.color


def test_sizes_are_written_in_binary_units() -> None:
    """Number over unit, so that they fit a phone."""
    main, _ = draw(PAGES["link"])
    assert list(main.layout.xaxis.ticktext) == ["4<br>KiB", "64<br>KiB", "1<br>MiB", "16<br>MiB", "256<br>MiB"]
    assert list(main.layout.xaxis.tickvals) == [4 * KIB, 64 * KIB, MIB, 16 * MIB, 256 * MIB]


def test_a_hover_says_size_and_how_cold_it_was() -> None:
    """What kept the caches out of it."""
    main, _ = draw(PAGES["memory"])
    (line,) = [t for t in main.data if t.mode == "lines+markers" and t.name == "memory copy" and t.line.width > 2]
    assert "1 KiB a copy, cache-warm: 0.25 caches between two uses" in line.hovertext[0].replace(NBSP, " ")
    assert "16 MiB a copy, cache-cold: 2 caches between two uses" in line.hovertext[7].replace(NBSP, " ")
    assert "GB/s" in line.hovertext[7]


def test_cases_without_a_time_are_crosses_with_their_reason() -> None:
    """Pinned memory that cannot be had."""
    failed = [make_point(spec.H2D_PINNED, x, None, status=Status.UNSUPPORTED, reason="cannot pin") for x in (KIB, MIB)]
    main, _ = draw([*[p for p in link_points() if p.series != spec.H2D_PINNED], *failed])
    cross = main.data[-1]
    assert (cross.name, list(cross.x)) == ("not measured, pinned, to the GPU", [KIB, MIB])
    assert "not supported: cannot pin" in cross.hovertext[0]


# -- break-even, pieces, times --------------------------------------------------------------------------


def test_break_even_is_two_lines_of_total_time() -> None:
    """Products on the CPU, and copies once plus products on the GPU."""
    _, second = draw(SLOW_GPU)
    assert lines(second) == ["CPU", "GPU with its copies"]
    cpu, gpu = second.data
    assert list(cpu.x) == list(gpu.x)
    assert cpu.y[0] == pytest.approx(15e-3)
    assert gpu.y[0] == pytest.approx(1.3e-3 + 14.5e-3)
    assert gpu.y[3] == pytest.approx(1.3e-3 + 8 * 14.5e-3)
    assert "computed from times measured in this run" in cpu.hovertext[0]
    assert second.layout.xaxis.title.text == "products with the same operands (log)"


def test_the_break_even_is_shaded_between_its_bounds() -> None:
    """With its number above the plot."""
    findings = find_transfer_findings(SLOW_GPU)
    _, second = draw(SLOW_GPU)
    found = findings.break_even
    (shade,) = [shape for shape in second.layout.shapes if shape.type == "rect"]
    assert (shade.x0, shade.x1) == (found.reuses_low, found.reuses_high)  # type: ignore[union-attr]
    assert any(text.startswith("paid for after three products") for text in texts(second))
    assert "from three times of this run" in texts(second)
    assert math.log10(found.reuses_high) < second.layout.xaxis.range[1]  # type: ignore[union-attr]


def test_a_gpu_that_pays_at_once_has_nothing_to_shade() -> None:
    """Its line lies below from the first product on."""
    _, second = draw(PAGES["link"])
    assert second.layout.shapes == ()
    assert all(gpu < cpu for cpu, gpu in zip(second.data[0].y, second.data[1].y, strict=True))


def test_without_a_break_even_pieces_are_drawn() -> None:
    """Of every kind of memory, over the size of a piece."""
    _, second = draw(PAGES["no break-even"])
    assert lines(second) == ["pinned, in pieces", "pageable, in pieces"]
    assert second.layout.xaxis.title.text == "bytes of one piece (log)"
    assert second.layout.yaxis.title.text.replace(NBSP, " ") == "time for 64 MiB (log)"


def test_a_computed_copy_stands_beside_the_product_of_this_cpu() -> None:
    """Two levels, the second one called computed."""
    _, second = draw(PAGES["memory and published"])
    assert levels(second) == [pytest.approx(15e-3), pytest.approx(1.15e-3, rel=0.01)]
    assert {"product n = 1,024: 15.0 ms", "its copies, computed: 1.15 ms"} <= set(texts(second))
    _, alone = draw(PAGES["memory"])
    assert levels(alone) == []


def test_a_series_without_pieces_shows_its_times_and_their_floor() -> None:
    """What a copy costs at once."""
    _, second = draw(PAGES["published"])
    assert second.layout.yaxis.title.text == "time of one copy (log)"
    assert levels(second) == [pytest.approx(6.892e-6, rel=0.01)]
    assert "fixed price 6.89 µs" in texts(second)


# -- both -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("points", PAGES.values(), ids=list(PAGES))
def test_no_text_leaves_a_narrow_chart(points: list[Point]) -> None:
    """Names have a margin that holds them; titles break in time; words above and on levels are short."""
    for figure in draw(points):
        rows = re.sub("<(?!br)[^>]+>", "", figure.layout.title.text).split("<br>")
        assert max(len(row) for row in rows) <= 40
        for words in figure.layout.annotations:
            longest = max(len(row) for row in re.sub("</?[bi]>", "", words.text).split("<br>"))
            if (
                words.text.startswith("<b>")
                and words.xanchor == "left"
                and words.x > figure.layout.xaxis.range[1] - 0.5
            ):
                assert figure.layout.margin.r >= 7 * longest
            assert longest <= 40


def test_figures_are_small_and_drawn_as_svg() -> None:
    """The page has several, and each visitor receives them anew while a job runs."""
    for points in PAGES.values():
        for figure in draw(points):
            assert {trace.type for trace in figure.data} <= {"scatter"}
            assert len(figure.to_json()) < 80_000


def test_both_charts_have_a_text_alternative() -> None:
    """Kind of chart, axes and finding."""
    told = {name: find_transfer_findings(points) for name, points in PAGES.items()}
    assert describe_main(told["memory"]).replace(NBSP, " ") == (
        "Line chart, both axes logarithmic: copied bytes per second against the size of one copy. A copy within main "
        "memory, which is no transfer to a GPU, runs at 14.0 GB/s on two threads."
    )
    assert "total time against the number of products" in describe_second(told["link"])
    assert "time of one total against the size of the pieces" in describe_second(told["memory"])
    assert "time of one copy against its size" in describe_second(told["published"])


def test_an_earlier_run_is_faint_behind_a_new_one() -> None:
    """The same series twice."""
    earlier = [p.model_copy(update={"source": Source.RECORDED, "source_note": "earlier run on this machine"})
               for p in copies(spec.MEMORY_COPY, 3e-6, 10e9)]  # fmt: skip
    main, _ = draw([*memory_points(), *earlier])
    assert "earlier" in texts(main)
