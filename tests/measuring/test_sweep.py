"""The anytime sweep on a clock that only fake work moves."""

from dataclasses import replace

import pytest
from sweep_fakes import Bench, FakeSession, make_case, steady

from gpuexplain.errors import UnsupportedError
from gpuexplain.measuring.sampling import UNTIMED_CALLS, predict_affine_s
from gpuexplain.measuring.stopwatch import Check, DeviceLostError, LaunchLimitError, OutOfMemoryError
from gpuexplain.model import Case, Flag, Gauges, Point, Status
from gpuexplain.units import format_time

SIZES = (16.0, 32.0, 64.0, 128.0)


def test_a_converging_sweep_ends_early() -> None:
    """Steady cases need seven samples each; the rest of the budget is given back."""
    bench = Bench({x: steady(1e-5, noise=0.001) for x in SIZES})
    outcome = bench.run()
    assert outcome.coverage.wall_s < 1.0
    assert [p.n_samples for p in bench.session.points.values()] == [7, 7, 7, 7]
    assert all(p.flags == () for p in bench.session.points.values())


def test_a_noisy_case_is_returned_and_marked() -> None:
    """What does not converge within the budget is not dropped."""
    bench = Bench({16.0: steady(0.01, noise=0.9), 32.0: steady(0.01, noise=0.001)}, budget_s=3)
    outcome = bench.run()
    noisy, calm = bench.session.points[16.0], bench.session.points[32.0]
    assert Flag.NOT_CONVERGED in noisy.flags
    assert noisy.n_samples > 20
    assert Flag.NOT_CONVERGED not in calm.flags
    assert outcome.coverage.wall_s <= 3


def test_the_cold_call_is_kept_apart() -> None:
    """A first call a thousand times slower is recorded and in no sample."""
    bench = Bench({16.0: lambda call: 1.0 if call == 0 else 1e-3}, budget_s=30)
    bench.run()
    point = bench.session.points[16.0]
    assert point.first_call_s == 1.0
    assert max(point.samples_s) == pytest.approx(1e-3)


def test_a_case_that_gets_slower_is_called_drifting() -> None:
    """First and last third differ: the clock of the device changed during the run."""
    bench = Bench({16.0: lambda call: 0.01 * (1 + 0.02 * call)}, budget_s=6)
    bench.run()
    assert Flag.DRIFTING in bench.session.points[16.0].flags


def test_a_slowing_machine_hits_every_case_alike() -> None:
    """Rounds visit all cases, so equal work stays equal although the machine slows to half."""
    bench = Bench({}, budget_s=20)
    cost = lambda _: 0.01 * (1 + bench.clock.now_s / 20)  # noqa: E731
    bench.costs = dict.fromkeys(SIZES, cost)
    bench.run()
    medians = [p.median_s for p in bench.session.points.values()]
    assert max(m for m in medians if m) / min(m for m in medians if m) < 1.05


def test_the_sweep_ends_within_its_budget_and_one_predicted_call() -> None:
    """Also with a case whose single call is a large share of the budget."""
    costs = {x: steady(1e-9 * x**3, noise=0.5) for x in (128.0, 256.0, 512.0, 1024.0, 2048.0)}
    for budget_s in (1.0, 5.0, 15.0):
        bench = Bench(dict(costs), budget_s=budget_s, prepare_s=0.01)
        coverage = bench.run().coverage
        assert coverage.wall_s <= budget_s + coverage.predicted_call_s


def test_one_slow_case_does_not_starve_the_fast_ones() -> None:
    """A case of 0.5 s takes a fifth of the time at first; the fast ones get the rounds."""
    costs = {x: steady(3e-3, noise=0.9) for x in (16.0, 32.0, 64.0)} | {128.0: steady(0.3, noise=0.9)}
    bench = Bench(costs, budget_s=20, explicit=frozenset({128.0}))
    bench.run()
    slow = bench.session.points[128.0]
    assert sum(slow.samples_s) < 0.45 * 20
    assert min(bench.session.points[x].n_samples for x in (16.0, 32.0, 64.0)) > 200


def test_every_point_exists_after_the_first_visits() -> None:
    """An interrupted sweep still has a whole curve."""
    bench = Bench({x: steady(1e-3, noise=0.5) for x in SIZES}, session=FakeSession(cancel_after_points=4))
    assert bench.run().cancelled
    assert {p.x: p.n_samples for p in bench.session.arrivals[:4]} == dict.fromkeys(SIZES, 1)


def test_cancel_stops_after_the_block_and_keeps_the_points() -> None:
    """Points so far arrive once more with all their samples."""
    bench = Bench({x: steady(0.01, noise=0.5) for x in SIZES}, session=FakeSession(cancel_after_points=6))
    outcome = bench.run()
    assert outcome.cancelled
    assert set(bench.session.points) == set(SIZES)
    assert outcome.coverage.wall_s < 2


def test_a_preset_leaves_out_what_it_cannot_measure_well() -> None:
    """Eight predicted calls of the largest would take more than a fifth of the budget."""
    bench = Bench({x: steady(1e-6 * x**3) for x in (16.0, 32.0, 64.0, 128.0)}, budget_s=10)
    bench.run()
    assert set(bench.session.points) == {16.0, 32.0}


def test_a_named_size_runs_with_few_samples() -> None:
    """A size the visitor chose runs although a preset would not take it."""
    bench = Bench({x: steady(1e-6 * x**3) for x in (16.0, 32.0, 64.0, 128.0)}, budget_s=10, explicit=frozenset({128.0}))
    bench.run()
    point = bench.session.points[128.0]
    assert point.status is Status.OK
    assert Flag.FEW_SAMPLES in point.flags
    assert point.ci_low_s is None
    assert 64.0 not in bench.session.points


def test_a_named_size_that_cannot_fit_is_skipped_with_the_reason() -> None:
    """One call would take longer than all the time."""
    costs = {16.0: steady(1e-3), 1600.0: steady(1e3)}
    bench = Bench(costs, budget_s=10, explicit=frozenset({1600.0}))
    bench.run()
    point = bench.session.points[1600.0]
    assert point.status is Status.SKIPPED
    assert point.reason.startswith("One call would take about 16\u00a0min 40\u00a0s; of 10.0\u00a0s only")
    assert 1600.0 not in bench.stopwatches


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (OutOfMemoryError("needs 9 GiB"), Status.OOM),
        (LaunchLimitError("too many blocks"), Status.LAUNCH_LIMIT),
        (UnsupportedError("no fp16 here"), Status.UNSUPPORTED),
    ],
    ids=["oom", "launch limit", "unsupported"],
)
def test_a_case_that_cannot_run_ends_alone(error: Exception, status: Status) -> None:
    """The others are measured, and its point says why."""
    bench = Bench({x: steady(1e-3) for x in SIZES}, failures={64.0: error})
    bench.run()
    assert bench.session.points[64.0].status is status
    assert bench.session.points[64.0].reason.startswith(str(error))
    assert bench.session.points[32.0].status is Status.OK


def test_a_lost_device_ends_the_sweep() -> None:
    """Its context is poisoned: the process must be replaced."""
    bench = Bench({x: steady(1e-3) for x in SIZES}, failures={64.0: DeviceLostError("illegal access")})
    with pytest.raises(DeviceLostError):
        bench.run()


def test_a_fast_wrong_result_is_a_failed_point() -> None:
    """It keeps its times but cannot become a best."""
    bench = Bench({x: steady(1e-3) for x in SIZES}, checks={32.0: Check(0.9, 0, 0, failure="wrong")})
    bench.run()
    assert (bench.session.points[32.0].status, bench.session.points[32.0].reason) == (Status.FAILED, "wrong")
    assert bench.session.points[64.0].rel_error == 1e-7


def test_another_precision_is_flagged_by_its_error() -> None:
    """An fp32 product with the error of tf32 ran as tf32."""
    bench = Bench({16.0: steady(1e-3)}, checks={16.0: Check(3e-4, 0, 0, ran_as="tf32")})
    bench.run()
    assert Flag.FALLBACK in bench.session.points[16.0].flags
    assert bench.session.points[16.0].reason == "ran as tf32, by its error"


def test_the_sweep_looks_closer_where_the_answer_lies() -> None:
    """Refinement sees the coarse points and its cases are measured and checked, too."""
    seen: list[float] = []

    def refine(points: list[Point], _: list[Case]) -> list[Case]:
        seen.extend(p.x for p in points)
        return [make_case(96.0), make_case(64.0)]

    bench = Bench({x: steady(1e-3, noise=0.001) for x in SIZES}, options={"refine": refine})
    outcome = bench.run(later={96.0: steady(1e-3)})
    assert sorted(seen) == list(SIZES)
    assert bench.session.points[96.0].n_samples == 7
    assert bench.session.points[96.0].rel_error == 1e-7
    assert not outcome.cancelled


def test_blocks_begin_with_untimed_calls() -> None:
    """All samples after the first visit come after calls that refill the caches."""
    bench = Bench({16.0: steady(0.005, noise=0.3)}, budget_s=1)
    bench.run()
    point = bench.session.points[16.0]
    warmup = 1 + len(point.warmup_s)
    assert bench.stopwatches[16.0].n_calls == warmup + 1 + (point.n_samples - 1) * (UNTIMED_CALLS + 1)


def test_most_of_the_time_goes_into_calls() -> None:
    """On the fake clock nothing else costs time, so the ledger must add up."""
    bench = Bench({x: steady(1e-3, noise=0.9) for x in SIZES}, budget_s=5, prepare_s=0.2)
    coverage = bench.run().coverage
    assert coverage.prepare_s == pytest.approx(0.8)
    assert coverage.sampling_share == pytest.approx(1.0)


def test_progress_grows_to_the_end() -> None:
    """The bar never runs backwards."""
    bench = Bench({x: steady(1e-3, noise=0.9) for x in SIZES}, budget_s=5)
    bench.run()
    shares = [p.share for p in bench.session.progresses]
    assert shares == sorted(shares)
    assert shares[-1] > 0.95


def test_a_size_out_of_memory_ends_its_series_and_the_process_goes_on() -> None:
    """Ten sizes, the eighth does not fit: seven points, one oom, and a small size runs again."""
    sizes = [float(2**e) for e in range(10)]
    released: list[Case] = []
    bench = Bench(
        {x: steady(0.001) for x in sizes},
        failures={sizes[7]: OutOfMemoryError("Out of memory.")},
        options={"release": released.append, "say_x": lambda x: f"batch {x:g}"},
    )
    bench.run()
    points = bench.session.points
    assert sorted(points) == sizes[:8]
    assert [points[x].status for x in sizes[:8]] == [Status.OK] * 7 + [Status.OOM]
    assert points[sizes[7]].reason == "Out of memory. Afterwards batch 1 ran again: only this size does not fit."
    assert [case.x for case in released] == [sizes[7]]


def test_an_out_of_memory_that_spoils_the_process_is_told() -> None:
    """The small size fails afterwards: the reason says so."""
    bench = Bench({1.0: steady(0.001), 2.0: steady(0.001)}, failures={2.0: OutOfMemoryError("Out of memory.")})

    def break_it(_: Case) -> None:
        def fail(_: int) -> float:
            raise OutOfMemoryError("Still out of memory.")

        bench.stopwatches[1.0].cost = fail

    bench.options = {"release": break_it, "say_x": lambda x: f"batch {x:g}"}
    bench.run()
    assert bench.session.points[2.0].reason == "Out of memory. Afterwards batch 1 failed too."
    assert bench.session.points[1.0].status is Status.OOM


def test_a_call_over_the_longest_allowed_is_left_out() -> None:
    """A predicted 4 s call is left out of a sweep of at most 2 s a call; a named one says why."""
    costs = {1.0: steady(0.5), 2.0: steady(4.0)}  # 8 times the work
    bench = Bench(costs, budget_s=200.0, options={"most_call_s": 2.0})
    bench.run()
    assert list(bench.session.points) == [1.0]
    named = Bench(costs, budget_s=200.0, explicit=frozenset({2.0}), options={"most_call_s": 2.0})
    named.run()
    assert named.session.points[2.0].reason == f"One call would take about {format_time(4.0)}, over {format_time(2.0)}."


def test_a_copy_is_predicted_by_its_bytes() -> None:
    """A case without operations is sorted and predicted by what it moves."""
    copy = replace(make_case(4), flops=0.0)
    assert copy.work == copy.bytes_moved


def test_gauges_of_the_check_reach_the_point() -> None:
    """Peak memory is read once per case, in its untimed check."""
    gauges = Gauges(memory_resident_bytes=4096)
    bench = Bench({1.0: steady(0.001)}, checks={1.0: Check(1e-7, 0, 0, gauges=gauges)})
    bench.run()
    assert bench.session.points[1.0].gauges == gauges


def test_calls_that_waited_for_others_shut_no_larger_size_out() -> None:
    """Most calls of the smallest size wait 100 ms for a thread, some do not: by those the next size fits."""

    def waiting(call: int) -> float:
        return 1e-4 if call % 4 == 3 else 0.1

    bench = Bench({64: waiting, 128: steady(8e-4), 256: steady(64e-4)}, budget_s=20.0)
    bench.run()
    assert set(bench.session.points) == {64.0, 128.0, 256.0}


def test_an_experiment_may_predict_in_its_own_way() -> None:
    """Eight times the work in the same time: by the line through two smaller sizes the third fits."""
    costs = {1.0: steady(0.4), 2.0: steady(0.4), 4.0: steady(0.4)}
    by_work = Bench(costs, budget_s=20.0, explicit=frozenset({1.0, 2.0}))
    by_work.run()
    assert set(by_work.session.points) == {1.0, 2.0}
    by_line = Bench(costs, budget_s=20.0, explicit=frozenset({1.0, 2.0}), options={"predict": predict_affine_s})
    by_line.run()
    assert set(by_line.session.points) == {1.0, 2.0, 4.0}
