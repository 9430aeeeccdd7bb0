"""The table of all claims, as docs/claims.md shows it: ``python -m gpuexplain.trial.document`` prints it."""

from collections.abc import Iterator

from gpuexplain.trial.claims import CLAIMS, Kind, Reading
from gpuexplain.trial.myths import MYTHS
from gpuexplain.wording.markup import plain


def claims_table() -> str:
    """Return the rows of every claim and myth: number, kind, text, the labs, and where the verdict stands."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "| claim | | in our words | labs | where the verdict stands | judged by |"
    yield "|---|---|---|---|---|---|"
    for claim in CLAIMS:
        labs = ", ".join(f"`{lab}`" for lab in claim.labs)
        yield f"| {claim.number} | {claim.kind} | {plain(claim.text)} | {labs} | {_where(claim.reading)}"
    for myth in MYTHS:
        readings = [question.reading for question in myth.questions]
        labs = ", ".join(dict.fromkeys(f"`{reading.lab}`" for reading in readings))
        places = "<br>".join(f"`{reading.lab}`: {reading.where}" for reading in readings)
        judges = "<br>".join(f"`{reading.judge.__name__}`" for reading in readings)
        yield f"| {myth.id} | {Kind.TESTED} | “{myth.text}” | {labs} | {places} | {judges} |"


def _where(reading: Reading | None) -> str:
    if reading is None:
        return "shown on the page | |"
    return f"{reading.where} | `{reading.judge.__name__}` |"


if __name__ == "__main__":
    print(claims_table(), end="")
