"""How the ways to add and the kinds of workers are called."""

from gpuexplain.experiments.workers.spec import SUM_ALL, SUM_LOOP, SUM_NUMPY, SUM_ONE

SUM_NAMES: dict[str, str] = {
    SUM_LOOP: "Python loop",
    SUM_NUMPY: "NumPy",
    SUM_ONE: "torch, 1 thread",
    SUM_ALL: "torch, all threads",
}
