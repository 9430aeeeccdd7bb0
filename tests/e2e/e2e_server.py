"""The app as a process of its own, as an operator starts it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from e2e_net import free_port, get_json

ROOT = Path(__file__).resolve().parents[2]
START_S = 30.0


@dataclass(frozen=True, slots=True)
class RunningApp:
    """Where an app listens (without a base path), and what it wrote."""

    address: str
    port: int
    log: Path
    process: subprocess.Popen


@contextmanager
def running_app(
    home: Path,
    options: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    port: int | None = None,
) -> Iterator[RunningApp]:
    """Start the app with an empty store in ``home``, wait until it is ready, and end it afterwards."""
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    with (home / "server.log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--server.address", "127.0.0.1", *options],
            cwd=ROOT,
            env={**os.environ, "GPUEXPLAIN_HOME": str(home), **(environment or {})},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        app = RunningApp(f"http://127.0.0.1:{port}", port, home / "server.log", process)
        try:
            _wait_until_ready(app)
            yield app
        finally:
            process.terminate()
            process.wait(20)


def _wait_until_ready(app: RunningApp) -> None:
    give_up = time.monotonic() + START_S
    while time.monotonic() < give_up and app.process.poll() is None:
        try:
            if get_json(f"{app.address}/api/ready")[0] == 200:
                return
        except OSError:
            pass
        time.sleep(0.2)
    pytest.fail(f"The server was not ready in {START_S:g} s:\n{app.log.read_text()[-3000:]}")
