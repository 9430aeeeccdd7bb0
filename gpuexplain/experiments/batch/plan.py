"""Which batches are tried on which device, how much memory that may take, and what is refused (no torch)."""

from collections.abc import Iterator, Sequence

from gpuexplain.errors import InputError
from gpuexplain.experiments.batch.series import series_on
from gpuexplain.experiments.batch.spec import LARGEST_BATCH, LARGEST_USUAL_BATCH, LIMITS, MIB, BatchParams
from gpuexplain.experiments.devices import CPU, resolve_device
from gpuexplain.hardware.machine import Gpu, Machine
from gpuexplain.model import Case, Clock, Dtype
from gpuexplain.settings import load_settings
from gpuexplain.units import format_count, format_size

# A sweep goes no further than this share of the memory; beyond it only a ceiling search may go.
SWEEP_MEMORY_SHARE = 0.25
# What a ceiling search may fill of a CPU's free memory: the system needs the rest.
CPU_CEILING_SHARE = 0.5
# The presets keep the measuring process small on a CPU, however much memory there is.
PRESET_CPU_BYTES = 2 * 2**30
# A ceiling search tries sizes that are predicted to need up to this factor of the limit: the
# prediction may be too high, and a size must fail before its ceiling is found.
TRY_BEYOND = 4.0
# Up to here a batch is tried even where the time allows few samples: a step that a busy machine makes
# slow costs about the same at each of them, and one batch alone shows nothing.
SURELY_TRIED = 16
# Beside a GPU the CPU is only the baseline: every second power of two, up to a batch that shows its level.
BASELINE_BATCHES = (1, 4, 16, 64, 256)
# Under this share of free memory somebody else must hold the rest: our own context takes less.
ALONE_FROM_FREE_SHARE = 0.85
# bf16 in hardware from this compute capability on.
BF16_CAPABILITY = 8.0


def plan_cases(params: BatchParams, machine: Machine) -> list[Case]:
    """Return every case of the sweep, small to large; those too slow for the budget drop out later.

    Raises:
        InputError: If the model or a named batch does not fit the memory (names what does), or a
            ceiling search would take memory that another process may need.
    """
    device = resolve_device(params, machine)
    if params.seeks_ceiling and device != CPU:
        refuse_shared_device(device, machine)
    limit_bytes = sweep_limits(params, machine).get(device)
    if limit_bytes is not None:
        _refuse_what_does_not_fit(params, device, limit_bytes)
    cases = [make_case(params, machine, device, batch) for batch in plan_batches(params, device, limit_bytes)]
    if device != CPU and CPU in machine.devices:
        cpu_bytes = sweep_limits(params, machine)[CPU]
        baseline = [make_case(params, machine, CPU, batch, is_baseline=True) for batch in BASELINE_BATCHES]
        cases += [case for case in baseline if case.memory_bytes <= cpu_bytes and case.x <= _largest(params)]
    return cases


def plan_batches(params: BatchParams, device: str, limit_bytes: int | None) -> list[int]:
    """Return powers of two up to the largest batch asked for, else as far as the memory share allows."""
    largest = _largest(params)
    batches = [1 << power for power in range(largest.bit_length()) if 1 << power <= largest]
    if params.largest_batch is not None:
        return sorted({*batches, params.largest_batch})
    most_bytes = limit_bytes
    if device == CPU and not params.seeks_ceiling and limit_bytes is not None:
        most_bytes = min(limit_bytes, PRESET_CPU_BYTES)
    if most_bytes is None:
        return batches
    return [batch for batch in batches if batch == 1 or params.step_bytes(batch) <= most_bytes]


def _largest(params: BatchParams) -> int:
    usual = LARGEST_BATCH if params.seeks_ceiling else LARGEST_USUAL_BATCH
    return params.largest_batch or usual


def make_case(params: BatchParams, machine: Machine, device: str, batch: int, *, is_baseline: bool = False) -> Case:
    """Return the case of one batch on one device."""
    is_tried = params.largest_batch is not None or params.seeks_ceiling or batch <= SURELY_TRIED
    return Case(
        series=series_on(params.model, params.mode, device),
        x=float(batch),
        shape=(batch, *params.shape),
        dtype=half_dtype(device, machine) if params.is_autocast else Dtype.FP32,
        device=device,
        clock=Clock.CALL,
        threads=machine.cpu.usable_threads if device == CPU else None,
        flops=params.size.step_flops(batch, is_training=params.is_training),
        bytes_moved=0.0,
        memory_bytes=params.step_bytes(batch),
        explicit=is_tried and not is_baseline,
        items=float(batch),
    )


def half_dtype(device: str, machine: Machine) -> Dtype:
    """Return what autocast computes in: bf16 on a CPU and where a GPU has it in hardware, else fp16."""
    if device == CPU:
        return Dtype.BF16
    probed = next((d for d in (machine.torch.devices if machine.torch else ()) if d.device == device), None)
    if probed is not None and probed.bf16_native is not None:
        return Dtype.BF16 if probed.bf16_native else Dtype.FP16
    gpu = machine.gpu(device)
    capability = float(gpu.compute_capability) if gpu is not None and gpu.compute_capability else 0.0
    return Dtype.BF16 if capability >= BF16_CAPABILITY else Dtype.FP16


# -- memory ---------------------------------------------------------------------------------------


def ceiling_limits(params: BatchParams, machine: Machine) -> dict[str, int]:
    """Return the bytes that a run may fill at most, by device, where known: what a ceiling is measured against."""
    limits = {CPU: int(machine.memory.usable_bytes * CPU_CEILING_SHARE)}
    for gpu in machine.gpus:
        if gpu.torch_device and gpu.memory_free_bytes is not None:
            limits[gpu.torch_device] = int(gpu.memory_free_bytes * load_settings().max_device_memory)
    if params.ceiling_mib is not None:
        limits = {device: min(bound, params.ceiling_mib * MIB) for device, bound in limits.items()}
    return limits


def sweep_limits(params: BatchParams, machine: Machine) -> dict[str, int]:
    """Return the bytes that a planned step may be predicted to need, by device."""
    ceilings = ceiling_limits(params, machine)
    if params.seeks_ceiling:
        return {device: int(bound * TRY_BEYOND) for device, bound in ceilings.items()}
    whole = {CPU: machine.memory.usable_bytes}
    whole |= {
        gpu.torch_device: gpu.memory_free_bytes for gpu in machine.gpus if gpu.torch_device and gpu.memory_free_bytes
    }
    return {device: min(bound, int(whole[device] * SWEEP_MEMORY_SHARE)) for device, bound in ceilings.items()}


def refuse_shared_device(device: str, machine: Machine) -> None:
    """Check that a ceiling search takes no memory that others need.

    Raises:
        InputError: If another process uses the device, or may use it.
    """
    gpu = machine.gpu(device)
    if gpu is None:
        return
    if gpu.compute_processes:
        others = "another process uses it" if gpu.compute_processes == 1 else f"{gpu.compute_processes} others use it"
    elif gpu.compute_processes is None and _seems_shared(gpu):
        others = "much of its memory is taken, and by whom cannot be told from here"
    else:
        return
    raise InputError(
        f"The ceiling search would fill the memory of {device}, but {others}. Switch the search off, or wait until "
        "the device is free."
    )


def _seems_shared(gpu: Gpu) -> bool:
    free, total = gpu.memory_free_bytes, gpu.memory_total_bytes
    return bool(free is not None and total and free < ALONE_FROM_FREE_SHARE * total)


def _refuse_what_does_not_fit(params: BatchParams, device: str, limit_bytes: int) -> None:
    what = (
        f"One {params.mode} step of this {params.model}"
        if params.is_training
        else f"Inference with this {params.model}"
    )
    if params.step_bytes(1) > limit_bytes:
        raise InputError(
            f"{what} needs about {format_size(params.step_bytes(1))} on {device} at {format_count(1)} example, of "
            f"which a run may take {format_size(limit_bytes)}. {_say_model_that_fits(params, limit_bytes)}"
        )
    largest = params.largest_batch
    if largest is not None and params.step_bytes(largest) > limit_bytes:
        beyond = "" if params.seeks_ceiling else " To go beyond, switch the ceiling search on."
        raise InputError(
            f"{what} with batch {format_count(largest)} needs about {format_size(params.step_bytes(largest))} on "
            f"{device}, of which a run may take {format_size(limit_bytes)}. The largest batch that fits is "
            f"{format_count(_largest_batch_within(params, limit_bytes))}.{beyond}"
        )


def _largest_batch_within(params: BatchParams, limit_bytes: int) -> int:
    per_example = params.step_bytes(2) - params.step_bytes(1)
    return max(1, 1 + (limit_bytes - params.step_bytes(1)) // per_example)


def _say_model_that_fits(params: BatchParams, limit_bytes: int) -> str:
    width, depth = params.shape
    widths, depths = LIMITS[params.model]
    depth_that_fits = _last_that_fits(params, [(width, fewer) for fewer in depths if fewer <= depth], limit_bytes)
    if depth_that_fits is not None:
        return f"At this width depth {depth_that_fits[1]} fits."
    width_that_fits = _last_that_fits(params, [(less, depths.start) for less in widths if less <= width], limit_bytes)
    if width_that_fits is not None:
        return f"Depth {depths.start} with width {width_that_fits[0]} fits."
    return "No model of this kind fits."


def _last_that_fits(params: BatchParams, shapes: Sequence[tuple[int, int]], limit_bytes: int) -> tuple[int, int] | None:
    """Return the last shape that fits; shapes are by rising size."""
    low, high = 0, len(shapes)
    while low < high:
        middle = (low + high) // 2
        width, depth = shapes[middle]
        if params.model_copy(update={"width": width, "depth": depth}).step_bytes(1) <= limit_bytes:
            low = middle + 1
        else:
            high = middle
    return shapes[low - 1] if low else None


# -- zoom -----------------------------------------------------------------------------------------


def plan_zoom(knee: int, known: Sequence[int]) -> list[int]:
    """Return batches to add around a knee: between half and twice of it, and neighbours that fit no tile."""
    wanted = {round(knee * eighths / 8) for eighths in (5, 6, 7, 10, 12, 14)}
    wanted |= set(_neighbours(knee)) | set(_neighbours(2 * knee))
    return sorted(batch for batch in wanted if batch >= 1 and batch not in known)


def _neighbours(batch: int) -> Iterator[int]:
    if batch >= 8:
        yield from (batch - 1, batch + 1)
