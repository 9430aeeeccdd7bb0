"""How we measure: the method, generated from the constants that the code uses."""

from gpuexplain.ui.method import show_method

show_method()
