"""The crowd before a running job: who is counted, and how often each page asks."""

import pytest

from gpuexplain.ui.viewers import Viewers, is_out_of_step, poll_interval_s


def test_all_jobs_share_the_polls_of_the_process() -> None:
    """Seven people before three jobs are seven; a second look does not count again."""
    viewers = Viewers()
    for number in range(7):
        viewers.note(f"run-{number % 3}", f"tab-{number}")
    assert viewers.note("run-0", "tab-0") == 7


def test_who_has_left_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed tab asks no more."""
    now = [100.0]
    monkeypatch.setattr("gpuexplain.ui.viewers.time.monotonic", lambda: now[0])
    viewers = Viewers()
    viewers.note("run", "gone")
    now[0] += 15.0
    assert viewers.note("run", "here") == 1


@pytest.mark.parametrize(("n_viewers", "wanted_s"), [(1, 0.5), (5, 0.5), (20, 2.0), (70, 7.0)])
def test_the_process_answers_ten_polls_a_second_at_most(n_viewers: int, wanted_s: float) -> None:
    """Each page asks the less often the more there are."""
    assert poll_interval_s(n_viewers) == wanted_s


@pytest.mark.parametrize(
    ("interval_s", "n_viewers", "wanted"),
    [(0.5, 1, False), (0.5, 14, False), (0.5, 15, True), (6.0, 60, False), (6.0, 21, False), (6.0, 20, True)],
)
def test_a_page_changes_its_interval_only_when_it_pays(interval_s: float, n_viewers: int, wanted: bool) -> None:
    """When the crowd is three times as large, or a third."""
    assert is_out_of_step(interval_s, n_viewers) is wanted
