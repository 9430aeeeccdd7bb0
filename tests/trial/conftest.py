"""The makers of points of every lab, wherever its tests lie."""

import sys
from pathlib import Path

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"
for folder in sorted(EXPERIMENTS.iterdir()):
    if folder.is_dir() and str(folder) not in sys.path:
        sys.path.append(str(folder))
