"""Guess first: how many bytes a second will a copy reach?"""

from gpuexplain.experiments.contract import Question
from gpuexplain.experiments.transfer.claims import is_withheld, plateau_bytes_s
from gpuexplain.experiments.transfer.conclude import TransferFindings
from gpuexplain.units import format_bandwidth


def ask(has_gpu: bool) -> str:
    """Return the question."""
    # A GPU is in the machine: the copy goes to it.
    if has_gpu:
        return "How fast is a large copy to the GPU at best?"
    # None is: what is measured is a memory copy.
    return "How fast is a large copy within main memory? (Without a GPU there is no transfer to measure.)"


def find_answer(findings: TransferFindings) -> float | None:
    """Return the measured rate in bytes per second, None while there is none."""
    leader = findings.headline
    if leader is None or not leader.is_measured or is_withheld(findings, leader):
        return None
    return plateau_bytes_s(leader)


# From a slow disk to the memory of a GPU.
_RATES = tuple(2**power * 1e9 for power in range(-2, 11))
QUESTION = Question(ask, _RATES, format_bandwidth, find_answer)
