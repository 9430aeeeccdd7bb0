"""The stopwatch trap: how wrong can a clock be?"""

from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui.lab import Extras, show_lab
from gpuexplain.ui.stopwatch import make_mistakes_panel

show_lab(EXPERIMENTS["stopwatch"], Extras(panel=make_mistakes_panel))
