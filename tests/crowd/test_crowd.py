"""A small crowd and a short soak, as ``benchmarks`` runs them at full size; times are not judged here."""

from pathlib import Path

import pytest

from benchmarks import crowd, soak
from benchmarks.crowd_figures import tell_crowd
from benchmarks.report import Figure

pytestmark = [pytest.mark.torch, pytest.mark.timeout(180)]
TIMED = ("page time", "answer to")


def missed(figures: list[Figure]) -> list[Figure]:
    """Return the figures that are not as wanted, the times apart."""
    return [figure for figure in figures if figure.holds is False and not figure.name.startswith(TIMED)]


def test_everybody_of_a_crowd_gets_the_result_of_their_key(tmp_path: Path) -> None:
    """One measurement a key, in the order of asking, through a queue that turns some away for a while."""
    plan = crowd.Plan(
        n_viewers=6, n_clickers=6, n_keys=4, first_budget_s=6.0, budget_s=1.0, max_queue=2, n_idle_pages=4
    )
    seen = crowd.gather_crowd(plan, tmp_path)
    assert missed(tell_crowd(plan, seen)) == []
    assert len(seen.runs) == 4
    assert sum(sum(shown.values()) for shown in seen.endings.values()) == 1 + 6 + 6 + 6
    assert seen.n_refused > 0


def test_visitors_come_and_go_and_leave_nothing_running(tmp_path: Path) -> None:
    """No page fails, nothing is written as an error, no process stays. Slopes need minutes: see the benchmark."""
    soaked = soak.soak(soak.Plan(run_s=1.0, n_visitors=3, warm_sessions=1, warm_runs=1), tmp_path)
    assert dict(soaked.failed) == {}
    assert (soaked.n_tracebacks, soaked.n_orphans) == (0, 0)
    assert soaked.did["sessions"] >= 5
    assert soaked.did["presses of Run"] >= 1
    assert soaked.n_rounds == 1
    assert soaked.app
    assert soaked.worker
