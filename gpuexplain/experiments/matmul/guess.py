"""Guess first: from which size will the wider side win?"""

from gpuexplain.experiments.contract import Question
from gpuexplain.experiments.matmul.conclude import MatmulFindings
from gpuexplain.experiments.matmul.spec import CPU, CPU_ONE_THREAD, GPU_CALL, LARGEST_SIDE, SMALLEST_SIDE
from gpuexplain.wording.phrases import say_n


def ask(has_gpu: bool) -> str:
    """Return the question."""
    who = "the GPU beat the CPU" if has_gpu else "all CPU threads beat one"
    return f"From which n will {who}?"


def find_answer(findings: MatmulFindings) -> float | None:
    """Return the measured crossover of this machine's pair, None while there is none."""
    for pair in ((CPU, GPU_CALL), (CPU_ONE_THREAD, CPU)):
        for found in findings.pairs:
            sides = (found.baseline, found.challenger)
            if tuple(s.series for s in sides) == pair and all(s.is_measured for s in sides):
                return found.crossover.estimate or found.crossover.high
    return None


_SIDES = tuple(float(2**e) for e in range(SMALLEST_SIDE.bit_length() - 1, LARGEST_SIDE.bit_length()))
QUESTION = Question(ask, _SIDES, lambda n: say_n(round(n)), find_answer)
