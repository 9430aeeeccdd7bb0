"""What every command shares: the program they belong to, its two consoles, how it leaves."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console

from gpuexplain import __version__
from gpuexplain.asked import shown
from gpuexplain.engine.runner import Runner
from gpuexplain.errors import InputError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Point
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.settings import Settings, load_settings
from gpuexplain.store.borrowed import borrow_points
from gpuexplain.store.runs import RunStore, open_store

EXIT_BAD_INPUT = 2
EXIT_NOTHING_MEASURED = 3
EXIT_INTERRUPTED = 130
# torch with a CUDA context takes 5-10 s to load on a slow disk; beyond this something hangs.
PROBE_TIMEOUT_S = 60.0
VISITOR = "command line"

app = typer.Typer(
    help="Measure why GPUs matter for deep learning, on this machine.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
out = Console(soft_wrap=True, highlight=False, markup=False)
err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
RunArgument = Annotated[str, typer.Argument(metavar="ID", help="A run, as `runs` lists it.")]
ExperimentArgument = Annotated[str, typer.Argument(help=f"One of: {', '.join(EXPERIMENTS)}.")]


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version
    if context.invoked_subcommand is None:
        print(context.get_help())


def print_json(row: dict[str, Any]) -> None:
    """Print one object on a line of its own, at once."""
    print(json.dumps(row), flush=True)


def find_experiment(name: str) -> Experiment:
    """Return an experiment by its id.

    Raises:
        InputError: If there is none.
    """
    if name not in EXPERIMENTS:
        raise InputError(f"experiment={shown(name)} cannot be used. Allowed: {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]


def store() -> RunStore:
    """Return the store that the settings name."""
    return open_store(load_settings())


def borrowed_by(experiment: Experiment, machine_id: str) -> tuple[Point, ...]:
    """Return what other experiments measured on a machine, where this one concludes from it too."""
    return borrow_points(store(), experiment.borrows_from, machine_id) if experiment.borrows_from else ()


@contextmanager
def started_runner(settings: Settings, store: RunStore | None = None) -> Iterator[tuple[Runner, Machine]]:
    """Yield a started engine (on the store that the settings name), and this machine as its worker's torch sees it."""
    with Runner(store or open_store(settings), settings) as runner:
        # Where nothing may be measured no worker is started, and nothing comes from it.
        probe = None if settings.read_only else runner.wait_for_probe(PROBE_TIMEOUT_S)
        yield runner, inspect_machine(probe)
