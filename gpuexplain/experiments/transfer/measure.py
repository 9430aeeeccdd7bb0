"""Measure copies: the run itself, and the memory that it needs (torch)."""

from typing import Any

from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.bench import Bench
from gpuexplain.experiments.transfer.buffers import Buffers
from gpuexplain.experiments.transfer.sizes import say_bytes
from gpuexplain.experiments.transfer.spec import EXPERIMENT_ID, TransferParams, plan_cases
from gpuexplain.experiments.transfer.streams import cuda_streams
from gpuexplain.hardware.cpu import inspect_cpu
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.hardware.machine import Machine
from gpuexplain.measuring.conditions import ConditionsMonitor
from gpuexplain.measuring.cuda import TorchCuda
from gpuexplain.measuring.probe import probe_torch
from gpuexplain.measuring.session import Outcome, Session
from gpuexplain.measuring.sweep import Sweep
from gpuexplain.measuring.torch_setup import exact_fp32, use_devices
from gpuexplain.model import Case


def measure(params_json: dict[str, Any], session: Session) -> Outcome:
    """Run the sweep that the params ask for, handing every point to the session."""
    params = TransferParams.model_validate(params_json)
    threads = inspect_cpu().usable_threads
    machine = inspect_machine(probe_torch(threads))
    cases = plan_cases(params, machine)
    devices = sorted({case.device for case in cases})
    device = next((name for name in devices if name != spec.CPU), spec.CPU)
    with exact_fp32():
        use_devices(devices)
        bench = make_bench(cases, machine, threads, device)
        return Sweep(
            EXPERIMENT_ID,
            cases,
            bench.prepare,
            session,
            budget_s=params.sweep_budget_s,
            say_x=say_bytes,
            device_names={name: machine.device_name(name) for name in devices},
            conditions=ConditionsMonitor(
                {name: gpu.uuid for name in devices if (gpu := machine.gpu(name)) is not None}
            ),
        ).run()


def make_bench(cases: list[Case], machine: Machine, threads: int, device: str) -> Bench:
    """Return the bench for these cases, with buffers as long as the longest of them needs."""
    longest = max(reach_bytes(case) for case in cases)
    buffers = Buffers(longest // spec.BYTES_PER_VALUE, device)
    if device == spec.CPU:
        return Bench(machine, threads, buffers)
    return Bench(machine, threads, buffers, TorchCuda(device), cuda_streams)


def reach_bytes(case: Case) -> int:
    """Return how far into its buffers a case reaches."""
    if case.series in spec.PIECES:
        _, total, n_places = case.shape
        return total * n_places
    if case.series in (spec.OVERLAP_BOTH, spec.OVERLAP_COMPUTE):
        return case.shape[0]
    return 0 if case.series in spec.PRODUCTS else case.shape[0] * case.shape[1]
