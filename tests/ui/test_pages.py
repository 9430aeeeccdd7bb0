"""Home, the method page, the frame: what they say and that nothing fails."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_fakes import html_of

from gpuexplain.measuring import sampling
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui.pages import PAGES, next_lab
from gpuexplain.ui.story import why_next

ROOT = Path(__file__).resolve().parents[2]
Open = Callable[..., AppTest]


def test_every_page_has_its_script() -> None:
    """Only pages that exist are offered, each under its own address."""
    assert all(Path(page.script).is_file() for page in PAGES)
    assert len({page.url_path for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_every_page_opens_on_an_empty_store(open_page: Open, name: str) -> None:
    """No page needs a measurement, and each has exactly one main heading."""
    at = open_page(name)
    assert not at.exception
    assert len(at.title) == 1


def test_the_sidebar_says_what_runs(open_page: Open) -> None:
    """This machine, and what it does now, on every page."""
    at = open_page("matmul")
    assert "Test CPU, 2 threads" in html_of(at)
    assert "Nothing is running" in html_of(at)
    at.button(key="run").click().run()
    at.run()
    assert "Measuring now: Matrix multiply" in html_of(at)


def test_the_method_page_follows_the_constants(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed constant changes the page: no number is written by hand."""
    monkeypatch.setattr(sampling, "UNTIMED_CALLS", 77)
    monkeypatch.setattr(sampling, "TARGET_HALF_WIDTH", 0.055)
    text = html_of(open_page("method"))
    assert "77 untimed calls" in text
    assert "5.5" in text


_NO_TORCH = """
import importlib, pkgutil, sys
from streamlit.testing.v1 import AppTest
import gpuexplain.ui
for module in pkgutil.iter_modules(gpuexplain.ui.__path__, "gpuexplain.ui."):
    if not module.name.endswith(".router"):
        importlib.import_module(module.name)
import app
at = AppTest.from_file({router!r}, default_timeout=60).run()
assert not at.exception, at.exception
for page in ("matmul", "method"):
    at.switch_page(f"../../pages/{{page}}.py").run()
    assert not at.exception, at.exception
loaded = [name for name in sys.modules if name.split(".")[0] == "torch"]
assert not loaded, loaded
print("no torch")
"""


@pytest.mark.torch
def test_the_app_never_loads_torch(tmp_path: Path) -> None:
    """Every module of the app and every page, in one process: torch stays out."""
    pytest.importorskip("importlib.metadata").version("torch")
    router = str(ROOT / "gpuexplain" / "ui" / "router.py")
    environment = {**os.environ, "GPUEXPLAIN_HOME": str(tmp_path), "PYTHONPATH": _with_root()}
    run = subprocess.run(
        [sys.executable, "-c", _NO_TORCH.format(router=router)],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=ROOT,
        env=environment,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert "no torch" in run.stdout


def _with_root() -> str:
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))


@pytest.mark.parametrize(("name", "bad"), [("GPUEXPLAIN_MAX_QUEUE", "many"), ("GPUEXPLAIN_MAX_BUDGET_S", "0")])
def test_a_bad_setting_stops_the_start_with_a_clear_text(name: str, bad: str) -> None:
    """The variable, the value and what is allowed; no traceback."""
    run = subprocess.run(
        [sys.executable, "-c", "import app"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        env={**os.environ, name: bad, "PYTHONPATH": _with_root()},
    )
    assert run.returncode == 2
    assert f"{name}='{bad}' cannot be used. Allowed:" in run.stderr
    assert "Traceback" not in run.stderr


def test_the_story_goes_from_one_layer_to_the_copy_and_home() -> None:
    """Matrix arithmetic, independence, many cores, batching, precision, memory and the copy: each step says why."""
    chapters = ["by_hand"]
    while chapters[-1] != "home":
        following = next_lab(chapters[-1])
        assert following is not None
        assert following.name not in chapters
        assert why_next(following.name)
        chapters.append(following.name)
    assert chapters == ["by_hand", "matmul", "workers", "batch", "precision", "memory", "transfer", "home"]


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_every_lab_leads_somewhere(name: str) -> None:
    """No page is a dead end."""
    following = next_lab(name)
    assert following is not None
    assert following.name != name
    assert why_next(following.name)
