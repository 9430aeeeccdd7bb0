"""The server is stopped, killed or started without a store, in the middle of a run."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from faults_made import PATIENCE_S, ROOT, is_gone, read_elsewhere, until
from faults_server import Server

from gpuexplain.settings import Settings
from gpuexplain.store.runs import open_store

StartServer = Callable[..., Server]


@pytest.fixture
def start_server(home: Path, tmp_path: Path) -> Iterator[StartServer]:
    """Start servers; those that still run at the end are killed."""
    started: list[Server] = []

    def start(data: Path = home, **environment: str) -> Server:
        started.append(Server(data, tmp_path, **environment))
        return started[-1]

    yield start
    for server in started:
        server.end(signal.SIGKILL)


def test_a_run_that_the_end_of_the_server_interrupts_is_kept_and_can_be_resumed(
    start_server: StartServer, settings: Settings, tmp_path: Path
) -> None:
    """Asked to end, then killed, each time while a page is open. The worker goes, too."""
    gate, asked = tmp_path / "gate", f"pid pid file={tmp_path / 'gate'} point"
    first = start_server()
    first.wait_until("/api/live")
    interrupted = first.run(asked)
    worker = _interrupt(first, interrupted, settings, signal.SIGTERM)
    second = start_server()
    second.wait_until("/api/live")
    assert read_elsewhere(settings.store_url)[interrupted] == ("interrupted", [1, 2])
    killed = second.resume(interrupted)
    assert second.job(killed)["points"] == [[1, str(worker)], [2, str(worker)]]  # known, as measured before
    until(lambda: str(worker) not in dict(second.job(killed)["points"]).values(), "measured anew")
    _interrupt(second, killed, settings, signal.SIGKILL)
    third = start_server()
    third.wait_until("/api/live")
    _until_stored(settings, killed, "interrupted", [1, 2])
    gate.touch()
    done = third.resume(killed)
    until(lambda: third.job(done)["state"] == "done")
    assert [x for x, _ in third.job(done)["points"]] == [1, 2, 4]
    assert read_elsewhere(settings.store_url) == {
        interrupted: ("interrupted", [1, 2]),
        killed: ("interrupted", [1, 2]),
        done: ("done", [1, 2, 4]),
    }
    assert third.wait_until("/api/ready")["ready"] is True
    third.end(signal.SIGTERM)
    _check_log(third, done)


def _until_stored(settings: Settings, run_id: str, state: str, sizes: list[float]) -> None:
    """Wait until the store has a run as it should be."""
    store = open_store(settings)
    until(
        lambda: (
            (run := store.find_run(run_id)) is not None
            and (run.state.value, [point.x for point in run.points]) == (state, sizes)
        )
    )
    store.close()


def _interrupt(server: Server, run_id: str, settings: Settings, number: signal.Signals) -> int:
    """End the server once two points of a run are stored; return the worker that went along."""
    _until_stored(settings, run_id, "running", [1, 2])
    worker = int(server.job(run_id)["worker"])
    # In a thread of its own: a browser driver may keep a running loop in this one.
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(asyncio.run, _end_with_a_page_open(server, number)).result() == -number
    until(lambda: is_gone(worker))
    return worker


async def _end_with_a_page_open(server: Server, number: signal.Signals) -> int:
    """End the server while a visitor looks at it."""
    from benchmarks.page_client import Visitor

    visitor = Visitor(server.address, "")
    await visitor.open()
    status = await asyncio.to_thread(server.end, number)
    await visitor.close()
    return status


def _check_log(server: Server, run_id: str) -> None:
    """The log names the run, its stages and nobody."""
    log = server.log.read_text()
    stages = [line.split(" gpuexplain.")[1].split()[1] for line in log.splitlines() if f"run={run_id}" in line]
    assert stages == ["run_queued", "run_started", "run_ended"]
    assert "anna" not in log
    assert "Traceback" not in log


def test_a_server_without_a_store_serves_and_takes_it_up_once_it_can(start_server: StartServer, tmp_path: Path) -> None:
    """A file stands where the data folder should be: readiness says so, and changes when it is gone."""
    data = tmp_path / "data"
    data.write_text("in the way")
    server = start_server(data, GPUEXPLAIN_LOG_FORMAT="json")
    server.wait_until("/api/live")
    answer = server.wait_until("/api/ready", 503)
    assert "set GPUEXPLAIN_HOME" in answer["checks"]["store"]["detail"]
    assert "gpuexplain_up 0.0" in server.get("/api/metrics")[1]
    data.unlink()
    until(lambda: server.get("/test/run?script=point", "POST")[0] == 200)
    server.wait_until("/api/ready")
    until(lambda: 'gpuexplain_runs_total{experiment="fake",result="done"} 1.0' in server.get("/api/metrics")[1])
    events = [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith('{"time"')]
    assert [event["event"] for event in events][:2] == ["app_started", "no_store"]


def test_two_apps_and_the_command_line_share_one_store(
    start_server: StartServer, settings: Settings, tmp_path: Path
) -> None:
    """They measure one after the other; none ends the runs of another, and all see all of them."""
    servers = [start_server(), start_server()]
    for server in servers:
        server.wait_until("/api/live")
    gates = [tmp_path / f"gate{n}" for n in range(2)]
    runs = [server.run(f"point point file={gate} point") for server, gate in zip(servers, gates, strict=True)]
    first = next(n for n in (0, 1, 0, 1) if _waits_for_gate(servers[n], runs[n]))
    command_line = _command_line("runs", settings)
    assert {run["id"]: run["state"] for run in command_line["runs"]}.items() >= {(runs[first], "running")}
    for gate in gates:
        gate.touch()
    for server, run_id in zip(servers, runs, strict=True):
        until(lambda server=server, run_id=run_id: server.job(run_id)["state"] == "done", run_id)
        other = servers[1 - servers.index(server)]
        assert [x for x, _ in other.job(run_id)["points"]] == [1, 2, 4]
    assert read_elsewhere(settings.store_url) == dict.fromkeys(runs, ("done", [1, 2, 4]))


def _waits_for_gate(server: Server, run_id: str) -> bool:
    until(lambda: server.job(run_id)["state"] in ("running", "waiting"))
    return server.job(run_id)["state"] == "running"


def _command_line(command: str, settings: Settings) -> dict:
    said = subprocess.run(
        [sys.executable, "-m", "gpuexplain", command, "--json"],
        cwd=ROOT,
        env={**os.environ, "GPUEXPLAIN_HOME": str(settings.home)},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    ).stdout
    return json.loads(said)
