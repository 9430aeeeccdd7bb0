"""Has the CUDA path ever been run on a real GPU, and is there a recording to prove it?"""

import re
from importlib.resources import files
from importlib.resources.abc import Traversable

# Any recorded run in which a point was taken on a CUDA device, whatever its layout.
_CUDA_POINT = re.compile(r'"device"\s*:\s*"cuda:\d+"')


def cuda_path_verified(recorded: Traversable | None = None) -> bool:
    """Return whether the package carries a recorded run from a real GPU.

    Args:
        recorded: The folder of recorded runs (JSON); the package's own when None.
    """
    folder = recorded or files("gpuexplain") / "reference" / "recorded"
    if not folder.is_dir():
        return False
    runs = (entry for entry in folder.iterdir() if entry.name.endswith((".json", ".jsonl")))
    return any(_CUDA_POINT.search(entry.read_text(encoding="utf-8")) for entry in runs)
