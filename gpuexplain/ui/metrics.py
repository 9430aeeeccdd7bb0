"""What does the engine count? The route that Prometheus reads, beside Streamlit's own of the server.

Nothing in it tells who asked for what. It is open to whoever reaches it, so a proxy should keep it inside.
"""

import shutil
from collections.abc import Iterator
from itertools import accumulate

import anyio.to_thread
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from gpuexplain import __version__
from gpuexplain.engine.counts import RUN_TIME_BOUNDS_S, Counted
from gpuexplain.engine.jobs import EngineStatus
from gpuexplain.errors import StoreError
from gpuexplain.ui import engine_access as access

_WORKER_STATES = ("stopped", "starting", "ready", "busy")


async def metrics(_request: Request) -> Response:
    """Answer with all metrics, as text."""
    text = await anyio.to_thread.run_sync(generate_latest, _REGISTRY)
    return Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4, headers={"Cache-Control": "no-store"})


class EngineCollector(Collector):
    """Asks the engine of this process whenever somebody reads the metrics."""

    def collect(self) -> Iterator[Metric]:
        """Yield every metric; without a store there is no engine, and ``gpuexplain_up`` says so."""
        yield InfoMetricFamily("gpuexplain_build", "This program.", {"version": __version__})
        try:
            runner = access.get_runner()
        except StoreError:
            yield GaugeMetricFamily("gpuexplain_up", "Whether the engine runs (1) or has no store (0).", 0)
            return
        yield GaugeMetricFamily("gpuexplain_up", "Whether the engine runs (1) or has no store (0).", 1)
        yield from _tell_status(runner.status())
        yield from _tell_counts(runner.counts())
        folder = access.get_store().folder
        if folder is not None and folder.is_dir():
            free_bytes = shutil.disk_usage(folder).free
            yield GaugeMetricFamily("gpuexplain_store_free_bytes", "Free space where the store lies.", free_bytes)


def _tell_status(status: EngineStatus) -> Iterator[Metric]:
    worker = GaugeMetricFamily("gpuexplain_worker_state", "1 for what the measuring process does.", labels=("state",))
    for state in _WORKER_STATES:
        worker.add_metric((state,), int(state == status.worker))
    yield GaugeMetricFamily("gpuexplain_queue_length", "Runs that wait for their turn.", status.queue_length)
    yield GaugeMetricFamily("gpuexplain_running", "Runs under way, 0 or 1.", int(status.running is not None))
    yield worker
    yield CounterMetricFamily(
        "gpuexplain_worker_restarts", "Measuring processes started after the first.", status.worker_restarts
    )
    yield GaugeMetricFamily(
        "gpuexplain_runs_not_stored", "Ended runs that the store has not taken yet.", status.not_stored
    )


def _tell_counts(counted: Counted) -> Iterator[Metric]:
    runs = CounterMetricFamily("gpuexplain_runs", "Runs that had their turn.", labels=("experiment", "result"))
    for (experiment, state), count in sorted(counted.runs.items()):
        runs.add_metric((experiment, state), count)
    yield runs
    times = HistogramMetricFamily(
        "gpuexplain_run_seconds", "How long runs took, from the start of measuring to the end.", labels=("experiment",)
    )
    bounds = (*(f"{bound:g}" for bound in RUN_TIME_BOUNDS_S), "+Inf")
    for experiment, taken in sorted(counted.times.items()):
        buckets = list(zip(bounds, map(float, accumulate(taken.classes)), strict=True))
        times.add_metric((experiment,), buckets, taken.total_s)
    yield times
    yield CounterMetricFamily(
        "gpuexplain_store_failures", "Attempts to write a run that the store did not take.", counted.store_failures
    )


def _make_registry() -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(EngineCollector())
    ProcessCollector(registry=registry)  # memory, processor time and open files of the app
    return registry


_REGISTRY = _make_registry()
