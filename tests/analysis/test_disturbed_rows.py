"""Which rows of a frame may be concluded from when the machine was never quiet."""

import pandas as pd
import pytest

from gpuexplain.analyse import analyse_content
from gpuexplain.findings import BatchKnee, MatmulPeak
from gpuexplain.model import Flag
from gpuexplain.points import least_disturbed_rows


def frame(*flags: str, **more: list[str]) -> pd.DataFrame:
    """Return rows of rising size with these flags."""
    return pd.DataFrame({"n": range(1, len(flags) + 1), "flags": flags, **more})


def test_without_a_quiet_row_the_disturbed_ones_lose_the_flag() -> None:
    """Other flags stay; what was overlooked is returned in the order of the flags."""
    kept, overlooked = least_disturbed_rows(frame("drifting", "under_load few_samples"))
    assert list(kept["flags"]) == ["", "few_samples"]
    assert overlooked == (Flag.UNDER_LOAD, Flag.DRIFTING)


@pytest.mark.parametrize(
    "flags", [("", "under_load"), ("few_samples", "throttled"), ("suspect", "above_peak under_load")]
)
def test_otherwise_the_frame_stays_as_it_is(flags: tuple[str, ...]) -> None:
    """One usable row is enough; a time that betrays itself is never overlooked."""
    given = frame(*flags)
    kept, overlooked = least_disturbed_rows(given)
    assert kept is given
    assert overlooked == ()


def test_each_number_format_is_judged_by_itself() -> None:
    """A quiet fp32 does not take the disturbed bf16 away."""
    kept, _ = least_disturbed_rows(frame("", "under_load", "under_load", dtype=["fp32", "fp32", "bf16"]))
    assert list(kept["flags"]) == ["", "under_load", ""]


def test_a_row_that_did_not_run_is_not_overlooked_into_one() -> None:
    """Its status stands."""
    _, overlooked = least_disturbed_rows(frame("under_load", status=["oom"]))
    assert overlooked == ()


def test_a_frame_without_flags_has_nothing_to_overlook() -> None:
    """The column is optional."""
    assert least_disturbed_rows(pd.DataFrame({"n": [1.0]}))[1] == ()


def test_analyse_answers_from_a_busy_machine() -> None:
    """The figures are there, and a note says what they are worth."""
    content = b"n,tflops,flags\n64,1,under_load\n128,2,under_load\n"
    analysis = analyse_content("matmul", content, "busy.csv")
    assert isinstance(analysis.findings, MatmulPeak)
    assert (analysis.findings.best_tflops, analysis.findings.best_n) == (2, 128)
    assert analysis.notes == ("all points were taken under load: provisional",)


def test_analyse_keeps_a_disturbed_best_out_beside_a_quiet_point() -> None:
    """However fast it was."""
    content = b"batch,throughput,flags\n1,10,\n2,20,\n4,900,under_load\n"
    analysis = analyse_content("batch", content, "mixed.csv")
    assert isinstance(analysis.findings, BatchKnee)
    assert analysis.findings.best_batch == 2
