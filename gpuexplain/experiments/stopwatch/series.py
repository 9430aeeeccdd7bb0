"""How the ways to hold the clock, and the lanes of host and device, look and are called."""

from enum import StrEnum

from gpuexplain.charts.theme import Entity
from gpuexplain.experiments.devices import CPU


class Lane(StrEnum):
    """Who is busy."""

    HOST = "host"  # the program is inside the call
    WAIT = "wait"  # the program waits for the device
    DEVICE = "device"  # the work itself

    def series(self, *, waits: bool) -> str:
        """Return the series of this lane: with the host waiting for every call, or only queueing."""
        return f"lane_{self}_{'waiting' if waits else 'queueing'}"


LANES: dict[str, tuple[Lane, bool]] = {
    lane.series(waits=waits): (lane, waits) for lane in Lane for waits in (True, False)
}


def entity_of(device: str) -> Entity:
    """Return whose colour a device has."""
    return Entity.CPU if device == CPU else Entity.GPU
