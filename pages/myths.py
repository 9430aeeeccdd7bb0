"""Myths on trial: which of six misconceptions hold on this machine?"""

from gpuexplain.ui.myths import show_myths

show_myths()
