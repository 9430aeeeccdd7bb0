"""What do the records of a crowd say, beside what was wanted?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.report import Figure
from gpuexplain.store.run import RunState
from gpuexplain.units import format_size, format_time

if TYPE_CHECKING:
    from benchmarks.crowd import Plan, Seen

MOST_PAGE_S = 2.0  # 95th percentile, on 2 cores


def tell_crowd(plan: Plan, seen: Seen) -> list[Figure]:
    """Return the figures of one crowd."""
    return [*_tell_service(plan, seen), *_tell_flights(plan, seen), *_tell_speed(seen), *_tell_cost(seen)]


def _tell_service(plan: Plan, seen: Seen) -> list[Figure]:
    crowd = f"{plan.n_viewers} watching, {plan.n_clickers} pressing Run at once, {plan.n_keys} different runs"
    return [
        Figure("the crowd", f"{crowd}; {seen.n_sessions} sessions in all"),
        Figure("tracebacks in the server's log", str(seen.n_tracebacks), "0", seen.n_tracebacks == 0),
    ]


def _tell_flights(plan: Plan, seen: Seen) -> list[Figure]:
    n_keys = len(plan.asks)
    counts = Counter(run.key for run in seen.runs)
    is_one_each = len(counts) == n_keys and set(counts.values()) == {1}
    is_done = all(run.state is RunState.DONE for run in seen.runs)
    in_order = [run.id for run in sorted(seen.runs, key=lambda run: run.created_at)]
    as_served = [run.id for run in sorted(seen.runs, key=lambda run: run.started_at or 0.0)]
    longest = max(seen.queue_numbers, default=0)
    n_alike = [len(shown) for shown in seen.endings.values()]
    n_pages = sum(sum(shown.values()) for shown in seen.endings.values())
    is_alike = len(n_alike) == n_keys and set(n_alike) == {1}
    return [
        Figure(
            "measurements for that", f"{len(seen.runs)}, of {len(counts)} keys", "one a key", is_one_each and is_done
        ),
        Figure(
            "pages that end with the result of their key",
            f"{n_pages}; a key's pages show {'one and the same' if is_alike else f'up to {max(n_alike, default=0)}'}",
            "one and the same answer and charts",
            is_alike,
        ),
        Figure("served in the order of asking", "yes" if in_order == as_served else "no", "yes", in_order == as_served),
        Figure(
            "places in the queue that visitors were shown",
            f"1 to {longest}" if longest else "none",
            f"at most {plan.max_queue}",
            0 < longest <= plan.max_queue,
        ),
        Figure("presses turned away in words, then taken later", str(seen.n_refused)),
    ]


def _tell_speed(seen: Seen) -> list[Figure]:
    wanted = f"p95 under {MOST_PAGE_S:g} s"
    rows = [
        ("page time, idle", seen.idle_page_s),
        ("page time while the viewers arrive, ten a second", seen.arrival_page_s),
        ("page time of newcomers while all watch", seen.newcomer_page_s),
        ("answer to a press, all at once", seen.press_s),
        ("answer to a poll", seen.poll_s),
    ]
    return [Figure(name, tell_times(times_s), wanted, p95(times_s) < MOST_PAGE_S) for name, times_s in rows]


def _tell_cost(seen: Seen) -> list[Figure]:
    return [
        Figure("memory per session", format_size(max(0.0, seen.session_bytes))),
        Figure(
            "cores kept busy meanwhile",
            f"{seen.server_cores:.2f} by the app, {seen.client_cores:.2f} by this client; the worker measures besides",
        ),
    ]


def p95(times_s: Sequence[float]) -> float:
    """Return the 95th percentile in seconds; infinity where nothing was timed."""
    return float(np.percentile(times_s, 95)) if times_s else float("inf")


def tell_times(times_s: Sequence[float]) -> str:
    """Return median and 95th percentile in words."""
    if not times_s:
        return "not timed"
    return f"p50 {format_time(float(np.median(times_s)))}, p95 {format_time(p95(times_s))} ({len(times_s)} times)"
