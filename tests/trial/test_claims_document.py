"""The document of the claims is the code's table."""

from pathlib import Path

from gpuexplain.trial.document import claims_table

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "claims.md"


def test_the_document_holds_the_table_of_the_code() -> None:
    """`python -m gpuexplain.trial.document` prints it anew."""
    assert claims_table() in DOCUMENT.read_text(encoding="utf-8")
