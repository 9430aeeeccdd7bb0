"""The documents keep up with the code."""

import re
from pathlib import Path

import pytest

from gpuexplain.cli import app
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_readme_names_every_setting(name: str) -> None:
    """An operator finds each variable there."""
    assert f"`GPUEXPLAIN_{name.upper()}`" in (ROOT / "README.md").read_text()


def test_readme_names_every_command() -> None:
    """A newcomer finds each command there."""
    text = (ROOT / "README.md").read_text()
    names = [c.name or c.callback.__name__ for c in app.registered_commands if c.callback]
    assert [name for name in names if f"gpuexplain {name}" not in text] == []


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_every_experiment_has_its_document_and_page(name: str) -> None:
    """One folder, one page, one document."""
    assert (ROOT / "docs" / "experiments" / f"{name}.md").is_file()
    assert (ROOT / "pages" / f"{name}.py").is_file()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_resolve(document: Path) -> None:
    """No link leads nowhere."""
    targets = re.findall(r"\]\(([^)#:]+)\)", document.read_text())
    assert [target for target in targets if not (document.parent / target).exists()] == []
