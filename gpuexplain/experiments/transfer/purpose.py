"""How the product is timed that the copies are made for, and the copies that it needs (torch)."""

from collections.abc import Callable
from functools import partial

import torch

from gpuexplain.experiments.transfer.clocks import CopyClock
from gpuexplain.experiments.transfer.copies import judge_copy
from gpuexplain.measuring.clocks import CudaApi, HostClock, SynchronisedClock
from gpuexplain.measuring.cuda import explained_errors
from gpuexplain.measuring.products import judge_product, make_inputs, reference_rows
from gpuexplain.measuring.stopwatch import Check, Stopwatch
from gpuexplain.measuring.torch_setup import use_threads
from gpuexplain.model import Case

COPIES_TIMING = "host clock around two copies in, one copy out and one synchronisation, from and to pageable memory"


def prepare_product(
    case: Case, threads: int, cuda: CudaApi | None = None, where: torch.device | None = None
) -> Stopwatch:
    """Return the stopwatch of one product: on the CPU, or on the GPU of ``cuda`` with its operands there."""
    use_threads(threads)
    left, right = make_inputs(case.shape, case.dtype)
    if cuda is None:
        operation = partial(torch.mm, left, right)
        before = partial(use_threads, case.threads or threads)
        return HostClock(operation, partial(_check_product, case, operation), before=before, guard=explained_errors)
    operation = partial(torch.mm, left.to(where), right.to(where))
    return SynchronisedClock(operation, partial(_check_product, case, operation), cuda, guard=explained_errors)


def _check_product(case: Case, operation: Callable[[], torch.Tensor]) -> Check:
    rows, reference = reference_rows(case.shape, case.dtype)
    got = operation()
    return judge_product(case.dtype, got[rows.to(got.device)].cpu().double(), reference)


def prepare_product_copies(case: Case, cuda: CudaApi, where: torch.device) -> Stopwatch:
    """Return the stopwatch of both operands copied in and a result copied out, without the product between."""
    operands = make_inputs(case.shape, case.dtype)
    on_device = [torch.empty_like(operand, device=where) for operand in operands]
    result, result_on_device = torch.empty_like(operands[0]), operands[0].to(where)

    def operation() -> None:
        for target, operand in zip(on_device, operands, strict=True):
            target.copy_(operand)
        result.copy_(result_on_device)

    def check() -> Check:
        for target in (*on_device, result):
            target.zero_()
        operation()
        cuda.synchronize()
        pairs = [(result, operands[0]), *((t.cpu(), o) for t, o in zip(on_device, operands, strict=True))]
        return judge_copy(sum(int((got != wanted).sum()) for got, wanted in pairs))

    return CopyClock(operation, check, cuda, timing=COPIES_TIMING, guard=explained_errors)
