"""One layer by hand: what is one layer made of?"""

from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui.by_hand import show_worked_sum
from gpuexplain.ui.lab import show_lab

show_lab(EXPERIMENTS["by_hand"])
show_worked_sum()
