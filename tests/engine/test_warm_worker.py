"""The real worker loads torch once, says what it found, and is ready for the first run."""

import pytest

from gpuexplain.engine.runner import Runner
from gpuexplain.settings import Settings
from gpuexplain.store.runs import RunStore

PATIENCE_S = 100.0


@pytest.mark.torch
def test_a_warm_worker_says_what_torch_found(store: RunStore, settings: Settings, worker_command: list[str]) -> None:
    """Threads are read back inside the worker; asking again does not start another."""
    with Runner(store, settings, worker_command) as runner:
        probe = runner.wait_for_probe(PATIENCE_S)
        assert probe is not None
        assert probe == runner.probe()
        assert probe.threads >= 1
        assert runner.status().worker == "ready"
        runner.warm_up()
        assert runner.wait_for_probe(PATIENCE_S) == probe
        assert runner.status().worker_restarts == 0
    assert runner.status().worker == "stopped"
