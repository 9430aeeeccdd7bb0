"""One layer by hand: what is one layer made of?"""

from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui.by_hand import make_forecast_panel, show_worked_sum
from gpuexplain.ui.lab import Extras, show_lab

show_lab(EXPERIMENTS["by_hand"], Extras(opening=show_worked_sum, panel=make_forecast_panel))
