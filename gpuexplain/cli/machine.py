"""``doctor``: what is this machine, what can it measure, and what went wrong lately?"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from gpuexplain import __version__
from gpuexplain.cli.printing import print_table
from gpuexplain.cli.root import JsonOption, app, out, print_json, started_runner
from gpuexplain.errors import StoreDamagedError, StoreError
from gpuexplain.hardware.machine import Machine
from gpuexplain.settings import Settings, load_settings
from gpuexplain.store.redaction import hide_secrets
from gpuexplain.store.run import FAILURES, RunSummary
from gpuexplain.store.runs import RunStore, open_store
from gpuexplain.units import format_age, format_time
from gpuexplain.wording.machine_words import Section, doctor_rows

SHOWN_FAILURES = 5


@dataclass(frozen=True, slots=True)
class StoreReport:
    """How the store is."""

    problem: str = ""  # why it cannot be used, and what to do
    notices: tuple[str, ...] = ()
    failures: tuple[RunSummary, ...] = ()  # newest first


@app.command()
def doctor(as_json: JsonOption = False) -> None:
    """Tell what this machine is, why there is no GPU where there is none, how the store is, what failed lately."""
    settings = load_settings()
    with _any_store(settings) as store, started_runner(settings, store) as (_, machine):
        report = _look_at_store(settings)
    if as_json:
        print_json(_as_json(machine, report))
        return
    for section in (*doctor_rows(machine), _settings_section(settings, report), *_failures_section(report)):
        table = Table(title=section.title, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
        for label, text in section.rows:
            table.add_row(label, text)
        print_table(table)
        out.print()


@contextmanager
def _any_store(settings: Settings) -> Iterator[RunStore]:
    """Yield the store, or one that is gone afterwards where it cannot be opened: torch can be asked all the same."""
    with tempfile.TemporaryDirectory(prefix="gpuexplain-") as folder:
        try:
            store = open_store(settings)
        except StoreError:
            store = RunStore(f"sqlite:///{Path(folder) / 'none.db'}")
        try:
            yield store
        finally:
            store.close()


def _look_at_store(settings: Settings) -> StoreReport:
    """Return what is wrong with the store and the runs in it."""
    try:
        store = open_store(settings)
        with suppress(StoreDamagedError):  # then it has been replaced, and a notice says so
            store.check_sound()
        store.check_writable()
        return StoreReport("", store.notices, tuple(store.list_runs(limit=SHOWN_FAILURES, states=FAILURES)))
    except StoreError as error:
        return StoreReport(str(error))


def _settings_section(settings: Settings, report: StoreReport) -> Section:
    rows = (
        ("Version", __version__),
        ("Store", hide_secrets(settings.store_url)),
        ("Store works", report.problem or "yes"),
        *(("Store notice", notice) for notice in report.notices),
        ("Longest run", format_time(settings.max_budget_s)),
        ("Queue", f"at most {settings.max_queue} jobs"),
        ("Mode", "read-only: shows, never measures" if settings.read_only else "measures"),
    )
    return Section("GPU Explain", rows)


def _failures_section(report: StoreReport) -> tuple[Section, ...]:
    """Return the runs that ended badly; nothing where the store cannot be read."""
    if report.problem:
        return ()
    rows = tuple((run.id, tell_failure(run, time.time())) for run in report.failures)
    return (Section("Recent failures", rows or (("Runs", "none of those in the store"),)),)


def tell_failure(run: RunSummary, now_s: float) -> str:
    """Return which run ended how, when, with how many points, and why."""
    points = "1 point" if run.n_points == 1 else f"{run.n_points} points"
    age = format_age(max(0.0, now_s - (run.finished_at or run.created_at)))
    return f"{run.experiment} on {run.device}, {run.state} {age}, {points} kept. {run.reason}".strip()


def _as_json(machine: Machine, report: StoreReport) -> dict[str, object]:
    failures = [run.model_dump(mode="json", exclude={"machine"}) for run in report.failures]
    store = {"problem": report.problem, "notices": list(report.notices)}
    return machine.model_dump(mode="json") | {"store": store, "recent_failures": failures}
