"""The command line: the same measuring, store and conclusions as the pages, without a browser."""

from gpuexplain.cli.main import main
from gpuexplain.cli.root import app

__all__ = ["app", "main"]
