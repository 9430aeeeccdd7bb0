"""Matrix multiply: from which size does the GPU win?"""

from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui.lab import show_lab

show_lab(EXPERIMENTS["matmul"])
