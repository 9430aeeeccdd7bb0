"""Home: this machine, its headline number, and the first measurement one click away."""

from gpuexplain.ui.home import show_home

show_home()
