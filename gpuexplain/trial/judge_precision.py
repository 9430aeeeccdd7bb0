"""What do number formats and autocast gain here, and what do they cost?"""

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.precision.found import DeviceFindings, FormatFinding, PrecisionFindings
from gpuexplain.findings import NotFound, Speedup, SpeedVerdict
from gpuexplain.model import Dtype
from gpuexplain.trial.ruling import Lack, Ruling, cannot_tell, held, not_held, untestable, untested
from gpuexplain.trial.say import THE_CPU, say_device, say_speed
from gpuexplain.units import format_error, format_percent
from gpuexplain.wording.phrases import say_n

# Beyond this in either direction a ratio is a difference.
DIFFERS_ABOVE, DIFFERS_BELOW = 1.05, 0.95
# fp32 errs by about 3e-7 here, and 16-bit formats by 3e-4 and more: what errs more than this lost digits.
ERROR_SHOWS_ABOVE = 1e-5
SIXTEEN_BITS = (Dtype.BF16, Dtype.FP16)


def judge_tensor_cores(findings: PrecisionFindings) -> Ruling:
    """Judge that a GPU multiplies faster in 16 bits than in fp32, and for less energy where that is reported."""
    device = _measured(findings)
    # There is no GPU in these points.
    if device is None or device.device == CPU:
        return untestable(Lack.GPU, f"Tensor cores are parts of a GPU.{_sixteen_bits_on_a_cpu(device)}")
    best = _best_of_sixteen(device)
    # Neither format could be compared with fp32.
    if best is None or not isinstance(best.speedup, Speedup):
        return cannot_tell("No 16-bit format could be compared with fp32.")
    told = f"{_say_speedup(best)}{_say_energy(device, best)}."
    match best.speedup.verdict:
        # Clearly faster.
        case SpeedVerdict.FASTER:
            return held(told)
        # Slower, or as fast within narrow intervals.
        case SpeedVerdict.SLOWER:
            return not_held(told)
        case _:
            return not_held(told) if _is_narrow(best.speedup) else cannot_tell(told)


def _sixteen_bits_on_a_cpu(device: DeviceFindings | None) -> str:
    best = _best_of_sixteen(device) if device is not None else None
    # What a CPU can tell: its own 16 bits.
    return f" {_say_speedup(best)} on {THE_CPU}." if best is not None else ""


def _say_speedup(found: FormatFinding) -> str:
    assert isinstance(found.speedup, Speedup)
    speedup = found.speedup
    speed = say_speed(speedup.factor, speedup.low, speedup.high)
    return f"A product in {found.dtype} {speed} in fp32 at {say_n(speedup.n)}"


def _say_energy(device: DeviceFindings, best: FormatFinding) -> str:
    fp32 = device.of(str(Dtype.FP32))
    # Both energies were read.
    if fp32 is not None and fp32.energy_j_per_flop and best.energy_j_per_flop:
        return f", for {format_percent(best.energy_j_per_flop / fp32.energy_j_per_flop)} of the energy an operation"
    return "; the energy was not reported"


def _best_of_sixteen(device: DeviceFindings) -> FormatFinding | None:
    known = [f for f in device.formats if f.dtype in SIXTEEN_BITS and isinstance(f.speedup, Speedup) and not f.ran_as]
    return max(known, key=lambda f: f.speedup.factor if isinstance(f.speedup, Speedup) else 0.0, default=None)


def judge_mixed_precision(findings: PrecisionFindings) -> Ruling:
    """Judge that autocast trades some accuracy for speed."""
    told, speedup, error = _autocast(findings)
    # Nothing was measured here.
    if _measured(findings) is None:
        return untested(told)
    # One of the two has no time, or the result was not checked.
    if speedup is None or error is None:
        return cannot_tell(told)
    # No 16-bit format ran: nothing was traded.
    if error <= ERROR_SHOWS_ABOVE:
        return not_held(told)
    match speedup.verdict:
        # Faster, and less exact.
        case SpeedVerdict.FASTER:
            return held(told)
        # Less exact, and no speed for it.
        case SpeedVerdict.SLOWER:
            return not_held(told)
        case _:
            return not_held(told) if _is_narrow(speedup) else cannot_tell(told)


def judge_configuring(findings: PrecisionFindings) -> Ruling:
    """Judge that one setting of the framework makes a training step run in mixed precision, by the error."""
    device = _measured(findings)
    error = device.autocast_error if device is not None else None
    # Nothing was measured here.
    if device is None:
        return untested("No training step was measured.")
    # The step was not checked.
    if error is None:
        return cannot_tell("The training step with autocast was not checked.")
    told = f"With torch.autocast the training step errs by {format_error(error)}"
    # The error is that of a 16-bit format.
    if error > ERROR_SHOWS_ABOVE:
        return held(f"{told}, as {device.autocast_dtype or '16-bit'} numbers do: one setting was enough.")
    return not_held(f"{told}, as fp32 does: the setting changed nothing.")


def judge_by_itself(findings: PrecisionFindings) -> Ruling:
    """Judge "precision takes care of itself": whether switching to 16 bits has a price or a gain to weigh."""
    told, speedup, error = _autocast(findings)
    # Nothing was measured here.
    if _measured(findings) is None:
        return untested(told)
    # One of the two has no time, or the result was not checked.
    if speedup is None or error is None:
        return cannot_tell(told)
    loses = error > ERROR_SHOWS_ABOVE
    match speedup.verdict:
        # A gain in speed, and a loss of digits: somebody must choose.
        case SpeedVerdict.FASTER if loses:
            return not_held(f"{told} Speed against exactness is a choice.")
        # A gain that costs nothing.
        case SpeedVerdict.FASTER:
            return held(f"{told} Here it gains speed and costs no digits.")
        # A loss of speed: switching it on without looking is a mistake.
        case SpeedVerdict.SLOWER:
            return not_held(f"{told} Switched on without looking, it costs time here.")
        # Under six samples of one of them.
        case _ if speedup.low is None:
            return cannot_tell(f"{told} Too few samples were taken to say whether that is more than chance.")
        # The intervals hold both, or it is as fast as before.
        case _ if not _is_narrow(speedup):
            return cannot_tell(f"{told} Whether that is faster or slower, the intervals do not say.")
        case _:
            return (
                not_held(f"{told} It costs digits and gains no speed.")
                if loses
                else held(f"{told} It changes nothing.")
            )


def _autocast(findings: PrecisionFindings) -> tuple[str, Speedup | None, float | None]:
    """Return what autocast does to a training step, in words, with its speed-up and its error."""
    device = _measured(findings)
    # Nothing was measured here.
    if device is None:
        return "No training step was measured.", None, None
    # One of the two steps has no time.
    if isinstance(device.autocast, NotFound):
        return f"Autocast cannot be compared with fp32: {device.autocast.reason}.", None, device.autocast_error
    speedup, error = device.autocast, device.autocast_error
    speed = say_speed(speedup.factor, speedup.low, speedup.high)
    told = f"With autocast a training step on {say_device(device.device)} {speed} in fp32"
    # The result was not checked.
    if error is None:
        return f"{told}; its error was not measured.", speedup, None
    return f"{told} and errs by {format_error(error)}.", speedup, error


def _is_narrow(speedup: Speedup) -> bool:
    """Whether a tie is one: both bounds lie within those of a tie."""
    if speedup.low is None or speedup.high is None:
        return False
    return speedup.low >= DIFFERS_BELOW and speedup.high <= DIFFERS_ABOVE


def _measured(findings: PrecisionFindings) -> DeviceFindings | None:
    """Return the device measured here that the claim is about: the GPU where there is one."""
    here = [device for device in findings.devices if device.is_measured]
    return next((device for device in here if device.device != CPU), next(iter(here), None))
