"""Guess first: at which batch does the throughput level off?"""

from gpuexplain.experiments.batch.claims import has_knee
from gpuexplain.experiments.batch.conclude import BatchFindings
from gpuexplain.experiments.batch.series import say_batch
from gpuexplain.experiments.contract import Question

LARGEST_GUESS = 2**16


def ask(has_gpu: bool) -> str:
    """Return the question."""
    device = "GPU" if has_gpu else "CPU"
    return f"Which is the smallest batch that gives this {device} 90 % of its best throughput?"


def find_answer(findings: BatchFindings) -> float | None:
    """Return the measured knee, None while none may be named."""
    series = findings.headline_series
    if series is None or not series.is_measured or not has_knee(series) or series.knee.knee_batch is None:
        return None
    return float(series.knee.knee_batch)


_BATCHES = tuple(float(2**power) for power in range(LARGEST_GUESS.bit_length()))
QUESTION = Question(ask, _BATCHES, lambda batch: say_batch(round(batch)), find_answer)
