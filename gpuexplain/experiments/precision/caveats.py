"""What to know before trusting a precision result: what did not run, what is scaled, flags, energy, subnormals."""

from collections import Counter

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.precision.claims import name_device
from gpuexplain.experiments.precision.found import DeviceFindings, FormatFinding, PrecisionFindings
from gpuexplain.experiments.precision.series import join_formats, name_format
from gpuexplain.findings import PrecisionRanking
from gpuexplain.model import Dtype, Flag, Status
from gpuexplain.wording.caveats import tell_failed, tell_flag, tell_noise
from gpuexplain.wording.markup import capitalise, term
from gpuexplain.wording.phrases import say_n, say_sizes

_EIGHT_BIT = frozenset({Dtype.FP8, Dtype.FP8_E5M2, Dtype.INT8})


def list_caveats(findings: PrecisionFindings) -> tuple[str, ...]:
    """Return the caveats, each a sentence or two, without repeats."""
    found: list[str] = []
    for device in findings.devices:
        found.append(tell_withheld_ranking(device))
        found += [tell_withheld(each) for each in device.formats]
        found += tell_missing(device)
        found.append(tell_suspects(device))
        found.append(tell_overrides(device))
        found += tell_flags(device)
        found.append(tell_no_errors(device))
    measured = [device for device in findings.devices if device.is_measured]
    found += [tell_scaling(device) for device in measured]
    found += [tell_subnormals(device) for device in measured]
    found += [tell_no_energy(device) for device in measured]
    found.append(tell_noise(findings.noise))
    return tuple(text for text in dict.fromkeys(found) if text)


def tell_withheld_ranking(device: DeviceFindings) -> str:
    """Return why the formats are not ranked; "" when they are."""
    # Both largest sizes suspect, or a GPU that lost a third of its speed.
    if isinstance(device.ranking, PrecisionRanking) and device.ranking.withheld:
        return f"The formats of {name_device(device)} are not ranked: {device.ranking.withheld_reason}."
    return ""


def tell_withheld(found: FormatFinding) -> str:
    """Return that a speed is not shown because the part cannot do it; "" when it is."""
    # More than 115 % of the reference peak.
    if found.is_withheld:
        return (
            f"The speed of {name_format(found.dtype)} is withheld: it is above what the part can do. Check timing, "
            "dtype or peak."
        )
    return ""


def tell_missing(device: DeviceFindings) -> list[str]:
    """Return which formats have no time at which sizes, those that ended alike in one sentence."""
    alike: dict[tuple[Status, str], list[FormatFinding]] = {}
    for found in device.formats:
        if found.failed:
            _, status, reason = found.failed[0]
            # A skipped size tells its own prediction: they are alike without it.
            alike.setdefault((status, "" if status is Status.SKIPPED else reason), []).append(found)
    return [_tell_skipped(group) if key[0] is Status.SKIPPED else _tell_group(group) for key, group in alike.items()]


def _tell_group(group: list[FormatFinding]) -> str:
    sizes = sorted({x for found in group for x, _, _ in found.failed})
    who = f"a product in {join_formats(tuple(str(found.dtype) for found in group), 'or')}"
    return tell_failed(who, say_sizes(sizes), group[0].failed)


def _tell_skipped(group: list[FormatFinding]) -> str:
    """Return what is too slow for the run, by size, with the prediction of the first one."""
    by_size: dict[float, tuple[str, ...]] = {}
    for found in group:
        size = found.failed[0][0]
        by_size[size] = (*by_size.get(size, ()), str(found.dtype))
    listed = "; ".join(f"{join_formats(names)} at {say_n(size)}" for size, names in sorted(by_size.items()))
    first = next(found for found in group if found.failed[0][0] == min(by_size))
    return f"Too slow for the time of this run: {listed}. In {name_format(first.dtype)}: {first.failed[0][2]}"


def tell_suspects(device: DeviceFindings) -> str:
    """Return which sizes are left out because a larger one was faster."""
    left_out = [f"{name_format(f.dtype)} at {say_sizes(f.suspect_n)}" for f in device.formats if f.suspect_n]
    # At least one size took longer than 1.5 times a larger one.
    if left_out:
        return f"Left out, because the times do not fit those of the other sizes: {'; '.join(left_out)}."
    return ""


def tell_overrides(device: DeviceFindings) -> str:
    """Return which variables overrule the switch between fp32 and tf32; "" where none is set."""
    # Set in the environment of the measuring process.
    if device.overrides:
        return (
            f"Set in the environment and stronger than the program's switch: {', '.join(device.overrides)}. Which "
            "precision ran is told by the error."
        )
    return ""


def tell_flags(device: DeviceFindings) -> list[str]:
    """Return what the flags on a device's points mean, all formats together."""
    counts: Counter[Flag] = Counter()
    for found in device.formats:
        counts.update(dict(found.flagged))
    # Which formats ran as another one is told beside the chart.
    told = [
        tell_flag(name_device(device), flag, counts[flag])
        for flag in Flag
        if counts[flag] and flag is not Flag.FALLBACK
    ]
    return [text for text in told if text]


def tell_no_errors(device: DeviceFindings) -> str:
    """Return that points stand at a usual error because their own is not known; "" where it is."""
    # A published series reports speeds only.
    if any(found.best for found in device.formats) and all(found.rel_error is None for found in device.formats):
        name = capitalise(name_device(device))
        return f"{name} comes with speeds only: its points stand at the usual error of their format."
    return ""


def tell_scaling(device: DeviceFindings) -> str:
    """Return what an 8-bit time leaves out; "" where no 8-bit format was measured."""
    # Rounding and scaling the operands happens before the clock starts.
    if any(found.dtype in _EIGHT_BIT and found.best for found in device.formats):
        return "8-bit operands are scaled and rounded before the clock starts; a program pays for that, too."
    return ""


def tell_subnormals(device: DeviceFindings) -> str:
    """Return what becomes of subnormal numbers, as it was checked; "" where it was not."""
    # The flag is set in the measuring process, because a CPU is 50 to 200 times slower with them.
    if device.flushes_subnormals:
        return f"Checked: {term('subnormal', 'subnormal numbers')} become zero here, so none slows a product down."
    if device.flushes_subnormals is None:
        return ""
    # A GPU keeps them at full speed; a CPU that keeps them may stall.
    slow = "" if device.device != CPU else ", which can slow a CPU down"
    return f"Checked: {term('subnormal', 'subnormal numbers')} are kept here{slow}."


def tell_no_energy(device: DeviceFindings) -> str:
    """Return why no energy is shown; "" where it is, or was not asked for."""
    # One reason is enough: every format has the same counter.
    reason = next((found.energy_reason for found in device.formats if found.energy_reason), "")
    if reason and all(found.energy_j_per_flop is None for found in device.formats):
        return f"Energy is not reported: {reason}."
    return ""
