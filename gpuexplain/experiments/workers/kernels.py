"""Two GPU kernels that show how work is handed out: equal blocks, and paths that part (torch, CUDA only).

``torch.where`` computes both sides everywhere, so it never diverges: the paths part in a loop whose
length is read from memory. It is compiled at run time, by Triton and by torch's jiterator; where one of
them is missing the case is told as unsupported.
"""

from collections.abc import Callable
from typing import Any

import torch

from gpuexplain.errors import UnsupportedError

# Long enough that a launch (some microseconds) is a small part of a round of blocks.
STEPS_PER_BLOCK = 20_000
# 32 warps: one block alone keeps all schedulers of a multiprocessor busy, so two take twice as long.
WARPS_PER_BLOCK = 32
LONG_PATH_STEPS = 2_000
# Neighbours in groups of eight take the same path: half of every warp of 32 takes each.
GROUP = 8

_LONG_OR_SHORT = """
template <typename T> T walk(T x, T steps) {
    T sum = x;
    for (int i = 0; i < static_cast<int>(steps); ++i) { sum = sum * T(0.999) + T(0.5); }
    return sum;
}
"""


def equal_blocks(device: str, n_blocks: int) -> Callable[[], Any]:
    """Return an operation that launches ``n_blocks`` blocks of the same work.

    Raises:
        UnsupportedError: If Triton is not installed.
    """
    try:
        import triton
    except ImportError:
        raise UnsupportedError("Triton is not installed: the blocks of a GPU cannot be launched one by one.") from None
    from gpuexplain.experiments.workers.spin import spin

    out = torch.empty(n_blocks * WARPS_PER_BLOCK * 32, device=device)
    del triton
    return lambda: spin[(n_blocks,)](out, STEPS_PER_BLOCK, BLOCK=WARPS_PER_BLOCK * 32, num_warps=WARPS_PER_BLOCK)


def two_paths(device: str, n_elements: int, *, parted: bool) -> Callable[[], Any]:
    """Return an operation in which half of the elements walk a long path and half none.

    ``parted``: neighbours take different paths; else the first half of all elements takes the long one.
    The work is the same.

    Raises:
        UnsupportedError: If this torch has no jiterator.
    """
    try:
        from torch.cuda import jiterator
    except ImportError:
        raise UnsupportedError("This torch has no jiterator: paths that part cannot be shown.") from None
    walk = jiterator._create_jit_fn(_LONG_OR_SHORT)
    index = torch.arange(n_elements, device=device)
    takes_long = (index // GROUP) % 2 == 0 if parted else index < n_elements // 2
    steps = takes_long.float() * LONG_PATH_STEPS
    start = torch.rand(n_elements, device=device)
    return lambda: walk(start, steps)
