"""Where does a measured figure go? One section of ``docs/reliability.md`` for each script, written by that script.

A section is found by its marks and replaced as a whole; the others stay as they are. Nobody edits the file by hand.
"""

import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.units import format_size
from gpuexplain.wording.machine_words import tell_machine_card

RELIABILITY = Path(__file__).resolve().parents[1] / "docs" / "reliability.md"
# The sections in the order of the document: key -> title.
SECTIONS = {
    "crowd": "A crowd",
    "faults": "Faults",
    "limits": "Hostile input",
    "soak": "A long run",
}
_HEAD = """# Reliability, measured

Every figure below was written by the script that measured it; the command above each table repeats it.
"""
# Beyond this many cores taken by programs that are not ours, a figure says little about us.
QUIET_CORES = 0.1
_QUIET_LOOK_S = 2.0


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of a table: what was measured, what came out, what was wanted and whether it holds."""

    name: str
    found: str
    wanted: str = ""
    holds: bool | None = None  # None: there is nothing to hold

    def __str__(self) -> str:
        """Return the line as a terminal shows it."""
        verdict = {True: "  ok", False: "  MISSED", None: ""}[self.holds]
        return f"{self.name}: {self.found}{f' (wanted: {self.wanted})' if self.wanted else ''}{verdict}"


def busy_cores() -> float:
    """Return how many cores all programs together keep busy; ask it before starting anything."""
    return psutil.cpu_percent(_QUIET_LOOK_S) / 100 * (psutil.cpu_count() or 1)


def tell_provisional(cores: float) -> str:
    """Return what to say of figures taken while others kept ``cores`` busy; "" on a quiet machine."""
    if cores <= QUIET_CORES:
        return ""
    return f"Provisional: other programs kept {cores:.1f} cores busy when it began. Repeat it on a quiet machine."


def print_figures(figures: Sequence[Figure]) -> bool:
    """Print one line each; return whether everything that should hold does."""
    for figure in figures:
        print(figure, flush=True)
    return all(figure.holds is not False for figure in figures)


def write_section(
    key: str,
    command: str,
    figures: Sequence[Figure],
    *,
    provisional: str = "",
    remarks: Sequence[str] = (),
    path: Path = RELIABILITY,
) -> None:
    """Replace the section of one script.

    Args:
        key: One of ``SECTIONS``.
        command: What repeats it, from the root of the checkout.
        figures: The table.
        provisional: Why the figures are to be taken again; ``tell_provisional`` says it.
        remarks: One paragraph each, after the table.
        path: The document.
    """
    sections = _read(path)
    sections[key] = _section(key, command, figures, provisional, remarks)
    parts = [_HEAD, *(sections[name] for name in SECTIONS if name in sections)]
    path.write_text("\n".join(parts), encoding="utf-8")


def _read(path: Path) -> dict[str, str]:
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    marked = re.compile(r"<!-- begin (\w+) -->\n.*?<!-- end \1 -->\n", re.DOTALL)
    return {found[1]: found[0] for found in marked.finditer(text)}


def _section(key: str, command: str, figures: Sequence[Figure], provisional: str, remarks: Sequence[str]) -> str:
    lines = [f"<!-- begin {key} -->", f"## {SECTIONS[key]}", ""]
    lines += [f"`{command}`, {time.strftime('%Y-%m-%d')}, on {_machine()}.", ""]
    lines += [f"**{provisional}**", ""] if provisional else []
    lines += ["| | measured | wanted | |", "|---|---|---|---|"]
    lines += [f"| {_cell(f.name)} | {_cell(f.found)} | {_cell(f.wanted)} | {_verdict(f)} |" for f in figures]
    for remark in remarks:
        lines += ["", remark]
    return "\n".join([*lines, f"<!-- end {key} -->", ""])


def _verdict(figure: Figure) -> str:
    return {True: "holds", False: "**missed**", None: ""}[figure.holds]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _machine() -> str:
    machine = inspect_machine(None)
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return f"{tell_machine_card(machine).headline}, {format_size(machine.memory.total_bytes)} of memory, {python}"
