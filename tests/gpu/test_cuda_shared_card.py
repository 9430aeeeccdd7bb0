"""On a real GPU: a worker that waits keeps no memory but its context, and others on the card are seen."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("torch sees no CUDA device", allow_module_level=True)

from gpuexplain.engine.neighbours import tell_neighbours  # noqa: E402
from gpuexplain.engine.worker import give_back_memory  # noqa: E402
from gpuexplain.hardware.cpu import inspect_cpu  # noqa: E402
from gpuexplain.hardware.inspect import inspect_machine  # noqa: E402
from gpuexplain.measuring.probe import probe_torch  # noqa: E402

DEVICE = "cuda:0"
_NEIGHBOUR = """
    import sys, torch
    held = torch.ones(2**20, device="cuda:0")
    torch.cuda.synchronize()
    print("computes", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def neighbour() -> Iterator[None]:
    """Another process on the GPU; not a child of ours, for our own children count as ours."""
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {textwrap.dedent(_NEIGHBOUR)!r}])"
    process = subprocess.Popen(
        ["setsid", "--fork", sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "computes\n"
    yield
    process.stdin.close()
    process.stdout.read()
    process.wait()


def test_a_waiting_worker_keeps_no_memory() -> None:
    """What was reserved for tensors goes back to the card."""
    held = torch.ones(64 * 2**20 // 4, device=DEVICE)
    torch.cuda.synchronize()
    assert torch.cuda.memory_reserved(DEVICE) >= 64 * 2**20
    del held
    give_back_memory()
    assert torch.cuda.memory_reserved(DEVICE) < 64 * 2**20


def test_somebody_else_on_the_card_is_seen(neighbour: None) -> None:
    """Where the driver's process numbers are ours; a container may hide them."""
    machine = inspect_machine(probe_torch(inspect_cpu().usable_threads))
    gpu = machine.gpu(DEVICE)
    assert gpu is not None
    if gpu.compute_processes is None:
        pytest.skip(f"not told here: {gpu.not_reported.get('compute_processes', '')}")
    assert gpu.compute_processes >= 1, os.getpid()
    assert "right now" in tell_neighbours(DEVICE, machine)
