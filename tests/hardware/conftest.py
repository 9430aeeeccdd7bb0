"""A fake machine under a temporary folder, and a fake driver."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hardware_fakes import FakeGpu, FakeNvml

WriteTree = Callable[[dict[str, str]], Path]


@pytest.fixture
def write_tree(tmp_path: Path) -> WriteTree:
    """Return a function that writes files, by their path from the root, and returns the root."""

    def write(texts: dict[str, str]) -> Path:
        for name, text in texts.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


@pytest.fixture
def one_gpu() -> FakeNvml:
    """Return a driver that reports one GPU with every value."""
    return FakeNvml([FakeGpu()])
