"""One training step of a small perceptron, in fp32 and with autocast (torch)."""

from contextlib import AbstractContextManager, nullcontext
from typing import cast

import torch
from torch import Tensor, nn

from gpuexplain.experiments.precision.spec import STEP_LAYERS, STEP_LEARNING_RATE, STEP_LOSS_SCALE
from gpuexplain.measuring.products import INPUT_SEED
from gpuexplain.measuring.stopwatch import Check
from gpuexplain.measuring.torch_setup import TORCH_DTYPES
from gpuexplain.model import Dtype

# A float64 step on the CPU beyond this takes longer than what it checks.
CHECKED_UP_TO = 256
# Gradients are sums over the whole batch of products of rounded numbers: a few times the error of one product.
MOST_GRADIENT_ERROR = {Dtype.FP32: 1e-4, Dtype.BF16: 0.2, Dtype.FP16: 0.2}
# Under this the products of an autocast step were not rounded to 16 bits at all.
FP32_GRADIENT_ERROR = 1e-5


class Step:
    """Forward, loss, backward and update of ``STEP_LAYERS`` layers of side x side on a batch of side.

    The update is plain gradient descent, written out: torch's optimisers load their compiler first.
    """

    def __init__(self, side: int, device: str, autocast: Dtype | None) -> None:
        """Make the seeded model and batch; ``autocast`` is the format of its products, None for fp32."""
        self._device, self._autocast = device, autocast
        self._model = make_model(side).to(device)
        self._weights: list[Tensor] = list(self._model.parameters())
        self._examples, self._targets = (values.to(device) for values in make_batch(side))
        self._loss_scale = STEP_LOSS_SCALE if autocast is Dtype.FP16 else 1.0

    def __call__(self) -> None:
        """Run one step."""
        self._backward()
        with torch.no_grad():
            gradients = [cast("Tensor", weight.grad) for weight in self._weights]
            torch._foreach_add_(self._weights, gradients, alpha=-STEP_LEARNING_RATE / self._loss_scale)

    def gradients(self) -> Tensor:
        """Return every gradient of one pass at the present weights, as float64 on the CPU."""
        self._backward()
        return gather_gradients(self._model) / self._loss_scale

    def _backward(self) -> None:
        for weight in self._weights:
            weight.grad = None
        with self._casting():
            predicted = self._model(self._examples)
        loss = nn.functional.mse_loss(predicted.float(), self._targets)
        (loss * self._loss_scale).backward()  # type: ignore[no-untyped-call]

    def _casting(self) -> AbstractContextManager[object]:
        if self._autocast is None:
            return nullcontext()
        return torch.autocast(self._device.split(":")[0], dtype=TORCH_DTYPES[self._autocast])


def make_model(side: int) -> nn.Sequential:
    """Return the model, seeded, in fp32."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(INPUT_SEED)
        layers: list[nn.Module] = []
        for _ in range(STEP_LAYERS):
            # Smooth: a kink would turn the smallest rounding into another gradient.
            layers += [nn.Linear(side, side), nn.GELU()]
        return nn.Sequential(*layers[:-1])


def make_batch(side: int) -> tuple[Tensor, Tensor]:
    """Return seeded examples and targets, side x side, in fp32."""
    generator = torch.Generator().manual_seed(INPUT_SEED)
    examples, targets = (torch.rand(side, side, generator=generator).mul_(2).sub_(1) for _ in range(2))
    return examples, targets


def gather_gradients(model: nn.Module) -> Tensor:
    """Return every gradient in one row, as float64 on the CPU."""
    return torch.cat([cast("Tensor", weight.grad).detach().cpu().double().flatten() for weight in model.parameters()])


def exact_gradients(side: int) -> Tensor:
    """Return the gradients of the same model and batch in float64, on the CPU."""
    model = make_model(side).double()
    examples, targets = make_batch(side)
    nn.functional.mse_loss(model(examples.double()), targets.double()).backward()  # type: ignore[no-untyped-call]
    return gather_gradients(model)


def judge_step(dtype: Dtype, got: Tensor, exact: Tensor | None) -> Check:
    """Return what the gradients of a step say; without ``exact`` only that they are finite."""
    nan_count, inf_count = int(got.isnan().sum()), int(got.isinf().sum())
    if nan_count or inf_count:
        failure = f"The gradients hold {nan_count} NaN and {inf_count} infinite values."
        return Check(None, nan_count, inf_count, failure=failure)
    if exact is None:
        return Check(None, 0, 0)
    rel_error = float((got - exact).norm() / exact.norm())
    if rel_error > MOST_GRADIENT_ERROR[dtype]:
        failure = f"The gradients are wrong: they differ from float64 by {rel_error:.2g} of their size."
        return Check(rel_error, 0, 0, failure=failure)
    ran_as_fp32 = dtype is not Dtype.FP32 and rel_error < FP32_GRADIENT_ERROR
    return Check(rel_error, 0, 0, ran_as=str(Dtype.FP32) if ran_as_fp32 else "")
