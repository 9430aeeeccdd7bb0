"""``myths``: how the six misconceptions and the article's claims stand on this machine."""

import time

from gpuexplain.cli.root import JsonOption, app, out, print_json, store
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.store.run import RunSummary
from gpuexplain.trial.account import trial_json, trial_lines
from gpuexplain.trial.court import hold_trial
from gpuexplain.trial.evidence import Exhibit, exhibit_of, gather


@app.command()
def myths(as_json: JsonOption = False) -> None:
    """Put the six misconceptions and the article's claims on trial, with the runs of this machine in the store."""
    runs = store()

    def make_exhibit(experiment: Experiment, run: RunSummary) -> Exhibit:
        return exhibit_of(experiment, runs.load_run(run.id))

    machine = inspect_machine()
    exhibits = gather(tuple(EXPERIMENTS.values()), machine, runs.list_runs, make_exhibit)
    trial = hold_trial(exhibits, machine)
    if as_json:
        print_json(trial_json(trial))
        return
    for line in trial_lines(trial, time.time()):
        out.print(line)
