"""The documents keep up with the code."""

import re
from pathlib import Path

import pytest

from gpuexplain.cli import app
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SHIPPED = [*DOCUMENTS, ROOT / "Dockerfile", ROOT / "Makefile"]


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_readme_names_every_setting(name: str) -> None:
    """An operator finds each variable in the table, with its default."""
    assert f"\n| `GPUEXPLAIN_{name.upper()}` | " in README


def test_readme_names_every_command() -> None:
    """A newcomer finds each command there."""
    names = [c.name or c.callback.__name__ for c in app.registered_commands if c.callback]
    assert names
    assert [name for name in names if f"gpuexplain {name}" not in README] == []


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_every_experiment_has_its_document_and_page(name: str) -> None:
    """One folder, one page, one document, which names every parameter."""
    assert (ROOT / "pages" / f"{name}.py").is_file()
    text = (ROOT / "docs" / "experiments" / f"{name}.md").read_text(encoding="utf-8")
    fields = EXPERIMENTS[name].params_type.model_fields
    assert [field for field in fields if f"`{field}`" not in text] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_resolve(document: Path) -> None:
    """No link leads nowhere, nor to a heading that is not there."""
    broken = []
    for target in re.findall(r"\]\(([^):]+)\)", document.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        linked = document.parent / name if name else document
        if not linked.exists() or (anchor and anchor not in _anchors(linked)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("document", SHIPPED, ids=lambda path: path.name)
def test_documents_name_no_folder_of_the_machine_they_were_written_on(document: Path) -> None:
    """They are true on every machine."""
    assert re.findall(r"(?<![\w.])/(?:work|root|home|tmp|Users)/\S*", document.read_text(encoding="utf-8")) == []


def _anchors(document: Path) -> set[str]:
    """Return the addresses of a document's headings."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
