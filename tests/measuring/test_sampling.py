"""The rules of one case."""

import pytest

from gpuexplain.measuring.sampling import (
    BlockPlan,
    fits_explicit,
    fits_preset,
    is_convergence_check,
    plan_block,
    predict_affine_s,
    predict_call_s,
    warmup_is_over,
)


@pytest.mark.parametrize(
    ("call_s", "most_calls", "plan"),
    [
        (1e-6, 100_000, BlockPlan(2, 2000)),
        (1e-6, 256, BlockPlan(2, 256)),
        (1e-6, 1, BlockPlan(2, 1)),
        (0.0015, 100_000, BlockPlan(2, 2)),
        (0.002, 100_000, BlockPlan(2, 1)),
        (0.5, 100_000, BlockPlan(1, 1)),
    ],
    ids=["fills 2 ms", "bounded by the queue", "synchronised", "two calls", "one is enough", "long"],
)
def test_a_block_fills_two_milliseconds(call_s: float, most_calls: int, plan: BlockPlan) -> None:
    """A sample is untimed calls, then as many timed ones as fill the block."""
    assert plan_block(call_s, most_calls) == plan


def test_convergence_is_tested_at_doublings_of_seven() -> None:
    """Testing after every sample would stop at the first lucky streak."""
    assert [n for n in range(1, 120) if is_convergence_check(n)] == [7, 14, 28, 56, 112]


@pytest.mark.parametrize(
    ("calls_s", "is_over"),
    [
        ([1.0, 0.01], False),
        ([1.0, 0.01, 0.01, 0.01], True),
        ([1.0, 0.03, 0.02, 0.01], False),
        ([1.0, *[0.02 * 0.9**i for i in range(10)]], True),
    ],
    ids=["too early", "steady", "still getting faster", "ten calls"],
)
def test_warm_up_ends_when_the_calls_show_no_trend(calls_s: list[float], is_over: bool) -> None:
    """Or at ten calls."""
    assert warmup_is_over(calls_s, budget_s=1000) is is_over


def test_warm_up_ends_before_it_eats_five_percent_of_the_budget() -> None:
    """A second slow call would be too much of 10 s."""
    assert warmup_is_over([0.3, 0.25], budget_s=10)
    assert not warmup_is_over([0.2, 0.1], budget_s=10)
    assert warmup_is_over([0.6], budget_s=10)


def test_cost_is_scaled_from_the_nearest_smaller_case() -> None:
    """The largest known work below is scaled; nothing smaller means nothing predicted."""
    assert predict_call_s(800.0, [(1.0, 5.0), (100.0, 2.0), (1000.0, 9.0)]) == pytest.approx(16.0)
    assert predict_call_s(0.5, [(1.0, 5.0)]) is None


def test_a_preset_takes_sizes_of_which_eight_calls_fit_in_a_fifth() -> None:
    """15 s admit calls up to 0.375 s."""
    assert fits_preset(0.375, 15)
    assert not fits_preset(0.376, 15)
    assert fits_explicit(1.0, 3.0)
    assert not fits_explicit(1.1, 3.0)


@pytest.mark.parametrize(
    ("work", "known", "predicted_s"),
    [
        (2.0, [], None),
        (2.0, [(1.0, 0.3)], 0.6),
        (4.0, [(1.0, 0.30), (2.0, 0.31)], 0.33),
        (4.0, [(1.0, 0.30), (2.0, 0.20)], 0.20),
        (4.0, [(1.0, 0.10), (2.0, 0.20)], 0.40),
        (4.0, [(1.0, 0.01), (2.0, 0.20)], 0.40),
        (4.0, [(1.0, 0.1), (2.0, 0.2), (8.0, 9.0)], 0.40),
    ],
    ids=["nothing known", "one known", "mostly fixed", "noise", "all work", "no steeper than the work", "larger ones"],
)
def test_a_step_with_a_fixed_part_is_predicted_by_a_line(
    work: float, known: list[tuple[float, float]], predicted_s: float | None
) -> None:
    """Between the nearest smaller time and that time scaled by the work."""
    assert predict_affine_s(work, known) == (None if predicted_s is None else pytest.approx(predicted_s))
