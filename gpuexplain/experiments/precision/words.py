"""What the precision page says, from findings only: the answer, and why it is so."""

from gpuexplain.experiments.contract import Explanation
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.precision.caveats import list_caveats
from gpuexplain.experiments.precision.claims import (
    FP32,
    claim_fastest,
    claim_trade_off,
    find_gain,
    list_speedups,
)
from gpuexplain.experiments.precision.found import DeviceFindings, FormatFinding, PrecisionFindings
from gpuexplain.experiments.precision.series import join_formats, name_format
from gpuexplain.experiments.precision.spec import STEP_LAYERS, Inputs
from gpuexplain.findings import LostUpdates, NotFound, PrecisionRanking, Speedup, SpeedVerdict, TradeOff
from gpuexplain.model import BYTES_PER_VALUE, Dtype
from gpuexplain.units import format_count, format_energy, format_error, format_factor, format_percent
from gpuexplain.wording.caveats import say_here
from gpuexplain.wording.markup import capitalise, term
from gpuexplain.wording.phrases import count_of, join_words, say_interval

# From this share of the operands on, what a format cannot hold is worth a sentence: int8 rounds half a step
# around zero to zero, which is 0.4 % of uniform inputs and costs nothing.
NOTABLE_SHARE = 0.02
ALL_LOST = 0.995
_FP32_BYTES = BYTES_PER_VALUE[Dtype.FP32]


def tell(findings: PrecisionFindings) -> Explanation:
    """Return the words of the page."""
    device = findings.headline
    # Nothing was measured here and nothing published is shown.
    if device is None:
        return Explanation(
            answer="Nothing is measured yet. Press Run: the first points appear within seconds.",
            see="",
            why=_why(None),
            so_what="",
        )
    return Explanation(
        answer=tell_answer(device),
        see=_see(findings, device),
        why=_why(device),
        so_what=tell_advice(device),
        caveats=list_caveats(findings),
    )


# -- the answer ---------------------------------------------------------------------------------


def tell_answer(device: DeviceFindings) -> str:
    """Return the headline: one sentence with its number."""
    # Published or recorded: not about this machine.
    if not device.is_measured:
        return f"{capitalise(claim_trade_off(device))}; press Run to measure here."
    # A run starts with what is checked and not timed.
    if not device.formats:
        return "On this machine no product is timed yet: the first points appear within seconds."
    # Every format failed, was skipped or had its speed withheld.
    if not any(found.best and not found.is_withheld for found in device.formats):
        return "On this machine nothing could be measured that may be shown; the caveats say why."
    here = say_here(device.is_provisional)
    # The figures do not allow a comparison (the GPU was disturbed, say).
    if isinstance(device.ranking, PrecisionRanking) and device.ranking.withheld:
        return f"{here} no format can be recommended: {device.ranking.withheld_reason}."
    # A run that has not compared its results yet.
    if isinstance(device.trade_off, NotFound):
        return f"{here} {claim_fastest(device)}; {device.trade_off.reason}."
    return f"{here} {claim_trade_off(device)}."


# -- what you see -------------------------------------------------------------------------------


def _see(findings: PrecisionFindings, device: DeviceFindings) -> str:
    parts = [
        tell_speedups(device),
        tell_support(device),
        tell_range(device),
        tell_autocast(device),
        tell_lost_updates(device),
        tell_energy(device),
        *(tell_beside(other) for other in findings.devices[1:]),
    ]
    return "\n\n".join(part for part in parts if part)


def tell_speedups(device: DeviceFindings) -> str:
    """Return which formats are faster than fp32, slower, and too close to tell."""
    known = list_speedups(device)
    faster = sorted((s for s in known if s.verdict is SpeedVerdict.FASTER), key=lambda s: -s.factor)
    slower = sorted((s for s in known if s.verdict is SpeedVerdict.SLOWER), key=lambda s: s.factor)
    level = tuple(s.challenger for s in known if s.verdict is SpeedVerdict.TIE)
    told = []
    # Each at its largest size that fp32 has, too.
    if faster:
        told.append(f"faster is {join_words([_say_faster(s) for s in faster])}")
    if slower:
        told.append(f"slower is {join_words([_say_slower(s) for s in slower])}")
    # The intervals leave it open, or the difference is under 5 %.
    if level:
        told.append(f"not to be told from it {'is' if len(level) == 1 else 'are'} {join_formats(level)}")
    return f"Beside {name_format(FP32)}, at the largest size of both: {'; '.join(told)}." if told else ""


def _say_faster(speedup: Speedup) -> str:
    # "bf16 (12.3 × ± 2 %)"; without an interval the factor alone.
    width = say_interval(speedup.factor, speedup.low, speedup.high).strip(" ()")
    figures = " ".join(part for part in (format_factor(speedup.factor), width) if part)
    return f"{name_format(speedup.challenger)} ({figures})"


def _say_slower(speedup: Speedup) -> str:
    return f"{name_format(speedup.challenger)} ({format_factor(1 / speedup.factor)} as long)"


def tell_support(device: DeviceFindings) -> str:
    """Return which formats ran as another one, and which have no units of their own here."""
    # Another precision ran, by the error of the result, or on a part that is known to lack it.
    told = [
        f"Not supported here: {name_format(found.dtype)}, which ran as {name_format(found.ran_as)}."
        for found in device.formats
        if found.ran_as
    ]
    emulated = tuple(str(found.dtype) for found in device.formats if found.emulated_reason and found.best)
    # By the device's own list of units, not by the speed.
    if emulated:
        them = "it" if len(emulated) == 1 else "them"
        told.append(
            f"{term('emulated', 'Emulated')}: {join_formats(emulated)}; {_device_word(device)} has no units for {them}."
        )
    slow = device.ranking.slow_16bit if isinstance(device.ranking, PrecisionRanking) else ()
    # 16 bits without hardware that shows in the speed.
    if slow and not set(slow) <= set(emulated):
        told.append(f"Under four fifths of the speed of {name_format(FP32)}: {join_formats(slow)}.")
    return " ".join(told)


def _device_word(device: DeviceFindings) -> str:
    return "this CPU" if device.device == CPU else "this GPU" if device.is_measured else "that part"


def tell_range(device: DeviceFindings) -> str:
    """Return what overflowed and what became zero; "" where every format held its numbers."""
    told = []
    for found in device.formats:
        name = name_format(found.dtype)
        # Values beyond the largest number of the format: infinity in, not-a-number out.
        if found.nan_count or found.inf_count:
            share = f" ({format_percent(found.clipped_share)} of the inputs)" if found.clipped_share else ""
            told.append(f"{name} overflows{share} and holds no result any more")
        # Small values beside large ones: scaling to the largest leaves nothing for them.
        elif found.zeroed_share is not None and found.zeroed_share >= NOTABLE_SHARE:
            error = f" and errs by {format_error(found.rel_error)}" if found.rel_error is not None else ""
            told.append(f"{name} rounds {format_percent(found.zeroed_share)} of them to zero{error}")
    return f"With these inputs {join_words(told)}." if told else ""


def tell_autocast(device: DeviceFindings) -> str:
    """Return what autocast gains in a training step; "" where none was measured."""
    found = device.autocast
    if not isinstance(found, Speedup):
        return ""
    step = f"One training step of {STEP_LAYERS} layers (batch and width {format_count(found.n)})"
    how = f"{term('autocast')} to {name_format(device.autocast_dtype or Dtype.BF16)}"
    error = ""
    # Where the step was small enough for a float64 one beside it.
    if device.autocast_error is not None:
        error = f"; its gradients err by {format_error(device.autocast_error)}"
    match found.verdict:
        # The mixed step is clearly faster.
        case SpeedVerdict.FASTER:
            gain = f"{format_factor(found.factor)}{say_interval(found.factor, found.low, found.high)}"
            return f"{step} is {gain} as fast with {how} as in {name_format(FP32)}{error}."
        # Casts cost more than the products gain.
        case SpeedVerdict.SLOWER:
            return (
                f"{step} takes {format_factor(1 / found.factor)} as long with {how} as in {name_format(FP32)}{error}."
            )
        # The intervals leave it open, or the difference is under 5 %.
        case SpeedVerdict.TIE:
            return f"{step} takes the same time with {how} as in {name_format(FP32)}, as far as can be told{error}."


def tell_lost_updates(device: DeviceFindings) -> str:
    """Return what many small additions to a large number come to, per format; "" where none were made."""
    # Published and recorded series have no running sums.
    if not device.lost:
        return ""
    count = format_count(device.lost[0].lost[-1][0])
    opening = f"Add {count} small numbers, together 1, to a 1, one after the other"
    losing = [found for found in device.lost if found.lost_from is not None]
    keeping = tuple(found.dtype for found in device.lost if found.lost_from is None)
    # No format lost more than half of them.
    if not losing:
        return f"{opening}: every format keeps most of them."
    alike: dict[str, tuple[str, ...]] = {}
    for found in losing:
        share = _say_lost(found)
        alike[share] = (*alike.get(share, ()), found.dtype)
    told = join_words([f"{join_formats(who)} lose{'s' * (len(who) == 1)} {share}" for share, who in alike.items()])
    kept = f", {join_formats(keeping)} keeps them" if keeping else ""
    remedy = ""
    # The same bf16 numbers, summed in fp32, as matrix units and autocast do it.
    if isinstance(device.lost_in_fp32, LostUpdates) and device.lost_in_fp32.lost_from is None:
        remedy = f" In an {name_format(FP32)} sum the {name_format(Dtype.BF16)} numbers arrive, too."
    return f"{opening}: {told}{kept}.{remedy}"


def _say_lost(found: LostUpdates) -> str:
    share = found.lost[-1][1]
    return "all of them" if share > ALL_LOST else f"{format_percent(share)} of their sum"


def tell_energy(device: DeviceFindings) -> str:
    """Return the energy of an operation by format; "" where none was reported."""
    read = [f for f in device.formats if f.energy_j_per_flop is not None]
    # A counter of the card or of the processor was read around a block of calls.
    if not read:
        return ""
    told = [f"{name_format(f.dtype)} {format_energy(f.energy_j_per_flop or 0.0)}" for f in read]
    return f"Energy of one operation: {join_words(told)}."


def tell_beside(device: DeviceFindings) -> str:
    """Return what a part says that is not in this machine."""
    # Published or recorded series beside the measured ones.
    return f"{capitalise(claim_fastest(device))}: not in this machine."


# -- why, and so what ---------------------------------------------------------------------------


def _why(device: DeviceFindings | None) -> str:
    text = (
        "A number of fewer bits takes less room: more of them fit into every unit, every cache and every copy. The "
        f"price is rounding ({term('relative error')}): each bit of fraction that goes doubles it."
    )
    # A GPU is on the page, measured or published.
    if device is None or device.device != CPU:
        text += (
            f" GPUs add units for exactly this: a {term('tensor core')} multiplies small blocks of 16-bit or 8-bit "
            "numbers in one step and sums in fp32."
        )
    # A CPU: whether it has such units decides everything.
    else:
        text += (
            f" A smaller format pays only where there are units for it (such as {term('AMX')} on some CPUs). "
            "Elsewhere every number is converted first, and the smaller format is the slower one."
        )
    # Operands of a very wide range: scaling by powers of two changes no digit of a float.
    if device is not None and device.inputs is Inputs.BADLY_SCALED:
        text += (
            " The inputs here span 2⁻²⁰ to 2²⁰, undone in the other operand: the exact product is the usual one. "
            f"{name_format(Dtype.BF16)} has the range of {name_format(FP32)} and does not notice; "
            f"{name_format(Dtype.FP16)} ends at 65,504, and {name_format(Dtype.INT8)} has one step for all of them."
        )
    return text


def tell_advice(device: DeviceFindings) -> str:
    """Return what to do about it."""
    gain = find_gain(device)
    # A 16-bit format (or tf32) pays on the measured device.
    if gain is not None and device.is_measured:
        trade_off, _ = gain
        best = trade_off.dtypes[0]
        half = _say_memory(device.of(best))
        if best == Dtype.TF32:
            return f"Allow {name_format(best)} for {name_format(FP32)} products: one switch, no other change."
        return (
            f"Train with {term('autocast')} to {name_format(best)}: products in {name_format(best)}, weights and sums "
            f"in {name_format(FP32)}.{half}"
        )
    # fp32 is the best on the measured device.
    if isinstance(device.trade_off, TradeOff) and device.is_measured:
        return (
            f"Stay in {name_format(FP32)} here. A smaller format still halves (16 bits) or quarters (8 bits) the "
            f"memory of a model: store in it where memory is short, and widen before the product."
        )
    # Nothing may be recommended, or nothing of this is from here.
    return "Run it here before deciding: a format that pays on one part can be the slowest on another."


def _say_memory(found: FormatFinding | None) -> str:
    # How many bytes a value takes, against the four of fp32.
    if found is None or found.bytes_per_value >= _FP32_BYTES:
        return ""
    fits = format_factor(_FP32_BYTES / found.bytes_per_value)
    return (
        f" Each value takes {count_of(found.bytes_per_value, 'byte')} instead of four: {fits} as many fit the memory."
    )
