"""Transfer: what does moving the data cost?"""

from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui.lab import show_lab

show_lab(EXPERIMENTS["transfer"])
