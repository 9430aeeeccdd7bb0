"""The app with its real server, lifespan and routes, a worker without torch, and routes that a test presses."""

import os
import sys
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from faults_made import light_command  # noqa: E402

from gpuexplain.engine.limits import Limits  # noqa: E402
from gpuexplain.engine.runner import Runner  # noqa: E402
from gpuexplain.hardware.inspect import inspect_machine  # noqa: E402
from gpuexplain.settings import load_settings  # noqa: E402
from gpuexplain.ui import engine_access as access  # noqa: E402
from gpuexplain.ui import lifespan as life  # noqa: E402
from gpuexplain.ui.health import health_routes  # noqa: E402
from tests.engine.fake_measure import FakeExperiment, FakeParams  # noqa: E402


def _make_light_runner() -> Runner:
    command = light_command(Path(os.environ["FAULTS_LOCK"]))
    return Runner(access.get_store(), load_settings(), command, limits=Limits(flush_s=0.05), warm=False)


_RUNNER: list[Runner] = []


def _get_runner() -> Runner:
    with access._ONE_AT_A_TIME:
        if not _RUNNER:
            _RUNNER.append(_make_light_runner())
        return _RUNNER[0]


access.get_runner = _get_runner
life._WARM_IMPORTS = ()  # what charts need takes seconds, and no chart is looked at here


async def run(request: Request) -> JSONResponse:
    """Ask for a run of a script, or go on with a run."""
    asked = request.query_params
    runner, machine = access.get_runner(), inspect_machine(None)
    if "resume" in asked:
        job = runner.resume(FakeExperiment(), asked["resume"], machine, "anna")
    else:
        job = runner.submit(FakeExperiment(), FakeParams(script=asked["script"]), machine, "anna", fresh=True)
    return JSONResponse({"run_id": job.run_id})


async def job(request: Request) -> JSONResponse:
    """Tell how a run stands, and who measures."""
    runner = access.get_runner()
    found = runner.job(request.query_params["id"])
    worker = runner._slot._worker
    if found is None:
        return JSONResponse({}, status_code=404)
    points = [[point.x, point.reason] for point in found.points]
    return JSONResponse({"state": found.state, "points": points, "worker": worker.pid if worker else 0})


app = st.App(
    ROOT / "gpuexplain" / "ui" / "router.py",
    lifespan=life.lifespan,
    routes=[*health_routes(), Route("/test/run", run, methods=["POST"]), Route("/test/job", job)],
)
