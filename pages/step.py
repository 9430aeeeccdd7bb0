"""Anatomy of a training step: what does it wait for?"""

from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui.lab import show_lab

show_lab(EXPERIMENTS["step"])
