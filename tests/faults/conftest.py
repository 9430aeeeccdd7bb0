"""A store that somebody breaks."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faults_made import begin_run

from gpuexplain.settings import Settings
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore, open_store


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The data folder."""
    return tmp_path / "home"


@pytest.fixture
def settings(home: Path) -> Settings:
    """A data folder of the test's own."""
    return Settings(home=home)


@pytest.fixture
def store_file(home: Path) -> Path:
    """Where the store lies."""
    return home / "gpuexplain.db"


@pytest.fixture
def store(settings: Settings) -> Iterator[RunStore]:
    """A store of two ended runs, with the points 1 to 40 and 41 to 80."""
    opened = open_store(settings)
    for first in (1, 41):
        run_id = begin_run(opened, *range(first, first + 40))
        opened.finish_run(run_id, RunState.DONE)
    yield opened
    opened.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount a disk of the size given; only root can, elsewhere the test is skipped."""
    mounted: list[Path] = []

    def mount(size: str) -> Path:
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, text=True
        )
        if done.returncode:
            pytest.skip(f"only root can mount a small disk: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
