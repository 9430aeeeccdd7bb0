"""The finding of each chart as one clause: the chart's title and the words' headline are this text."""

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.precision.found import DeviceFindings, FormatFinding, PrecisionFindings
from gpuexplain.experiments.precision.series import entity_of, join_formats, name_format
from gpuexplain.findings import Speedup, SpeedVerdict, TradeOff
from gpuexplain.model import Dtype
from gpuexplain.units import format_error, format_factor, format_rate_flops
from gpuexplain.wording.markup import capitalise, mark
from gpuexplain.wording.phrases import say_interval, say_n

NOTHING_YET = "Nothing is measured yet"
NOTHING_RAN = "Nothing could be measured"
FP32 = str(Dtype.FP32)


def name_device(device: DeviceFindings) -> str:
    """Return what a sentence calls a device, in its colour: "the GPU" is one that was measured here."""
    entity = entity_of(device.device)
    if device.is_measured:
        return mark(entity, "the CPU" if device.device == CPU else "the GPU")
    return f"a {device.source} {mark(entity, device.device_name or 'GPU')}"


def find_gain(device: DeviceFindings) -> tuple[TradeOff, Speedup] | None:
    """Return the best trade-off and its speed-up, where a format under the error bound is clearly faster than fp32."""
    found = device.trade_off
    if not isinstance(found, TradeOff) or FP32 in found.dtypes:
        return None
    best = device.of(found.dtypes[0])
    if best is None or not isinstance(best.speedup, Speedup) or best.speedup.verdict is not SpeedVerdict.FASTER:
        return None
    return found, best.speedup


def claim_trade_off(device: DeviceFindings) -> str:
    """Return the best trade between speed and exactness, as a clause."""
    name, found = name_device(device), device.trade_off
    gain = find_gain(device)
    # A format under the bound is clearly faster than fp32.
    if gain is not None:
        trade_off, speedup = gain
        interval = say_interval(speedup.factor, speedup.low, speedup.high)
        return (
            f"{name} multiplies {format_factor(speedup.factor)}{interval} as fast in "
            f"{join_formats(trade_off.dtypes, 'or')} as in {name_format(FP32)} at {say_n(speedup.n)}, and errs by "
            f"{_say_errors(device, trade_off)}"
        )
    # fp32 is clearly the fastest of those that are exact enough.
    if isinstance(found, TradeOff) and found.dtypes == (FP32,) and _leads(device, found):
        rate = format_rate_flops(found.best_tflops * 1e12)
        return (
            f"{name} is fastest in {name_format(FP32)}, {rate} at {say_n(found.n)}: no other format that errs by less "
            f"than {format_error(found.error_bound)} keeps up"
        )
    # fp32 and others share the first rank, or the lead is not shown at a common size.
    if isinstance(found, TradeOff) and device.of(FP32) is not None:
        return (
            f"no format that errs by less than {format_error(found.error_bound)} is clearly faster than "
            f"{name_format(FP32)} on {name}"
        )
    # There is no fp32 to compare with.
    if isinstance(found, TradeOff):
        return (
            f"{name} reaches {format_rate_flops(found.best_tflops * 1e12)} in {join_formats(found.dtypes, 'or')} "
            f"and errs by {_say_errors(device, found)}"
        )
    return claim_fastest(device)


def _leads(device: DeviceFindings, trade_off: TradeOff) -> bool:
    """Whether every other format that is exact enough is clearly slower than fp32."""
    errors = {str(found.dtype): found.rel_error for found in device.formats}
    exact = {name for name, error in errors.items() if error is not None and error < trade_off.error_bound}
    rivals = [speedup for speedup in list_speedups(device) if speedup.challenger in exact]
    return all(speedup.verdict is SpeedVerdict.SLOWER for speedup in rivals)


def _say_errors(device: DeviceFindings, trade_off: TradeOff) -> str:
    """Return the error of the formats of a trade-off: one figure, or the smallest to the largest."""
    named = [found for dtype in trade_off.dtypes if (found := device.of(dtype)) is not None]
    errors = sorted(found.rel_error for found in named if found.rel_error is not None) or [trade_off.rel_error]
    least, most = format_error(errors[0]), format_error(errors[-1])
    return least if least == most else f"{least} to {most}"


def claim_fastest(device: DeviceFindings) -> str:
    """Return the fastest format, whatever its error, as a clause."""
    name, first = name_device(device), find_fastest(device)
    # Every format failed or was withheld.
    if first is None or first.best is None:
        return f"{name} has no speed to show"
    rate = format_rate_flops(first.best.rate * 1e12)
    speedup = first.speedup
    # Faster than fp32, as a published series without errors shows it.
    if isinstance(speedup, Speedup) and speedup.verdict is SpeedVerdict.FASTER:
        return (
            f"{name} reaches {rate} in {name_format(first.dtype)}, {format_factor(speedup.factor)} its "
            f"{name_format(FP32)} at {say_n(speedup.n)}"
        )
    return f"{name} is fastest in {name_format(first.dtype)}: {rate} at {say_n(first.best.n)}"


def find_fastest(device: DeviceFindings) -> FormatFinding | None:
    """Return the format of the best rate that may be shown; one that ran as another is not itself."""
    shown = [found for found in device.formats if found.best and not found.is_withheld and not found.ran_as]
    return max(shown, key=lambda found: found.best.rate if found.best else 0.0, default=None)


def claim_main(findings: PrecisionFindings) -> str:
    """Return the finding of the chart of speed against error."""
    device = findings.headline
    # A run starts with what is checked and not timed.
    if device is None or not device.formats:
        return NOTHING_YET
    if not any(found.best for found in device.formats):
        return NOTHING_RAN
    return capitalise(claim_trade_off(device))


def claim_second(findings: PrecisionFindings) -> str:
    """Return the finding of the chart of speed-ups: the largest one over fp32, or that there is none."""
    device = findings.headline
    if device is None or not device.formats:
        return NOTHING_YET
    known = list_speedups(device)
    # No format can be compared with fp32.
    if not known:
        return "No format could be compared with fp32"
    first = max(known, key=lambda s: s.factor)
    # The largest factor is a clear one.
    if first.verdict is SpeedVerdict.FASTER:
        return (
            f"Most speed over {FP32}: {format_factor(first.factor)} in {name_format(first.challenger)} at "
            f"{say_n(first.n)}"
        )
    return capitalise(f"no format is clearly faster than {name_format(FP32)} on {name_device(device)}")


def list_speedups(device: DeviceFindings) -> list[Speedup]:
    """Return how each format compares with fp32, those left out that ran as another."""
    return [f.speedup for f in device.formats if isinstance(f.speedup, Speedup) and not f.ran_as and not f.is_withheld]
