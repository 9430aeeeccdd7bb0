"""Machines and stored runs for the adviser, made by hand."""

from gpuexplain.hardware.machine import Cpu, Gpu, Machine, Memory, Platform
from gpuexplain.model import Clock, Dtype, Params, Point
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore

GIB = 2**30


def make_machine(gpu: bool = False, machine_id: str = "m1") -> Machine:
    """Return a machine with two threads; with a GPU where asked."""
    gpus = (Gpu(name="NVIDIA L4", uuid="u", torch_device="cuda:0", memory_free_bytes=20 * GIB),) if gpu else ()
    return Machine(
        cpu=Cpu(
            model="Test CPU", architecture="x86_64", logical_cpus=2, affinity_cpus=2, usable_threads=2,
            last_level_cache_bytes=2**30,
        ),
        memory=Memory(total_bytes=16 * GIB, available_bytes=12 * GIB),
        platform=Platform(hostname="here", machine_id=machine_id, system="Testix", kernel="6", python="3.11"),
        gpus=gpus,
    )  # fmt: skip


def make_point(experiment: str, series: str, time_s: float, device: str = "cpu", **changes: object) -> Point:
    """Return a measured point with an interval of 1 % either side."""
    fields: dict[str, object] = {
        "experiment": experiment, "series": series, "x": 1.0, "dtype": Dtype.FP32, "device": device,
        "clock": Clock.CALL, "median_s": time_s, "ci_low_s": 0.99 * time_s, "ci_high_s": 1.01 * time_s, "n_samples": 9,
    }  # fmt: skip
    return Point.model_validate(fields | changes)


def products(series: str, rate_flops: float, device: str = "cpu") -> list[Point]:
    """Return square products at a steady rate."""
    return [
        make_point("matmul", series, 2.0 * n**3 / rate_flops, device, x=float(n), shape=(n, n, n), flops=2.0 * n**3)
        for n in (64, 256, 1024)
    ]


def copies(series: str, rate_bytes_s: float) -> list[Point]:
    """Return copies at a steady rate."""
    return [
        make_point("transfer", series, size / rate_bytes_s, "cuda:0", x=size, shape=(int(size),), bytes=size)
        for size in (1e3, 1e6, 1e9)
    ]


def keep(
    store: RunStore,
    machine: Machine,
    experiment: str,
    points: list[Point],
    params: Params | None = None,
    at: float = 1000.0,
    state: RunState = RunState.DONE,
) -> str:
    """Store a run of a machine that ended at ``at``; return its id."""
    asked = params or EXPERIMENTS[experiment].params_type()
    run_id = store.create_run(
        experiment=experiment, measuring_version=1, key="k", params=asked.model_dump(mode="json"), device="cpu",
        machine=machine, created_at=at,
    )  # fmt: skip
    store.save_points(run_id, points)
    if state is not RunState.RUNNING:
        store.finish_run(run_id, state, finished_at=at)
    return run_id
