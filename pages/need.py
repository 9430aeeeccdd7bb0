"""Do you need a GPU? Everyday work on what there is, and an adviser for your own."""

from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui.adviser import show_adviser
from gpuexplain.ui.lab import Extras, show_lab

show_lab(EXPERIMENTS["need"], Extras(below=show_adviser))
