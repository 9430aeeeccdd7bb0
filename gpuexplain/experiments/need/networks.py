"""The networks of this page as calls to time: a training step, or one example, from main memory and back (torch)."""

import copy

import torch
from torch import Tensor

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.need.spec import CONVNET, INFERENCE, Shape
from gpuexplain.measuring import models
from gpuexplain.measuring.products import judge_product
from gpuexplain.measuring.stopwatch import Check
from gpuexplain.model import Dtype


class NetworkCall:
    """One network on one device. Examples wait in main memory, as a loader leaves them; results come back there."""

    def __init__(self, workload: str, shape: Shape, device: str) -> None:
        batch, width, depth = shape
        self._is_training = workload != INFERENCE
        self._device = device
        kind = models.NETWORKS[CONVNET if workload == INFERENCE else workload]
        network = models.build_network(kind, width, depth)
        self._inputs, self._targets = models.make_examples(network, batch, CPU)
        self._workload = models.Workload(network, device, None, self._is_training, is_fused=True)

    def __call__(self) -> Tensor:
        """Copy the examples to the device, run one step on them, and bring the loss (or the outputs) back."""
        inputs = self._inputs.to(self._device)
        if not self._is_training:
            return self._workload.infer(inputs).to(CPU)
        return self._workload.train(inputs, self._targets.to(self._device)).to(CPU)

    def check(self) -> Check:
        """Compare the outputs of the network with those of a copy of it in float64 on the CPU."""
        network = self._workload.network
        with torch.no_grad():
            got = network(self._inputs.to(self._device)).to(CPU).double()
            twin = copy.deepcopy(network).to(CPU).double()
            exact = twin(self._inputs.double() if self._inputs.is_floating_point() else self._inputs)
        return judge_product(Dtype.FP32, got, exact)
