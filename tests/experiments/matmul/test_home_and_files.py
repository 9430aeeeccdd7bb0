"""What matmul gives to Home, to a guess, and to anybody's file."""

import pytest
from matmul_made import cpu_points, cubic, gpu_points

from gpuexplain.experiments.contract import FileOrigin
from gpuexplain.experiments.matmul.conclude import find_matmul_findings
from gpuexplain.experiments.matmul.experiment import MATMUL
from gpuexplain.experiments.matmul.spec import CPU, GPU_CALL, MatmulParams
from gpuexplain.model import Dtype, Flag, Point, Source, Status
from gpuexplain.store.series_files import read_series
from gpuexplain.units import NBSP


def headline(points: list[Point]) -> tuple[str, str, str, str] | None:
    found = MATMUL.headline(find_matmul_findings(points))
    if found is None:
        return None
    return tuple(text.replace(NBSP, " ") for text in (found.label, found.number, found.interval, found.detail))  # type: ignore[return-value]


def test_home_says_by_how_much_all_threads_win() -> None:
    """The factor at the largest size, with its bounds."""
    assert headline(cpu_points()) == ("All CPU threads over one", "1.90 ×", "1.86 to 1.93", "at n = 1,024")


def test_home_names_the_winner_whoever_it_is() -> None:
    """Threads that stood in each other's way: one is the news, as a number above one."""
    points = [p if p.series == CPU else p.model_copy(update={"median_s": (p.median_s or 0) / 4}) for p in cpu_points()]
    points = [p.model_copy(update={"ci_low_s": p.median_s, "ci_high_s": p.median_s}) for p in points]
    found = headline(points)
    assert found is not None
    assert (found[0], found[1][:4], found[2]) == ("One CPU thread over all", "2.11", "")


def test_home_says_by_how_much_the_gpu_wins() -> None:
    """The call time of the GPU against the CPU with all threads."""
    found = headline([*cpu_points(), *gpu_points()])
    assert found is not None
    assert found[0] == "GPU over CPU"


def test_home_says_the_speed_where_nothing_can_be_compared() -> None:
    """One series alone."""
    assert headline(cubic(CPU, 1e11)) == ("Best speed", "100 GFLOP/s", "", "at n = 64")


def test_home_says_nothing_without_points() -> None:
    """No number is made up."""
    assert headline([]) is None


def test_a_guess_is_compared_with_the_crossover_measured_here() -> None:
    """Not with that of a published part; none where there is none."""
    question = MATMUL.question
    assert question is not None
    found = question.find_answer(find_matmul_findings(cpu_points()))
    assert found is not None
    assert 64 < found <= 256
    assert question.find_answer(find_matmul_findings([])) is None
    assert (question.ask(True), question.say(512).replace(NBSP, " ")) == (
        "From which n will the GPU beat the CPU?",
        "n = 512",
    )


def test_a_file_becomes_recorded_points() -> None:
    """Rates become times; a row without a time keeps its status; the file is named."""
    content = b"n,tflops,tflops_lo,tflops_hi,status,flags\n128,2,1.9,2.1,ok,\n256,4,,,ok,under_load\n512,,,,OOM,\n"
    series = read_series("matmul", content, "mine.csv")
    assert MATMUL.points_of_file is not None
    points = MATMUL.points_of_file(series, FileOrigin("mine.csv", "RTX 4090", Dtype.BF16))
    assert [(p.x, p.status, p.dtype, p.series, p.source, p.source_note) for p in points] == [
        (x, status, Dtype.BF16, GPU_CALL, Source.RECORDED, "mine.csv")
        for x, status in ((128.0, Status.OK), (256.0, Status.OK), (512.0, Status.OOM))
    ]
    assert points[0].rate_flops == pytest.approx(2e12)
    assert points[0].ci_high_s == pytest.approx(2 * 128**3 / 1.9e12)
    assert (points[1].ci_low_s, points[1].flags) == (None, (Flag.UNDER_LOAD,))
    assert (points[2].median_s, points[0].device_name) == (None, "RTX 4090")


def test_published_series_are_found_by_their_key() -> None:
    """Each has points with its source, and the default has the number format asked for."""
    keys = [result.key for result in MATMUL.published()]
    assert len(keys) == len(set(keys)) > 3
    assert all(p.source is Source.PUBLISHED and p.source_note for result in MATMUL.published() for p in result.points)
    default = MATMUL.default_published(MatmulParams(dtype=Dtype.FP16))
    assert default is not None
    assert default.dtype is Dtype.FP16
    assert MATMUL.default_published(MatmulParams(dtype=Dtype.FP64)) is None


def test_the_tour_asks_a_default_question() -> None:
    """Only the effort differs, so the page shows the tour's run without any change of settings."""
    effort = {"preset", "budget_s"}
    assert MATMUL.tour_params is not None
    assert MATMUL.tour_params.model_dump(exclude=effort) == MatmulParams().model_dump(exclude=effort)
