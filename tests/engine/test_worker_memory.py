"""A worker that waits for its next job keeps nothing that others on the GPU could use."""

import gc
import io
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_measure import MODULE

from gpuexplain.engine.host_lock import HostLock
from gpuexplain.engine.protocol import ExitRequest, FinishedEvent, RunRequest, decode_event
from gpuexplain.engine.worker import Worker, give_back_memory
from gpuexplain.engine.worker_session import Channel


class FakeCuda:
    """Counts how often the cache was emptied; a poisoned one raises."""

    def __init__(self, initialized: bool = True, poisoned: bool = False) -> None:
        self.initialized, self.poisoned, self.n_emptied = initialized, poisoned, 0

    def is_initialized(self) -> bool:
        return self.initialized

    def empty_cache(self) -> None:
        self.n_emptied += 1
        if self.poisoned:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")


def put_in(monkeypatch: pytest.MonkeyPatch, cuda: FakeCuda) -> FakeCuda:
    """Put a stand-in of torch in its place."""
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    return cuda


def test_the_cache_is_emptied_after_every_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its answer was sent, so that nobody waits for it."""
    cuda, pipe = put_in(monkeypatch, FakeCuda()), io.BytesIO()
    worker = Worker(Channel(pipe), HostLock(tmp_path), [MODULE])
    for job_id in ("a", "b"):
        request = RunRequest(job_id=job_id, measure_module=MODULE, params={"script": "point"})
        worker._take(request)
    worker._take(ExitRequest())
    worker.serve()
    answers = [decode_event(line) for line in pipe.getvalue().splitlines()]
    assert [answer.job_id for answer in answers if isinstance(answer, FinishedEvent)] == ["a", "b"]
    assert cuda.n_emptied == 2


@pytest.mark.parametrize("cuda", [FakeCuda(initialized=False), None], ids=["no GPU in use", "no torch"])
def test_no_context_is_made_only_to_empty_it(monkeypatch: pytest.MonkeyPatch, cuda: FakeCuda | None) -> None:
    """Asking torch for its cache would begin one on a GPU."""
    if cuda is None:
        monkeypatch.delitem(sys.modules, "torch", raising=False)
    else:
        put_in(monkeypatch, cuda)
    give_back_memory()
    assert cuda is None or cuda.n_emptied == 0


def test_a_poisoned_context_does_not_end_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has told the runner already that it must be replaced."""
    cuda = put_in(monkeypatch, FakeCuda(poisoned=True))
    give_back_memory()
    assert cuda.n_emptied == 1


def test_what_holds_itself_is_freed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors of a model refer to each other in circles."""
    put_in(monkeypatch, FakeCuda())

    class Circle:
        pass

    gc.disable()
    try:
        circle = Circle()
        circle.itself = circle  # type: ignore[attr-defined]
        seen = weakref.ref(circle)
        del circle
        assert seen() is not None
        give_back_memory()
        assert seen() is None
    finally:
        gc.enable()


def test_freed_memory_goes_back_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the C library would keep for later counts as taken from others."""
    put_in(monkeypatch, FakeCuda())
    calls: list[int] = []
    monkeypatch.setattr("gpuexplain.engine.worker.return_freed_memory", lambda: calls.append(1))
    give_back_memory()
    assert calls == [1]
