"""Guess first: how many times as fast as fp32 is bf16 here?"""

from gpuexplain.experiments.contract import Question
from gpuexplain.experiments.precision.found import PrecisionFindings
from gpuexplain.findings import Speedup
from gpuexplain.model import Dtype
from gpuexplain.units import format_significant

_FACTORS = (0.01, 0.03, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


def ask(has_gpu: bool) -> str:
    """Return the question."""
    return f"How many times as fast as fp32 is bf16 on this {'GPU' if has_gpu else 'CPU'}?"


def say(factor: float) -> str:
    """Return a factor in words."""
    return f"{format_significant(factor, 2)} times"


def find_answer(findings: PrecisionFindings) -> float | None:
    """Return the measured factor of bf16 over fp32, None while there is none."""
    device = findings.headline
    if device is None or not device.is_measured:
        return None
    found = device.of(Dtype.BF16)
    return found.speedup.factor if found is not None and isinstance(found.speedup, Speedup) else None


QUESTION = Question(ask, _FACTORS, say, find_answer)
