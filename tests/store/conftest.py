"""A store in a temporary folder, and points whose content is plain to see."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuexplain.model import Dtype, Point
from gpuexplain.store.runs import RunStore


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    """The URL of a database that does not exist yet."""
    return f"sqlite:///{tmp_path / 'home' / 'runs.db'}"


@pytest.fixture
def store(store_url: str) -> Iterator[RunStore]:
    """An empty store."""
    opened = RunStore(store_url)
    yield opened
    opened.close()


@pytest.fixture
def make_point() -> Callable[..., Point]:
    """Make a point of side n."""

    def make(n: int = 64, **fields: object) -> Point:
        plain = {
            "experiment": "matmul",
            "series": "cpu",
            "x": n,
            "shape": (n, n, n),
            "dtype": Dtype.FP32,
            "device": "cpu",
            "samples_s": (0.1, 0.2, 0.3),
            "calls_per_sample": (1, 1, 1),
            "n_samples": 3,
            "median_s": 0.2,
        }
        return Point.model_validate(plain | fields)

    return make


@pytest.fixture
def begin_run(store: RunStore) -> Callable[..., str]:
    """Create a run in the store."""

    def begin(experiment: str = "matmul", key: str = "key", device: str = "cpu", **fields: object) -> str:
        return store.create_run(
            experiment=experiment,
            measuring_version=1,
            key=key,
            params={"preset": "quick"},
            device=device,
            **fields,  # type: ignore[arg-type]
        )

    return begin
