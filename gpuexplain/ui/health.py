"""Is the app alive, and can it measure? JSON routes for load balancers and humans."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread
import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from gpuexplain.errors import GpuExplainError, StoreError
from gpuexplain.settings import load_settings
from gpuexplain.store.database import sqlite_file
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.login_guard import STRANGER
from gpuexplain.ui.metrics import metrics
from gpuexplain.ui.store_notes import tell_store_notes
from gpuexplain.units import format_size

_NO_STORE = {"Cache-Control": "no-store"}
# How the runner names the states of a worker that can take a job.
_WORKER_ANSWERS = frozenset({"ready", "busy"})
# A run takes up to 10 MB, and SQLite keeps its log beside the file: below this it may fail any moment.
LEAST_FREE_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Check:
    """One part of readiness; ``detail`` says what is wrong and what to do."""

    name: str
    ok: bool
    detail: str


async def live(_request: Request) -> JSONResponse:
    """Answer that the process serves requests."""
    return JSONResponse({"live": True}, headers=_NO_STORE)


async def ready(request: Request) -> JSONResponse:
    """Answer whether worker, store and disk can take a job, with the reason if not.

    Where people sign in, strangers are told no reasons: those name folders of the machine.
    """
    checks = await anyio.to_thread.run_sync(run_checks)
    is_ready = all(check.ok for check in checks)
    is_stranger = bool(request.scope.get(STRANGER))
    body = {
        "ready": is_ready,
        "checks": {
            check.name: {"ok": check.ok} | ({} if is_stranger else {"detail": check.detail}) for check in checks
        },
    }
    return JSONResponse(body, status_code=200 if is_ready else 503, headers=_NO_STORE)


def run_checks() -> list[Check]:
    """Return the state of every part that a measurement needs."""
    return [_check("worker", _check_worker), _check("store", _check_store), _check("disk", _check_disk)]


def _check(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, ok=True, detail=look())
    except GpuExplainError as error:
        return Check(name, ok=False, detail=str(error))


def _check_worker() -> str:
    runner = access.get_runner()
    status = runner.status()
    if status.read_only:
        return "not needed: this installation shows and never measures"
    if status.worker in _WORKER_ANSWERS:
        return status.worker
    if runner.probe() is not None:  # it answered before and sleeps now, or is being restarted
        return f"{status.worker}; the next run starts it"
    raise GpuExplainError(f"The measuring process is {status.worker} and has not answered yet. Try again soon.")


def _check_store() -> str:
    store = access.get_store()
    store.check_writable()
    return " ".join(["writable", *tell_store_notes(store, access.get_runner().status())])


def _check_disk() -> str:
    path = sqlite_file(load_settings().store_url)
    if path is None:
        return "the store is a database elsewhere"
    folder = next(folder for folder in path.parents if folder.is_dir())
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < LEAST_FREE_BYTES:
        raise StoreError(_tell_full(folder, free_bytes))
    return f"{format_size(free_bytes)} free"


def _tell_full(folder: Path, free_bytes: int) -> str:
    return (
        f"Only {format_size(free_bytes)} are free where the store lies ({folder}); at least "
        f"{format_size(LEAST_FREE_BYTES)} are wanted. Free some space, or set GPUEXPLAIN_HOME to another disk."
    )


def health_routes() -> list[Route]:
    """Return the routes, metrics too, also under the base URL path, where Streamlit would answer with its page."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    prefixes = ("", f"/{base}") if base else ("",)
    return [
        Route(f"{prefix}/api/{name}", endpoint, methods=["GET"])
        for prefix in prefixes
        for name, endpoint in (("live", live), ("ready", ready), ("metrics", metrics))
    ]
