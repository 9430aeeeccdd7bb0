"""Do you need a GPU? Everyday work on what there is, and an adviser for your own."""

from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui.adviser import show_adviser
from gpuexplain.ui.lab import show_lab

show_lab(EXPERIMENTS["need"])
show_adviser()
