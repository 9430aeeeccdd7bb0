"""What does the engine need to know to run one job, besides what everybody may see of it?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params, Point


class Measurable(Protocol):
    """The part of an ``Experiment`` that the engine uses."""

    @property
    def id(self) -> str:
        """The experiment's id."""

    @property
    def measuring_version(self) -> int:
        """Raised when the measuring changes; part of the key."""

    @property
    def measure_module(self) -> str:
        """The module whose ``measure`` the worker calls."""

    @property
    def params_type(self) -> Any:
        """The model that the params must be of."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """One accepted request."""

    run_id: str
    key: str
    experiment: str
    measuring_version: int
    measure_module: str
    params: dict[str, Any]  # Params.model_dump(mode="json")
    device: str  # as resolved on this machine
    budget_s: float
    machine: Machine
    created_at: float
    known: tuple[Point, ...] = ()  # of the run that this one goes on with; measured anew, one by one

    @property
    def label(self) -> str:
        """What is measured, in words, for those who wait."""
        return f"{self.experiment} on {self.device}"


def make_ticket(
    experiment: Measurable,
    params: Params,
    machine: Machine,
    *,
    run_id: str,
    key: str,
    device: str,
    now: float,
    known: tuple[Point, ...] = (),
) -> Ticket:
    """Return the ticket of a request."""
    return Ticket(
        run_id=run_id,
        key=key,
        experiment=experiment.id,
        measuring_version=experiment.measuring_version,
        measure_module=experiment.measure_module,
        params=params.model_dump(mode="json"),
        device=device,
        budget_s=params.sweep_budget_s,
        machine=machine,
        created_at=now,
        known=known,
    )


def tell_ahead(labels: Sequence[str]) -> str:
    """Return for whom a queued job waits, nearest the front first."""
    if not labels:
        return ""
    runs = "1 run is" if len(labels) == 1 else f"{len(labels)} runs are"
    return f"{runs} ahead: {', '.join(labels)}"
