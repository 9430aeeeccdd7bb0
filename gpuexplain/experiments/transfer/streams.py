"""Two queues of a GPU that run side by side (torch)."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

import torch

# Queues work on a stream of its own while it is entered.
OnStream = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Streams:
    """What is queued inside ``on_first()`` and inside ``on_second()`` may run at the same time."""

    on_first: OnStream
    on_second: OnStream


def cuda_streams() -> Streams:
    """Return two streams of the current CUDA device, neither of them its default one."""
    first, second = torch.cuda.Stream(), torch.cuda.Stream()  # type: ignore[no-untyped-call]
    return Streams(partial(torch.cuda.stream, first), partial(torch.cuda.stream, second))
