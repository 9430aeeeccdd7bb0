"""What a run may take of a GPU's memory: a share of what is free when it begins, never of the whole card."""

import pytest

torch = pytest.importorskip("torch")

from gpuexplain.measuring import torch_setup  # noqa: E402
from gpuexplain.measuring.torch_setup import use_devices  # noqa: E402
from gpuexplain.settings import Settings  # noqa: E402

pytestmark = pytest.mark.torch
GIB = 2**30


@pytest.mark.parametrize(
    ("free_gib", "share", "fraction"),
    [(80, 0.8, 0.8), (10, 0.8, 0.1), (10, 0.5, 0.0625), (80, 1.0, 1.0), (0, 0.8, 0.0)],
    ids=["an empty card", "a colleague holds most", "a smaller share", "all of it", "a full card"],
)
def test_the_cap_is_a_share_of_what_is_free(
    monkeypatch: pytest.MonkeyPatch, free_gib: int, share: float, fraction: float
) -> None:
    """torch is told the fraction of the whole card of 80 GiB; the CPU has no such cap."""
    said: list[tuple[str, object]] = []
    monkeypatch.setattr(torch_setup, "load_settings", lambda: Settings(max_device_memory=share))
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: said.append(("current", str(device))))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free_gib * GIB, 80 * GIB))
    monkeypatch.setattr(
        torch.cuda, "set_per_process_memory_fraction", lambda part, device: said.append((str(device), part))
    )
    use_devices(["cpu", "cuda:1"])
    assert said == [("current", "cuda:1"), ("cuda:1", pytest.approx(fraction))]
