"""For how long does a GPU have something to do in one step? By what torch's profiler saw run on it (torch)."""

from collections.abc import Callable, Iterable

import torch
from torch.autograd import DeviceType  # type: ignore[attr-defined]


def device_busy_s(step: Callable[[], object]) -> float:
    """Return the seconds of one step in which a kernel or a copy ran on the current CUDA device."""
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=activities) as profiler:
        step()
        torch.cuda.synchronize()
    return covered_s(work_on_device(profiler.events() or ()))


def work_on_device(events: Iterable[object]) -> list[tuple[float, float]]:
    """Return (start, end) of every kernel and copy in seconds; named regions, which span gaps, are no work."""
    return [
        (event.time_range.start / 1e6, event.time_range.end / 1e6)  # type: ignore[attr-defined]
        for event in events
        if getattr(event, "device_type", None) == DeviceType.CUDA and not getattr(event, "is_user_annotation", False)
    ]


def covered_s(spans: Iterable[tuple[float, float]]) -> float:
    """Return how much time the spans cover together; what runs at the same time counts once."""
    covered, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return covered
