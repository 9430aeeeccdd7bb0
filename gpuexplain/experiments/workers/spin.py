"""The Triton kernel of equal blocks; imported only where Triton is installed."""

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator, unused-ignore]
def spin(out, n_steps, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Run the same dependent multiply-adds in every element of every block, and store the result."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = offsets.to(tl.float32)
    for _ in range(n_steps):
        total = total * 0.999 + 0.5
    tl.store(out + offsets, total)
