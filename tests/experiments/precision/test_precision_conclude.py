"""What the points of a precision sweep say, per device and format."""

import json

import pytest
from precision_made import (
    CPU_RATES,
    GPU,
    GPU_RATES,
    USUAL_SUMS,
    cpu_points,
    failed,
    gpu_points,
    make_formats,
    make_point,
    make_steps,
    make_subnormal,
    make_sums,
    published_points,
)

from gpuexplain.experiments.precision.conclude import find_precision_findings, findings_json, flag_points
from gpuexplain.experiments.precision.found import DeviceFindings
from gpuexplain.experiments.precision.spec import STEP_AUTOCAST, Inputs, note_of
from gpuexplain.findings import LostUpdates, NotFound, PrecisionRanking, Speedup, SpeedVerdict, TradeOff
from gpuexplain.model import Conditions, Dtype, Flag, Gauges, Point, Source, Status


def find(points: list[Point]) -> DeviceFindings:
    """Return what the first device says."""
    device = find_precision_findings(points).headline
    assert device is not None
    return device


def speedup(device: DeviceFindings, dtype: str) -> Speedup:
    """Return a speed-up that must be there."""
    found = device.of(dtype)
    assert found is not None
    assert isinstance(found.speedup, Speedup)
    return found.speedup


def ranking(device: DeviceFindings) -> PrecisionRanking:
    """Return a ranking that must be there."""
    assert isinstance(device.ranking, PrecisionRanking)
    return device.ranking


def test_nothing_says_nothing() -> None:
    """No points, no devices."""
    findings = find_precision_findings([])
    assert (findings.devices, findings.headline) == ((), None)
    assert isinstance(findings.noise, NotFound)


def test_points_of_another_kind_are_ignored() -> None:
    """A series that this release does not know."""
    stranger = make_point("fp32", 64, 1.0).model_copy(update={"series": "fp4"})
    assert find_precision_findings([stranger]).devices == ()


# -- devices ------------------------------------------------------------------------------------


def test_devices_are_kept_apart_and_what_is_measured_here_leads() -> None:
    """Published first in the list, measured first in the findings; the GPU before the CPU."""
    findings = find_precision_findings([*published_points(), *cpu_points(), *gpu_points()])
    assert [(d.device, d.source) for d in findings.devices] == [
        (GPU, Source.MEASURED),
        ("cpu", Source.MEASURED),
        ("published:RTX 4090", Source.PUBLISHED),
    ]


def test_a_gpu_on_which_few_bits_pay() -> None:
    """bf16 and fp16 share the first rank under the bound; int8 is faster and too coarse."""
    device = find(gpu_points())
    assert ranking(device).ranking == (("int8",), ("bf16", "fp16"), ("tf32",), ("fp32",), ("fp64",))
    assert isinstance(device.trade_off, TradeOff)
    assert device.trade_off.dtypes == ("bf16", "fp16")
    assert device.trade_off.front == ("fp64", "fp32", "fp16", "int8")
    assert speedup(device, "bf16").factor == pytest.approx(250 / 18)
    assert speedup(device, "bf16").verdict is SpeedVerdict.FASTER
    assert not device.is_provisional


def test_a_cpu_without_units_for_few_bits() -> None:
    """fp32 is best, 16 bits are slow and marked as emulated by its own list of units."""
    device = find(cpu_points())
    assert isinstance(device.trade_off, TradeOff)
    assert device.trade_off.dtypes == ("fp32",)
    assert (ranking(device).slow_16bit, ranking(device).emulated) == (("bf16", "fp16"), ("bf16", "fp16", "fp8"))
    assert speedup(device, "bf16").verdict is SpeedVerdict.SLOWER
    found = device.of("bf16")
    assert found is not None
    assert found.emulated_reason.startswith("this CPU has no units for it")


def test_a_part_known_to_lack_a_format_emulates_it() -> None:
    """Without a flag, from the table."""
    device = find(gpu_points(device_name="Tesla T4"))
    found = device.of("bf16")
    assert found is not None
    assert found.emulated_reason == "the part is known to have no units for it"


# -- what ran -----------------------------------------------------------------------------------


def fallback(series: str, ran_as: str, rate: float, error: float, **changes: object) -> list[Point]:
    """Return a format that ran as another one, as the sweep marks it."""
    told = {"reason": f"ran as {ran_as}, by its error", "flags": (Flag.FALLBACK,), "rel_error": error}
    return make_formats({series: rate}, **{**told, **changes})


def test_tf32_that_ran_as_fp32_is_no_gain() -> None:
    """It is named, ranked as it stands, and left out of the trade-off and the front."""
    device = find([*cpu_points(), *fallback("tf32", "fp32", 0.2, 3e-7)])
    found = device.of("tf32")
    assert found is not None
    assert found.ran_as == "fp32"
    assert ranking(device).fallback == {"tf32": "fp32"}
    assert isinstance(device.trade_off, TradeOff)
    assert device.trade_off.dtypes == ("fp32",)
    assert "tf32" not in device.trade_off.front


def test_an_fp32_that_ran_as_tf32_is_nothing_to_compare_with() -> None:
    """A variable of the environment forced it."""
    points = [*make_formats({"bf16": 250.0}, device=GPU), *fallback("fp32", "tf32", 120.0, 3e-4, device=GPU)]
    device = find(points)
    found = device.of("bf16")
    assert found is not None
    assert found.speedup == NotFound("speed-up", "fp32 ran in another precision, so there is nothing to compare with")


def test_tf32_by_its_error_is_itself() -> None:
    """An error of 3e-4 is no fallback."""
    found = find(gpu_points()).of("tf32")
    assert found is not None
    assert found.ran_as == ""


# -- intervals and disturbance --------------------------------------------------------------------


def test_too_wide_intervals_tell_nothing() -> None:
    """40 % faster by the median, with intervals of a third."""
    wide = [p.model_copy(update={"ci_low_s": 0.7 * p.median_s, "ci_high_s": 1.4 * p.median_s})
            for p in make_formats({"fp32": 10.0, "bf16": 14.0}, device=GPU)]  # fmt: skip
    device = find(wide)
    assert speedup(device, "bf16").verdict is SpeedVerdict.TIE
    assert isinstance(device.trade_off, TradeOff)
    assert device.trade_off.dtypes == ("bf16", "fp32")


def few(points: list[Point], *flags: Flag) -> list[Point]:
    """Return points of three samples each: extremes, no interval."""
    only = {"ci_low_s": None, "ci_high_s": None, "n_samples": 3, "first_call_s": None, "flags": flags}
    only["conditions"] = Conditions()  # watched, and nothing was the matter
    return [
        p.model_copy(update={**only, "min_s": 0.9 * p.median_s, "max_s": 1.2 * p.median_s}) if p.median_s else p
        for p in points
    ]


def test_extremes_decide_where_there_is_no_interval_but_are_none() -> None:
    """Thirteen times as fast leaves no doubt; 1.2 times does."""
    device = find(few(gpu_points()))
    assert (speedup(device, "bf16").verdict, speedup(device, "bf16").low) == (SpeedVerdict.FASTER, None)
    close = find(few(make_formats({"fp32": 10.0, "bf16": 12.0}, device=GPU)))
    assert speedup(close, "bf16").verdict is SpeedVerdict.TIE


def test_before_the_machine_was_watched_a_handful_of_calls_decides_nothing() -> None:
    """The first second of a run: nobody knows yet who else is at work."""
    early = [p.model_copy(update={"conditions": None}) for p in few(gpu_points())]
    assert speedup(find(early), "bf16").verdict is SpeedVerdict.TIE


def test_a_single_sample_is_doubted_by_its_warm_up() -> None:
    """The one sample was fast, the calls before it were not."""
    lucky = make_point("bf16", 1024, 100.0, device=GPU)
    calls = {"ci_low_s": None, "ci_high_s": None, "n_samples": 1, "min_s": lucky.median_s, "max_s": lucky.median_s}
    lucky = lucky.model_copy(update={**calls, "warmup_s": (20 * (lucky.median_s or 0), 15 * (lucky.median_s or 0))})
    device = find([*make_formats({"fp32": 10.0}, (1024,), device=GPU), lucky])
    assert (speedup(device, "bf16").factor, speedup(device, "bf16").verdict) == (pytest.approx(10), SpeedVerdict.TIE)


def test_on_a_busy_machine_a_handful_of_calls_decides_nothing() -> None:
    """They can all have waited for somebody else; six and more can be believed, provisionally."""
    busy = find(few(gpu_points(), Flag.UNDER_LOAD))
    assert (speedup(busy, "bf16").verdict, busy.is_provisional) == (SpeedVerdict.TIE, True)
    sampled = find(gpu_points(flags=(Flag.UNDER_LOAD,)))
    assert (speedup(sampled, "bf16").verdict, sampled.is_provisional) == (SpeedVerdict.FASTER, True)


def test_a_clean_size_is_compared_before_a_disturbed_one() -> None:
    """2,048 was disturbed in bf16; both have a clean 1,024."""
    points = [
        *make_formats({"fp32": 10.0}, device=GPU),
        make_point("bf16", 1024, 20.0, device=GPU),
        make_point("bf16", 2048, 90.0, device=GPU, flags=(Flag.THROTTLED,)),
    ]
    device = find(points)
    assert (speedup(device, "bf16").n, device.is_provisional) == (1024.0, False)


def test_disturbed_sizes_are_compared_where_no_clean_one_is_common() -> None:
    """fp32 is clean at 2,048 only, bf16 ended before: better an answer that says so than none."""
    points = [
        make_point("fp32", 1024, 10.0, device=GPU, flags=(Flag.UNDER_LOAD,)),
        make_point("fp32", 2048, 10.0, device=GPU),
        make_point("bf16", 1024, 20.0, device=GPU, flags=(Flag.UNDER_LOAD,)),
    ]
    device = find(points)
    assert (speedup(device, "bf16").n, device.is_provisional) == (1024.0, True)


def test_a_withheld_ranking_withholds_the_recommendation() -> None:
    """A GPU whose fp16 loses 40 % towards large sizes."""
    points = [*gpu_points(), make_point("fp16", 4096, 140.0, device=GPU)]
    device = find(points)
    assert (ranking(device).withheld, ranking(device).ranking) == (True, None)
    assert isinstance(device.trade_off, NotFound)


def test_a_rate_above_the_part_is_withheld() -> None:
    """600 TFLOP/s of bf16 on a card of 312."""
    points = make_formats({"fp32": 18.0, "bf16": 600.0}, device=GPU)
    findings = find_precision_findings(points)
    found = findings.headline.of("bf16") if findings.headline else None
    assert found is not None
    assert found.is_withheld
    flagged = flag_points(points, findings)
    assert [(p.series, p.x) for p in flagged if Flag.ABOVE_PEAK in p.flags] == [("bf16", found.best.n)]


def test_a_suspect_size_is_flagged_in_its_own_format_and_origin() -> None:
    """1,024 took longer than 2,048 and 4,096."""
    slow = [make_point("bf16", side, rate, device=GPU) for side, rate in ((1024, 0.1), (2048, 200.0), (4096, 200.0))]
    points = [*make_formats({"fp32": 18.0}, device=GPU), *slow, *published_points()]
    flagged = flag_points(points, find_precision_findings(points))
    assert [(p.device, p.series, p.x) for p in flagged if p.flags] == [(GPU, "bf16", 1024.0)]


# -- what did not run -----------------------------------------------------------------------------


def test_a_format_that_failed_keeps_its_reason() -> None:
    """It has no best and no speed-up; the others stand."""
    device = find([*gpu_points(), failed("fp8", Status.UNSUPPORTED, "too old", device=GPU)])
    found = device.of("fp8")
    assert found is not None
    assert (found.best, found.failed) == (None, ((1024.0, Status.UNSUPPORTED, "too old"),))
    assert isinstance(found.speedup, NotFound)
    assert isinstance(device.trade_off, TradeOff)


def test_overflow_is_counted_as_a_share_of_the_operands() -> None:
    """A tenth of the values of both operands, of the largest size checked."""
    gauges = Gauges(clipped_count=int(0.1 * 2 * 1024**2), zeroed_count=0)
    overflow = failed("fp16", Status.FAILED, "NaN", nan_count=7, inf_count=2, gauges=gauges)
    found = find([*cpu_points(), overflow]).of("fp16")
    assert found is not None
    assert (found.nan_count, found.inf_count) == (7, 2)
    # The points of 2,048 of the made CPU are the largest checked.
    assert found.clipped_share == 0.0
    alone = find([overflow]).of("fp16")
    assert alone is not None
    assert alone.clipped_share == pytest.approx(0.1)


def test_only_failures_rank_nothing() -> None:
    """And recommend nothing."""
    device = find([failed("fp32", Status.OOM, "full"), failed("bf16", Status.OOM, "full")])
    assert device.ranking == NotFound("ranking", "no format has a trustworthy point")
    assert isinstance(device.trade_off, NotFound)


# -- the training step, sums, subnormals, energy ---------------------------------------------------


@pytest.mark.parametrize(
    ("factor", "spread", "verdict"),
    [(1.8, 0.01, SpeedVerdict.FASTER), (0.04, 0.01, SpeedVerdict.SLOWER), (1.3, 0.2, SpeedVerdict.TIE)],
    ids=["holds", "does not", "too noisy"],
)
def test_autocast_gains_where_its_interval_does(factor: float, spread: float, verdict: SpeedVerdict) -> None:
    """A training step against the same in fp32."""
    device = find([*gpu_points(), *make_steps(factor, spread=spread, device=GPU)])
    assert isinstance(device.autocast, Speedup)
    assert (device.autocast.verdict, device.autocast.n) == (verdict, 256.0)
    assert device.autocast.factor == pytest.approx(factor)
    assert (device.autocast_error, device.autocast_dtype) == (4e-3, Dtype.BF16)


def test_without_a_training_step_autocast_is_not_found() -> None:
    """Nor where one of the two is missing."""
    assert find(gpu_points()).autocast == NotFound("speed-up", "autocast and fp32 were not measured")
    only = [p for p in make_steps(2.0, device=GPU) if p.series == STEP_AUTOCAST]
    assert find([*gpu_points(), *only]).autocast == NotFound("speed-up", "fp32 was not measured")


def test_lost_updates_are_told_per_format() -> None:
    """And for bf16 numbers in an fp32 sum."""
    device = find([*cpu_points()])
    assert [(found.dtype, found.lost_from) for found in device.lost] == [("fp32", None), ("fp16", 4096), ("bf16", 4096)]
    assert isinstance(device.lost_in_fp32, LostUpdates)
    assert device.lost_in_fp32.lost_from is None
    assert find(gpu_points()).lost == ()


@pytest.mark.parametrize("flushed", [True, False])
def test_the_fate_of_a_subnormal_is_read_off_its_error(flushed: bool) -> None:
    """All of it lost, or nothing."""
    device = find([*gpu_points(), make_subnormal(flushed, device=GPU)])
    assert device.flushes_subnormals is flushed
    assert find(gpu_points()).flushes_subnormals is None


def test_energy_is_per_operation_at_the_largest_size_read() -> None:
    """Joules of one call over its operations; the reason where there is none."""
    joules = 1e-12 * 2 * 2048**3
    points = [
        make_point("fp32", 1024, 18.0, device=GPU, gauges=Gauges(clipped_count=0)),
        make_point("fp32", 2048, 18.0, device=GPU, gauges=Gauges(clipped_count=0, energy_j=joules)),
        make_point("bf16", 2048, 18.0, device=GPU, gauges=Gauges(not_reported={"energy_j": "no counter"})),
    ]
    device = find(points)
    found = {f.dtype: (f.energy_j_per_flop, f.energy_reason) for f in device.formats}
    assert found == {Dtype.FP32: (pytest.approx(1e-12), ""), Dtype.BF16: (None, "no counter")}


def test_inputs_and_overrides_are_read_off_the_points() -> None:
    """The findings know what was multiplied."""
    timing = f"a clock; {note_of(Inputs.BADLY_SCALED, ['NVIDIA_TF32_OVERRIDE=1'])}"
    device = find(gpu_points(timing=timing))
    assert (device.inputs, device.overrides) == (Inputs.BADLY_SCALED, ("NVIDIA_TF32_OVERRIDE=1",))
    assert (find(published_points()).inputs, find(published_points()).overrides) == (None, ())


# -- names for others -----------------------------------------------------------------------------


def test_findings_are_published_under_their_names() -> None:
    """The ranking of the headline's device at the top, then the rest, as plain JSON."""
    points = [*gpu_points(), *make_steps(1.8, device=GPU), *published_points()]
    told = json.loads(json.dumps(findings_json(find_precision_findings(points)), allow_nan=False))
    assert told["best_tflops_by_dtype"] == pytest.approx(GPU_RATES)
    assert (told["slow_16bit"], told["emulated"], told["fallback"], told["withheld"]) == ([], [], {}, False)
    assert told["ranking"] == [["int8"], ["bf16", "fp16"], ["tf32"], ["fp32"], ["fp64"]]
    assert told["headline_device"] == GPU
    assert told["trade_off"]["dtypes"] == ["bf16", "fp16"]
    assert told["speedup_over_fp32"]["bf16"]["verdict"] == "faster"
    assert told["autocast"]["factor"] == pytest.approx(1.8)
    assert set(told["devices"]) == {GPU, "published:RTX 4090 (published)"}


@pytest.mark.parametrize(
    "points", [[], [failed("fp32", Status.FAILED, "wrong")], list(USUAL_SUMS), make_sums(sum_fp32=(0.0, 0.0, 0.0))],
    ids=["none", "failed", "sums only", "one sum"],
)  # fmt: skip
def test_findings_without_a_result_are_json_too(points: list[Point]) -> None:
    """Nothing is made up."""
    told = findings_json(find_precision_findings(points))
    assert told.get("best_tflops_by_dtype") is None
    json.dumps(told, allow_nan=False)


def test_cpu_rates_of_the_made_points_are_those_of_the_findings() -> None:
    """The names hold for a CPU, too."""
    told = findings_json(find_precision_findings(cpu_points()))
    assert told["best_tflops_by_dtype"] == pytest.approx(CPU_RATES)
    assert told["slow_16bit"] == ["bf16", "fp16"]
