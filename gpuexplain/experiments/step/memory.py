"""What a training step keeps in memory, by component: counted from the shape, and measured (torch)."""

import torch

from gpuexplain.experiments.step.kept import kept_bytes
from gpuexplain.experiments.step.spec import (
    ACTIVATIONS,
    ADAM_STATES,
    GRADIENTS,
    OPTIMISER_STATE,
    WEIGHTS,
    StepParams,
)
from gpuexplain.measuring.model_sizes import BYTES_PER_FP32
from gpuexplain.measuring.models import Workload, find_loss


def predict_components(params: StepParams) -> dict[str, int]:
    """Return the bytes of each component, counted from the model's shape."""
    weights = params.size.weights * BYTES_PER_FP32
    return {
        WEIGHTS: weights,
        GRADIENTS: weights,
        OPTIMISER_STATE: ADAM_STATES * weights,
        ACTIVATIONS: kept_bytes(
            params.model, *params.shape, params.size, params.batch, is_autocast=params.dtype == "autocast"
        ),
    }


def measure_components(workload: Workload, inputs: torch.Tensor, targets: torch.Tensor) -> dict[str, int]:
    """Return the bytes that one step really keeps: read off the tensors, on any device.

    Activations are what the forward pass saves for the backward pass; a tensor that several
    operations save counts once, weights do not count.
    """
    parameters = list(workload.network.parameters())
    owned = {p.untyped_storage().data_ptr() for p in parameters}
    saved: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in owned:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = find_loss(workload.forward(inputs).float(), targets)
    torch.autograd.backward(workload.scaler.scale(loss))
    assert workload.optimiser is not None
    states = [v for state in workload.optimiser.state.values() for v in state.values() if isinstance(v, torch.Tensor)]
    found = {
        WEIGHTS: sum(p.numel() * p.element_size() for p in parameters),
        GRADIENTS: sum(p.grad.numel() * p.grad.element_size() for p in parameters if p.grad is not None),
        OPTIMISER_STATE: sum(v.numel() * v.element_size() for v in states),
        ACTIVATIONS: sum(saved.values()),
    }
    workload.optimiser.zero_grad(set_to_none=True)
    return found
