"""Precision: how many bits does a number need?"""

from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui.lab import show_lab

show_lab(EXPERIMENTS["precision"])
