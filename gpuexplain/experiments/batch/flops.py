"""How many operations does one step take, by torch's own counter (torch)?"""

import torch
from torch.utils.flop_counter import FlopCounterMode

from gpuexplain.experiments.batch.spec import BatchParams
from gpuexplain.measuring.models import NETWORKS, find_loss, make_examples


def count_step_flops(params: BatchParams) -> float:
    """Return the floating-point operations that one example adds to a step: forward, and backward in training.

    Counted on tensors without memory, so that a large model costs nothing. Products and convolutions
    count, as is usual; the optimiser and what works value by value do not.
    """
    width, depth = params.shape
    with torch.device("meta"):
        network = NETWORKS[params.model](width, depth)
    inputs, targets = make_examples(network, 1, "meta")
    with FlopCounterMode(display=False) as counter:
        if params.is_training:
            torch.autograd.backward(find_loss(network(inputs), targets))
        else:
            with torch.inference_mode():
                network(inputs)
    return float(counter.get_total_flops())
