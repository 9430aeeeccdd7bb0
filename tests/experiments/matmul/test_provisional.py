"""What is concluded when the machine was never quiet."""

import pytest

from gpuexplain.experiments.matmul.conclude import find_matmul_findings
from gpuexplain.experiments.matmul.words import tell
from gpuexplain.model import Clock, Dtype, Flag, Point


def point(side: int, *flags: Flag) -> Point:
    """Return a CPU point of 100 GFLOP/s."""
    time_s = 2.0 * side**3 / 1e11
    return Point(
        experiment="matmul",
        series="cpu",
        x=side,
        shape=(side, side, side),
        dtype=Dtype.FP32,
        device="cpu",
        device_name="Test CPU",
        clock=Clock.CALL,
        threads=2,
        flags=flags,
        n_samples=7,
        median_s=time_s,
        flops=2.0 * side**3,
    )


@pytest.mark.parametrize("flag", [Flag.UNDER_LOAD, Flag.THROTTLED, Flag.DRIFTING])
def test_a_series_without_a_clean_point_answers_provisionally(flag: Flag) -> None:
    """A laptop that also runs the browser still gets an answer, which says what it is."""
    findings = find_matmul_findings([point(256, flag), point(512, flag)])
    assert findings.series[0].is_provisional
    assert findings.series[0].peak.best_tflops == pytest.approx(0.1)
    assert tell(findings).answer.startswith("On this machine, busy with other work meanwhile, ")


def test_a_disturbed_point_never_stands_beside_a_clean_one() -> None:
    """One clean point is enough: the disturbed ones are no best and no end of a range."""
    findings = find_matmul_findings([point(256), point(512, Flag.UNDER_LOAD)])
    assert not findings.series[0].is_provisional
    assert findings.series[0].peak.best_n == 256


@pytest.mark.parametrize("flag", [Flag.SUSPECT, Flag.ABOVE_PEAK])
def test_a_point_that_betrays_itself_is_never_concluded_from(flag: Flag) -> None:
    """Load does not excuse a time that cannot be."""
    findings = find_matmul_findings([point(256, flag), point(512, flag, Flag.UNDER_LOAD)])
    assert findings.series[0].peak.best_tflops is None
