"""The worked sum of one layer."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest
from ui_fakes import html_of

Open = Callable[..., AppTest]


def test_the_sum_is_worked_out_and_counted(open_page: Open) -> None:
    """Six multiplications and four additions, before anything is measured."""
    shown = html_of(open_page("by_hand"))
    assert "y1 = 1 x 4 + 2 x 6 + 3 x 8 = 40" in shown
    assert "6 multiplications, 4 additions" in shown


def test_changing_a_number_changes_the_sums(open_page: Open) -> None:
    """The first input goes into both outputs."""
    at = open_page("by_hand")
    at.number_input(key="by_hand_x1").set_value(10.0).run()
    shown = html_of(at)
    assert "10 x 4 + 2 x 6 + 3 x 8 = 76" in shown
    assert "10 x 5 + 2 x 7 + 3 x 9 = 91" in shown


def test_an_output_can_be_highlighted(open_page: Open) -> None:
    """The other one steps back."""
    at = open_page("by_hand")
    at.segmented_control(key="by_hand_output").set_value("y2").run()
    assert '<li class="gx-chosen">y2' in html_of(at)
