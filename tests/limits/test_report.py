"""The document of measured figures: each script replaces its own section and no other."""

from pathlib import Path

from benchmarks.report import Figure, print_figures, tell_provisional, write_section


def test_a_section_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    """The sections keep their order, whoever writes first."""
    path = tmp_path / "reliability.md"
    write_section("soak", "python -m soak", [Figure("slope", "0 MiB/min")], path=path)
    write_section("crowd", "python -m crowd", [Figure("sessions", "50", "50", True)], path=path)
    soak_before = path.read_text().partition("<!-- begin soak -->")[2]
    write_section("crowd", "python -m crowd", [Figure("sessions", "6", "50", False)], path=path)
    text = path.read_text()
    assert "| sessions | 6 | 50 | **missed** |" in text
    assert "| sessions | 50 |" not in text
    assert text.partition("<!-- begin soak -->")[2] == soak_before
    assert text.index("## A crowd") < text.index("## A long run")


def test_a_cell_cannot_break_the_table(tmp_path: Path) -> None:
    """Bars and line ends of a message stay in their cell."""
    path = tmp_path / "reliability.md"
    write_section("faults", "python -m kills", [Figure("error", "a | b\nc")], path=path)
    assert "| error | a \\| b c |  |  |" in path.read_text()


def test_figures_taken_beside_other_programs_say_so() -> None:
    """A quiet machine needs no remark."""
    assert tell_provisional(0.05) == ""
    assert tell_provisional(1.26) == (
        "Provisional: other programs kept 1.3 cores busy when it began. Repeat it on a quiet machine."
    )


def test_one_missed_figure_fails_the_script() -> None:
    """Figures without a wish do not."""
    assert print_figures([Figure("a", "1"), Figure("b", "2", "2", True)])
    assert not print_figures([Figure("a", "1"), Figure("b", "2", "3", False)])
