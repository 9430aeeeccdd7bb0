"""Does somebody else compute on the GPU that a run wants, so that they should be asked first?"""

from gpuexplain.engine.key import resolve_device
from gpuexplain.errors import ConfirmationError
from gpuexplain.hardware.machine import Machine


def tell_neighbours(device: str, machine: Machine) -> str:
    """Return who else computes on the GPU that ``device`` means here, and what to do; "" if nobody is known to.

    Where the driver's list of processes cannot be told apart from our own (in a container), nobody is known.
    """
    resolved = resolve_device(device, machine)
    gpu = machine.gpu(resolved)
    if gpu is None or not gpu.compute_processes:
        return ""
    who = "Another process computes" if gpu.compute_processes == 1 else f"{gpu.compute_processes} others compute"
    return (
        f"{who} on {gpu.name} ({resolved}) right now. A run takes some of its time and memory, and is itself "
        "measured under load. Choose another device, wait, or confirm that the run may disturb."
    )


def check_neighbours(device: str, machine: Machine) -> None:
    """Refuse a run that would disturb somebody else and that nobody confirmed.

    Raises:
        ConfirmationError: If another process computes on that GPU.
    """
    if neighbours := tell_neighbours(device, machine):
        raise ConfirmationError(neighbours)
