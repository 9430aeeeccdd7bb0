"""The measure module of the batch experiment with the memory of a device that ends at batch 128."""

from typing import Any

import torch

from gpuexplain.experiments.batch import measure as real
from gpuexplain.experiments.batch.desk import Desk
from gpuexplain.measuring.session import Outcome, Session

MODULE = "tests.experiments.batch.injected_oom"
FULL_FROM = 128  # the eighth power of two


class FullDesk(Desk):
    """A device on which a step of 128 examples runs out of memory, half of its work done."""

    def step(self) -> torch.Tensor:
        """Fail as torch fails on a GPU."""
        if len(self._inputs) >= FULL_FROM:
            self.left_behind = torch.empty(1024, 1024)
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return super().step()


def measure(params_json: dict[str, Any], session: Session) -> Outcome:
    """Run the real sweep at such a device."""
    real.Desk = FullDesk  # type: ignore[misc]
    try:
        return real.measure(params_json, session)
    finally:
        real.Desk = Desk
