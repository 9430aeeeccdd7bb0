"""Measure one product and a stack of layers (torch)."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from gpuexplain.experiments.by_hand.spec import EXPERIMENT_ID, GPU_PRODUCT, PRODUCT, ByHandParams, plan_cases
from gpuexplain.experiments.devices import CPU
from gpuexplain.hardware.cpu import inspect_cpu
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.measuring.clocks import HostClock, SynchronisedClock
from gpuexplain.measuring.conditions import ConditionsMonitor
from gpuexplain.measuring.cuda import TorchCuda, explained_errors
from gpuexplain.measuring.probe import probe_torch
from gpuexplain.measuring.products import judge_product
from gpuexplain.measuring.session import Outcome, Session
from gpuexplain.measuring.stopwatch import Check, Stopwatch
from gpuexplain.measuring.sweep import Sweep
from gpuexplain.measuring.torch_setup import exact_fp32, use_devices, use_threads
from gpuexplain.model import Case, Dtype

SEED = 0
CHECKED_EXAMPLES = 4


def measure(params_json: dict[str, Any], session: Session) -> Outcome:
    """Run the cases that the params ask for, handing every point to the session."""
    params = ByHandParams.model_validate(params_json)
    threads = inspect_cpu().usable_threads
    machine = inspect_machine(probe_torch(threads))
    cases = plan_cases(params, machine)
    devices = sorted({case.device for case in cases})
    bench = Bench(params, threads)
    with exact_fp32(), torch.inference_mode():
        use_devices(devices)
        return Sweep(
            EXPERIMENT_ID,
            cases,
            bench.prepare,
            session,
            budget_s=params.sweep_budget_s,
            say_x=lambda x: f"{x:g} {'layer' if x == 1 else 'layers'}",
            device_names={device: machine.device_name(device) for device in devices},
            conditions=ConditionsMonitor({d: gpu.uuid for d in devices if (gpu := machine.gpu(d)) is not None}),
        ).run()


class Bench:
    """The examples, and the weights of every layer, on each device once."""

    def __init__(self, params: ByHandParams, threads: int) -> None:
        self._params = params
        self._threads = threads
        self._made: dict[str, tuple[torch.Tensor, list[torch.Tensor], torch.Tensor]] = {}

    def prepare(self, case: Case) -> Stopwatch:
        """Return the stopwatch of one product, or of the stack.

        Raises:
            OutOfMemoryError, UnsupportedError: See ``explained_errors``.
        """
        with explained_errors():
            examples, weights, bias = self._on(case.device)
        operation: Callable[[], torch.Tensor]
        if case.series in (PRODUCT, GPU_PRODUCT):
            operation = partial(torch.mm, examples, weights[0])
        else:
            operation = partial(run_stack, examples, weights, bias)
        check = partial(self._check, case, operation)
        if case.device == CPU:
            return HostClock(operation, check, before=partial(use_threads, self._threads), guard=explained_errors)
        return SynchronisedClock(operation, check, TorchCuda(case.device), guard=explained_errors)

    def _on(self, device: str) -> tuple[torch.Tensor, list[torch.Tensor], torch.Tensor]:
        if device not in self._made:
            generator = torch.Generator().manual_seed(SEED)
            batch, width, depth = self._params.batch, self._params.width, self._params.depth
            examples = torch.rand(batch, width, generator=generator).mul_(2).sub_(1)
            # He's scale keeps the size of the values from layer to layer: nothing overflows or fades to zero.
            first = torch.randn(width, width, generator=generator).mul_((2 / width) ** 0.5)
            weights = [first.roll(shifts=layer, dims=1).to(device) for layer in range(depth)]
            self._made[device] = (examples.to(device), weights, torch.zeros(width, device=device))
        return self._made[device]

    def _check(self, case: Case, operation: Callable[[], torch.Tensor]) -> Check:
        """Compare a few examples with the same layers in float64; the error of a stack grows with its depth."""
        use_threads(self._threads)
        examples, weights, bias = self._on(case.device)
        few = examples[:CHECKED_EXAMPLES].double()
        if case.series in (PRODUCT, GPU_PRODUCT):
            exact = few @ weights[0].double()
        else:
            exact = few
            for matrix in weights:  # one at a time in float64: all of them would be twice the memory of the stack
                exact = torch.relu(torch.addmm(bias.double(), exact, matrix.double()))
        return judge_product(Dtype.FP32, operation()[:CHECKED_EXAMPLES].cpu().double(), exact.cpu())


def run_stack(examples: torch.Tensor, weights: list[torch.Tensor], bias: torch.Tensor) -> torch.Tensor:
    """Return the examples after every layer: product, bias, ReLU."""
    values = examples
    for matrix in weights:
        values = torch.relu_(torch.addmm(bias, values, matrix))
    return values
