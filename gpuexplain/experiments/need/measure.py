"""Measure everyday work with all threads, with one, and on the GPU with its copies (torch)."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import Any

from gpuexplain.errors import UnsupportedError
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.need.networks import NetworkCall
from gpuexplain.experiments.need.spec import (
    CLASSICAL,
    EXPERIMENT_ID,
    SERIES,
    TEXT,
    NeedParams,
    Shape,
    plan_cases,
    stands_for_its_kind,
    why_cpu_only,
)
from gpuexplain.experiments.need.text import count_tokens, write_documents
from gpuexplain.hardware.cpu import inspect_cpu
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.measuring.clocks import HostClock, SynchronisedClock
from gpuexplain.measuring.conditions import ConditionsMonitor
from gpuexplain.measuring.cuda import TorchCuda, explained_errors
from gpuexplain.measuring.probe import probe_torch
from gpuexplain.measuring.sampling import predict_affine_s
from gpuexplain.measuring.session import Outcome, Session
from gpuexplain.measuring.stopwatch import Check, Stopwatch
from gpuexplain.measuring.sweep import Sweep
from gpuexplain.measuring.torch_setup import exact_convolutions, exact_fp32, use_devices, use_threads
from gpuexplain.model import Case
from gpuexplain.units import format_count

LEAST_BUDGET_S = 0.5
GPU_TIMING = "host clock around copy in, step, copy out and one synchronisation"


def measure(params_json: dict[str, Any], session: Session) -> Outcome:
    """Run the cases that the params ask for, handing every point to the session."""
    began_s = time.perf_counter()
    params = NeedParams.model_validate(params_json)
    threads = inspect_cpu().usable_threads
    machine = inspect_machine(probe_torch(threads))
    cases = plan_cases(params, machine)
    devices = sorted({case.device for case in cases})
    with exact_fp32(), exact_convolutions(), _kept_blas_threads():
        use_devices(devices)
        outcome = Sweep(
            EXPERIMENT_ID,
            [case for case in cases if stands_for_its_kind(case)],
            prepare,
            session,
            # Loading scikit-learn takes a second or two of the time that was asked for.
            budget_s=max(LEAST_BUDGET_S, params.sweep_budget_s - (time.perf_counter() - began_s)),
            say_x=lambda x: f"{format_count(x)} {'example' if x == 1 else 'examples'}",
            device_names={device: machine.device_name(device) for device in devices},
            conditions=ConditionsMonitor({d: gpu.uuid for d in devices if (gpu := machine.gpu(d)) is not None}),
            predict=predict_affine_s,
            # The step's other batches come when every kind of work has had its turn.
            refine=lambda points, known: [case for case in cases if case not in known],  # noqa: ARG005
        ).run()
        use_threads(threads)
    return outcome


def prepare(case: Case) -> Stopwatch:
    """Return the stopwatch of a case, its examples made.

    Raises:
        UnsupportedError: If this work has no version for the GPU, or its library is not installed.
        OutOfMemoryError: If it does not fit.
    """
    workload = SERIES[case.series][0]
    if case.device != CPU and (why := why_cpu_only(workload)):
        raise UnsupportedError(why)
    shape: Shape = (case.shape[0], case.shape[1], case.shape[2])
    threads = case.threads or 1
    with explained_errors():
        if case.device == CPU:
            use_threads(threads)
        call, check = _make_call(workload, shape, case.device, threads)
    if case.device == CPU:
        return HostClock(call, check, before=partial(_set_threads, workload, threads), guard=explained_errors)
    clock = SynchronisedClock(call, check, TorchCuda(case.device), guard=explained_errors)
    clock.timing = GPU_TIMING
    return clock


def _make_call(
    workload: str, shape: Shape, device: str, threads: int
) -> tuple[Callable[[], object], Callable[[], Check]]:
    if workload in CLASSICAL:
        classical = load_classical()
        fit = classical.make_fit(workload, shape, threads)
        return fit, partial(classical.check_fit, fit, shape)
    if workload == TEXT:
        documents = write_documents(shape[0], shape[1])
        return partial(count_tokens, documents), partial(_check_text, documents, shape)
    network = NetworkCall(workload, shape, device)
    return network, network.check


def _set_threads(workload: str, threads: int) -> None:
    use_threads(threads)
    if workload in CLASSICAL:
        load_classical().use_blas_threads(threads)


def load_classical() -> ModuleType:
    """Return the module of the classical estimators.

    Raises:
        UnsupportedError: If scikit-learn is not installed.
    """
    try:
        from gpuexplain.experiments.need import classical
    except ImportError as error:
        raise UnsupportedError(
            f"scikit-learn cannot be loaded here ({error}). Install it (pip install scikit-learn) and run again."
        ) from None
    return classical


@contextmanager
def _kept_blas_threads() -> Iterator[None]:
    try:
        classical = load_classical()
    except UnsupportedError:
        yield
        return
    with classical.kept_blas_threads():
        yield


def _check_text(documents: list[str], shape: Shape) -> Check:
    """Every word must have been counted once."""
    counted = sum(sum(counts.values()) for counts in count_tokens(documents))
    wanted = shape[0] * shape[1]
    failure = "" if counted == wanted else f"{counted} words were counted of {wanted}."
    return Check(None, 0, 0, failure=failure)
