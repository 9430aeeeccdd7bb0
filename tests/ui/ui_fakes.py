"""Stand-ins for the engine and the machine, and points whose answer is obvious."""

import asyncio
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from streamlit.testing.v1 import AppTest

from gpuexplain.engine.jobs import EngineStatus, Job, JobState
from gpuexplain.engine.key import compute_key
from gpuexplain.engine.neighbours import check_neighbours
from gpuexplain.errors import QueueFullError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Cpu, GpuProblem, Machine, Memory, Platform, TorchProbe
from gpuexplain.measuring.session import Progress
from gpuexplain.model import Clock, Dtype, Params, Point
from gpuexplain.store.runs import RunStore

GIB = 2**30


def make_machine() -> Machine:
    """Return a machine with two threads and no GPU."""
    return Machine(
        cpu=Cpu(model="Test CPU", architecture="x86_64", logical_cpus=2, affinity_cpus=2, usable_threads=2),
        memory=Memory(total_bytes=16 * GIB, available_bytes=12 * GIB),
        platform=Platform(hostname="here", machine_id="m1", system="Testix", kernel="6", python="3.11"),
        torch_version="2.13.0",
        gpu_problem=GpuProblem(rung="no_driver", explanation="No driver was found.", remedy="Install it."),
    )


def make_points(*sides: int, speed: float = 1e11) -> list[Point]:
    """Return points of both CPU series whose speed does not depend on the size."""
    points = []
    for series, threads, rate in (("cpu", 2, speed), ("cpu_1_thread", 1, speed / 2)):
        for side in sides:
            time_s = 2.0 * side**3 / rate + 1e-6
            points.append(
                Point(
                    experiment="matmul",
                    series=series,
                    x=float(side),
                    shape=(side, side, side),
                    dtype=Dtype.FP32,
                    device="cpu",
                    device_name="Test CPU",
                    clock=Clock.CALL,
                    threads=threads,
                    samples_s=tuple(time_s * f for f in (0.99, 1, 1.01, 1, 0.99, 1.01, 1)),
                    n_samples=7,
                    median_s=time_s,
                    min_s=time_s * 0.99,
                    max_s=time_s * 1.01,
                    ci_low_s=time_s * 0.99,
                    ci_high_s=time_s * 1.01,
                    first_call_s=time_s * 20,
                    warmup_s=(time_s * 2, time_s),
                    flops=2.0 * side**3,
                )
            )
    return points


@dataclass
class FakeRunner:
    """Keeps jobs as the test sets them; nothing moves by itself."""

    store: RunStore
    jobs: dict[str, Job] = field(default_factory=dict)
    refuses: str = ""
    read_only: bool = False
    worker: str = "ready"
    torch: TorchProbe | None = field(default_factory=lambda: TorchProbe(version="2.13.0"))
    submitted: list[tuple[Params, bool]] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)

    def submit(
        self,
        experiment: Experiment,
        params: Params,
        machine: Machine,
        visitor: str,
        fresh: bool = False,
        confirmed: bool = False,
    ) -> Job:
        """Take the job and leave it running."""
        if self.refuses:
            raise QueueFullError(self.refuses)
        if not confirmed:
            check_neighbours(params.device, machine)
        self.submitted.append((params, fresh))
        key = compute_key(experiment.id, experiment.measuring_version, params, machine)
        job = Job(
            run_id=f"run-{len(self.submitted)}",
            key=key,
            experiment=experiment.id,
            params=params.model_dump(mode="json"),
            state=JobState.RUNNING,
            visitors=(visitor,),
            progress=Progress(share=0.25, phase="warming up n = 64", elapsed_s=1, remaining_s=9),
            created_at=time.time(),
        )
        self.jobs[job.run_id] = job
        return job

    def resume(
        self, experiment: Experiment, run_id: str, machine: Machine, visitor: str, confirmed: bool = False
    ) -> Job:
        """Begin a job with the points of a run."""
        run = self.store.load_run(run_id)
        job = self.submit(experiment, experiment.params_type(**run.params), machine, visitor, True, confirmed)
        self.resumed.append(run_id)
        return self.change(job.run_id, points=run.points)

    def change(self, run_id: str, **changes: object) -> Job:
        """Replace fields of a job; its version grows."""
        job = self.jobs[run_id]
        self.jobs[run_id] = job.model_copy(update={"version": job.version + 1, **changes})
        return self.jobs[run_id]

    def job(self, run_id: str) -> Job | None:
        """Return a job as set."""
        return self.jobs.get(run_id)

    def active_jobs(self) -> tuple[Job, ...]:
        """Return the jobs that still run."""
        return tuple(job for job in self.jobs.values() if job.state.is_active)

    def cancel(self, run_id: str, visitor: str) -> Job:
        """Note the wish, end the job."""
        self.cancelled.append(run_id)
        return self.change(run_id, state=JobState.CANCELLED, finished_at=time.time())

    def status(self) -> EngineStatus:
        """Return what the jobs say."""
        running = next(iter(self.active_jobs()), None)
        return EngineStatus(worker="busy" if running else self.worker, running=running, read_only=self.read_only)

    def probe(self) -> TorchProbe | None:
        """Return what torch said."""
        return self.torch


def html_of(at: AppTest) -> str:
    """Return all HTML and Markdown text of the page."""
    blocks = [element.proto.body for element in at.get("html")]
    return "\n".join([*blocks, *(element.value for element in at.markdown)])


def as_shown(markdown: str) -> str:
    """Return a Markdown text without the escapes that keep it plain."""
    return re.sub(r"\\([\\`_\[\]$<>#~|&*])", r"\1", markdown)


@dataclass
class Answer:
    """What an ASGI app sent."""

    status_code: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    cookies: list[str] = field(default_factory=list)

    def json(self) -> dict:
        """Return the body as JSON."""
        return json.loads(self.body)


def ask(app: object, path: str, cookie: str = "", headers: dict[str, str] | None = None) -> Answer:
    """Send one GET to an ASGI app and return its answer."""
    answer = Answer()
    sent = {**(headers or {}), **({"cookie": cookie} if cookie else {})}
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b""}
    scope["headers"] = [(name.encode(), text.encode()) for name, text in sent.items()]

    async def receive() -> dict:
        return {"type": "http.request"}

    async def send(message: dict) -> None:
        if message["type"] == "http.response.start":
            answer.status_code = message["status"]
            answer.headers = {k.decode(): v.decode() for k, v in message["headers"]}
            answer.cookies = [v.decode() for k, v in message["headers"] if k == b"set-cookie"]
        else:
            answer.body += message.get("body", b"")

    # In a thread of its own: a browser driver may keep a running loop in this one.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, app(scope, receive, send)).result()
    return answer
