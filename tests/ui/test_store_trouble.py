"""Without a store every page opens, and says what is wrong and what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from gpuexplain.errors import StoreError
from gpuexplain.ui import engine_access
from gpuexplain.ui import tour as touring

PAGES = sorted(path.stem for path in (Path(__file__).resolve().parents[2] / "pages").glob("*.py"))
TOLD = "Cannot open the store (runs.db): disk full. Free some space on that disk."


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_without_a_store(
    open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """No traceback; the reason stands in the sidebar and, where a store is needed, on the page."""

    def fail(*_: object) -> None:
        raise StoreError(TOLD)

    for place in ("get_store", "get_runner", "get_machine"):
        monkeypatch.setattr(engine_access, place, fail)
    monkeypatch.setattr(touring, "get_guide", fail)
    page = open_page(name)
    assert not page.exception
    shown = [box.value.replace("\\", "") for box in (*page.error, *page.sidebar.warning)]
    assert any(TOLD in text for text in shown), shown
