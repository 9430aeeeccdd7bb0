"""Our matmul median against torch.utils.benchmark: same operation, same threads, interleaved.

Wanted: median over sizes 0.95-1.05, no size outside 0.85-1.20.
"""

import gc
import statistics
from functools import partial

import torch
from torch.utils.benchmark import Timer

from gpuexplain.experiments.matmul.measure import make_inputs
from gpuexplain.hardware.cpu import inspect_cpu
from gpuexplain.measuring.clocks import HostClock
from gpuexplain.measuring.sampling import plan_block
from gpuexplain.measuring.stopwatch import Check
from gpuexplain.model import Dtype

SIDES = (64, 128, 256, 512, 1024)
ROUNDS = 25


def main() -> None:
    """Print the ratio of medians per size."""
    threads = inspect_cpu().usable_threads
    torch.set_flush_denormal(True)
    torch.set_num_threads(threads)
    ratios = []
    for side in SIDES:
        ratio, ours_s, theirs_s = compare(side, threads)
        ratios.append(ratio)
        print(f"n={side:5d}  ours {ours_s * 1e6:9.2f} us  torch's {theirs_s * 1e6:9.2f} us  ratio {ratio:.3f}")
    middle = statistics.median(ratios)
    print(f"median over sizes {middle:.3f}, range {min(ratios):.3f}-{max(ratios):.3f}, {threads} threads")


def compare(side: int, threads: int) -> tuple[float, float, float]:
    """Return (ours / theirs, our median, their median) in seconds."""
    left, right = make_inputs((side, side, side), Dtype.FP32)
    clock = HostClock(partial(torch.mm, left, right), lambda: Check(None, 0, 0))  # as the experiment calls it
    timer = Timer("torch.mm(left, right)", globals={"torch": torch, "left": left, "right": right}, num_threads=threads)
    call_s = min(clock.call_once() for _ in range(10))
    ours, theirs = [], []
    gc.disable()  # as a sweep does, and as timeit does by itself
    for _ in range(ROUNDS):
        plan = plan_block(call_s, clock.most_calls)
        ours.append(clock.time_block(plan.untimed, plan.n_calls).call_s)
        timer.timeit(plan.untimed)
        theirs.append(timer.timeit(plan.n_calls).median)
        call_s = statistics.median(ours)
    gc.enable()
    ours_s, theirs_s = statistics.median(ours), statistics.median(theirs)
    return ours_s / theirs_s, ours_s, theirs_s


if __name__ == "__main__":
    main()
