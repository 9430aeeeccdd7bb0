"""When does the host work and when the device? Three calls under torch's profiler, as points (torch)."""

from collections.abc import Callable, Iterable

import torch
from torch.autograd import DeviceType  # type: ignore[attr-defined]

from gpuexplain.experiments.stopwatch.series import Lane
from gpuexplain.experiments.stopwatch.spec import EXPERIMENT_ID
from gpuexplain.model import Case, Point

N_CALLS = 3
_CALL = "gpuexplain call"
_WAIT = "Synchronize"  # cudaDeviceSynchronize, cudaStreamSynchronize
_CPU_KERNEL = "aten::mm"
TIMING = "torch.profiler, which slows short calls: read the order, not the length"


def record_lanes(operation: Callable[[], object], case: Case, device_name: str) -> Iterable[Point]:
    """Yield an event a point: where a call was busy (``x`` = start, ``median_s`` = length, seconds).

    On a GPU twice: with the host waiting for every call, and with it only queueing them.
    """
    on_gpu = case.device != "cpu"
    for waits in (True, False) if on_gpu else (True,):
        for index, (lane, start_s, length_s) in enumerate(_record(operation, on_gpu=on_gpu, waits=waits)):
            yield Point(
                experiment=EXPERIMENT_ID,
                series=lane.series(waits=waits),
                x=start_s,
                shape=(index,),
                dtype=case.dtype,
                device=case.device,
                device_name=device_name,
                threads=case.threads,
                timing=TIMING,
                n_samples=1,
                median_s=length_s,
            )


def _record(operation: Callable[[], object], *, on_gpu: bool, waits: bool) -> list[tuple[Lane, float, float]]:
    activities = [torch.profiler.ProfilerActivity.CPU]
    if on_gpu:
        activities.append(torch.profiler.ProfilerActivity.CUDA)
        torch.cuda.synchronize()
    with torch.profiler.profile(activities=activities) as profiler:
        for _ in range(N_CALLS):
            with torch.profiler.record_function(_CALL):
                operation()
            if on_gpu and waits:
                torch.cuda.synchronize()
        if on_gpu:
            torch.cuda.synchronize()
    events = [(lane, e) for e in profiler.events() or () if (lane := _lane_of(e, on_gpu=on_gpu))]
    if not events:
        return []
    origin_us = min(e.time_range.start for _, e in events)
    rows = [(lane, (e.time_range.start - origin_us) / 1e6, e.time_range.elapsed_us() / 1e6) for lane, e in events]
    return sorted((row for row in rows if row[2] > 0), key=lambda row: row[1])


def _lane_of(event: object, *, on_gpu: bool) -> Lane | None:
    """Return where an event belongs; None for what is neither a call, a wait nor the work."""
    name = str(getattr(event, "name", ""))
    if getattr(event, "device_type", None) == DeviceType.CPU:
        if name == _CALL:
            return Lane.HOST
        if on_gpu:
            return Lane.WAIT if _WAIT in name else None
        return Lane.DEVICE if name == _CPU_KERNEL else None
    return None if name == _CALL else Lane.DEVICE
