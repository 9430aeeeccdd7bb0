"""Examples that must be unpacked before they can be used, as images and records of real data sets (torch)."""

import zlib

import numpy as np
import torch
from torch.utils.data import Dataset

SEED = 0
N_KEPT = 512  # packed examples that are kept; a data set repeats them


class PackedExamples(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Examples kept compressed in memory: each is unpacked and scaled when it is asked for."""

    def __init__(self, inputs: torch.Tensor, targets: torch.Tensor, n_examples: int, unpackings: int = 1) -> None:
        """Pack the rows of ``inputs``; ``n_examples`` is the length, for which the rows repeat.

        ``unpackings`` is how often an example is unpacked when it is asked for: more stand for larger ones.
        """
        self._unpackings = unpackings
        self._is_whole = not inputs.is_floating_point()
        self._shape = tuple(inputs.shape[1:])
        rows = inputs if self._is_whole else (inputs * 127).to(torch.int8)
        self._packed = [zlib.compress(row.numpy().tobytes(), 1) for row in rows[:N_KEPT]]
        self._kind = rows.numpy().dtype
        self._targets = targets
        self._n_examples = n_examples

    def __len__(self) -> int:
        return self._n_examples

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        at = index % len(self._packed)
        for _ in range(self._unpackings - 1):
            zlib.decompress(self._packed[at])
        row = np.frombuffer(zlib.decompress(self._packed[at]), dtype=self._kind).reshape(self._shape)
        values = torch.from_numpy(row.astype(np.int64 if self._is_whole else np.float32))
        return (values if self._is_whole else values / 127), self._targets[at]


class ReadyExamples(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Examples that lie in memory as they are used."""

    def __init__(self, inputs: torch.Tensor, targets: torch.Tensor, n_examples: int) -> None:
        self._inputs, self._targets, self._n_examples = inputs, targets, n_examples

    def __len__(self) -> int:
        return self._n_examples

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        at = index % len(self._inputs)
        return self._inputs[at], self._targets[at]
