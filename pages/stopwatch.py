"""The stopwatch trap: how wrong can a clock be?"""

from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui.lab import show_lab

show_lab(EXPERIMENTS["stopwatch"])
