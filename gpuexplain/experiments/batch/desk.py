"""Everything one device needs to run steps: the network, its examples, its memory and its guard (torch)."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from gpuexplain.experiments.batch.correctness import judge_outputs
from gpuexplain.experiments.batch.spec import BatchParams
from gpuexplain.measuring.cuda import explained_errors
from gpuexplain.measuring.memory import (
    DeviceMemory,
    ResidentMemory,
    data_limit,
    no_data_limit,
    read_freed_bytes,
    read_process_bytes,
    return_freed_memory,
)
from gpuexplain.measuring.models import NETWORKS, Workload, build_network, make_examples
from gpuexplain.measuring.stopwatch import Check, DeviceLostError, OutOfMemoryError
from gpuexplain.measuring.torch_setup import TORCH_DTYPES
from gpuexplain.model import Dtype, Gauges
from gpuexplain.units import format_size

# Examples that are compared with float64.
REFERENCE_ROWS = 4
# How libraries say that an allocation failed, besides torch's own words. None of it poisons a device.
_MEMORY_TEXTS = (
    "std::bad_alloc",
    "could not create a primitive",  # oneDNN, on a CPU
    "could not execute a primitive",
    "could not create a memory",
    "ALLOC_FAILED",  # cuDNN
    "ALLOCATION_FAILED",
    "unable to find an engine",  # cuDNN, where no algorithm's workspace fits
)


class Desk:
    """One device at work on one model; one batch is bound at a time, smaller ones are views of the largest."""

    def __init__(
        self, params: BatchParams, device: str, dtype: Dtype, limit_bytes: int | None, *, is_alone: bool = False
    ) -> None:
        """Build the network; ``limit_bytes`` is what this run may fill, ``is_alone`` that no other process is there."""
        self._params, self._device, self._dtype = params, device, dtype
        self._limit_bytes, self._is_alone = limit_bytes, is_alone
        self._is_cpu = device == "cpu"
        self._memory = ResidentMemory() if self._is_cpu else DeviceMemory(device, torch.cuda)
        held_bytes = read_process_bytes("VmData") if self._is_cpu and limit_bytes else None
        self._data_limit_bytes = held_bytes - read_freed_bytes() + (limit_bytes or 0) if held_bytes else None
        self._examples: tuple[Tensor, Tensor] | None = None
        self._reference: Tensor | None = None
        with self.guard():
            network = build_network(NETWORKS[params.model], *params.shape)
            half = TORCH_DTYPES[dtype] if dtype is not Dtype.FP32 else None
            self._workload = Workload(network, device, half, params.is_training, is_fused=True)
        self._inputs = self._targets = torch.empty(0)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Keep a call within the memory of this run, and say in words what goes wrong.

        Raises:
            OutOfMemoryError, LaunchLimitError, UnsupportedError, DeviceLostError: See ``explained_errors``.
        """
        is_full = False
        try:
            with data_limit(self._find_data_limit()), explained_errors():
                yield
        except OutOfMemoryError:
            is_full = True
        except DeviceLostError as error:
            if not any(text in str(error) for text in _MEMORY_TEXTS):
                raise
            is_full = True
        if is_full:  # outside the except block: the exception holds the tensors
            limit = f"the {format_size(self._limit_bytes)} that" if self._limit_bytes else "what"
            raise OutOfMemoryError(f"It needs more memory than {limit} this run may fill")

    def _find_data_limit(self) -> int | None:
        """Holes that earlier steps left in the heap are no need of this one."""
        return None if self._data_limit_bytes is None else self._data_limit_bytes + read_freed_bytes()

    # -- examples -----------------------------------------------------------------------------------

    def bind(self, batch: int) -> None:
        """Make ``batch`` examples what the next steps work on.

        Raises:
            OutOfMemoryError: If they do not fit.
        """
        if self._examples is None or len(self._examples[0]) < batch:
            self._drop_examples()
            with self.guard():
                self._examples = make_examples(self._workload.network, batch, self._device)
        self._inputs, self._targets = self._examples[0][:batch], self._examples[1][:batch]

    def _drop_examples(self) -> None:
        self._examples = None
        self._inputs = self._targets = torch.empty(0)

    def step(self) -> Tensor:
        """Run one step on the bound examples: this is what is timed."""
        if self._params.is_training:
            return self._workload.train(self._inputs, self._targets)
        return self._workload.infer(self._inputs)

    def release(self) -> None:
        """Give back what a step that ran out of memory left behind."""
        self._drop_examples()
        for parameter in self._workload.network.parameters():
            parameter.grad = None
        gc.collect()
        if self._is_cpu:
            return_freed_memory()
        else:
            torch.cuda.empty_cache()

    # -- checks -------------------------------------------------------------------------------------

    def measure_memory(self) -> Gauges:
        """Return the peak of one step on the bound examples, as if no larger batch had been made."""
        assert self._examples is not None
        inputs = {
            "all_inputs_bytes": sum(rows.nbytes for rows in self._examples),
            "own_inputs_bytes": self._inputs.nbytes + self._targets.nbytes,
        }
        if isinstance(self._memory, DeviceMemory):
            gauges = self._memory.measure_peak(self.step, **inputs, has_device_alone=self._is_alone)
        else:
            gauges = self._memory.measure_peak(self.step, **inputs)
        return gauges.model_copy(update={"memory_limit_bytes": self._limit_bytes})

    def check(self, *, is_smallest: bool) -> Check:
        """Compare outputs with float64: of every batch in inference, of the smallest one in training.

        Training mixes the examples of a batch (batch norm) and moves the weights, so there is no one
        reference; larger batches must only have a finite loss.
        """
        if self._params.is_training and not is_smallest:
            return self._judge(self.step(), None)
        with torch.no_grad():
            outputs = self._workload.forward(self._inputs)
        return self._judge(outputs[:REFERENCE_ROWS], self._find_reference())

    def _find_reference(self) -> Tensor:
        """Return the outputs of the first rows in float64 on the CPU, kept where they stay true."""
        if self._reference is not None and not self._params.is_training:
            return self._reference
        with no_data_limit():  # the twin is no part of the measurement
            twin = build_network(NETWORKS[self._params.model], *self._params.shape).double()
            twin.train(self._params.is_training)
            twin.load_state_dict(self._workload.network.state_dict())
            n_rows = len(self._inputs) if self._params.is_training else REFERENCE_ROWS
            rows, _ = make_examples(twin, n_rows, "cpu")
            with torch.no_grad():
                outputs = twin(rows.double() if rows.is_floating_point() else rows)
        self._reference = outputs[:REFERENCE_ROWS].clone()
        return self._reference

    def _judge(self, outputs: Tensor, reference: Tensor | None) -> Check:
        got = outputs.detach().cpu().double()
        nan_count, inf_count = int(got.isnan().sum()), int(got.isinf().sum())
        rel_error = None
        if reference is not None and not nan_count + inf_count:
            wanted = reference[: len(got)]
            rel_error = float((got - wanted).norm() / wanted.norm())
        return judge_outputs(self._dtype, rel_error, nan_count, inf_count)
