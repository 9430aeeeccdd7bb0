"""Measure the parts of a training step, the whole, its loading by workers, and what it keeps in memory (torch)."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import torch
from torch.utils.data import DataLoader

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.step import spec
from gpuexplain.experiments.step.data import N_KEPT, PackedExamples, ReadyExamples
from gpuexplain.experiments.step.idle import device_busy_s
from gpuexplain.experiments.step.memory import measure_components, predict_components
from gpuexplain.experiments.step.spec import EXPERIMENT_ID, StepParams, device_memory_bytes, plan_cases
from gpuexplain.hardware.cpu import inspect_cpu
from gpuexplain.hardware.host_load import read_host_and_children
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.measuring.conditions import ConditionsMonitor
from gpuexplain.measuring.cuda import explained_errors
from gpuexplain.measuring.ledger import Ledger
from gpuexplain.measuring.models import NETWORKS, Workload, build_network, find_loss
from gpuexplain.measuring.probe import probe_torch
from gpuexplain.measuring.products import make_inputs
from gpuexplain.measuring.sampling import is_convergence_check
from gpuexplain.measuring.session import Outcome, Session
from gpuexplain.measuring.stopwatch import OutOfMemoryError
from gpuexplain.measuring.torch_setup import TORCH_DTYPES, exact_fp32, use_devices, use_threads
from gpuexplain.measuring.track import Track
from gpuexplain.model import Case, Dtype, Point, Source, Status

TIMING = "host clock around each part, the device awaited before and after it"
# By whether the device is the CPU.
IDLE_TIMING = {
    True: "the step, less the CPU time of this process over its threads; one that waits for others may count as busy",
    False: "the step, less the time in which the profiler saw a kernel or a copy run",
}
PROFILED_STEPS = 5
HAND_OVER_S = 1.0  # between two looks at what was measured so far
N_EXAMPLES = 2**20  # of the data set, whose rows repeat
WARMUP_STEPS = 3
MOST_SAMPLES = 400
# Of the budget, by what it is spent on; the rest goes to starting workers and to what is counted once.
SHARES = {"parts": 0.4, spec.STEP: 0.2, spec.STEP_LOADED: 0.2, spec.INFERENCE: 0.05, spec.PRODUCT: 0.05}


def measure(params_json: dict[str, Any], session: Session) -> Outcome:
    """Time every part, handing every point to the session as it is known."""
    params = StepParams.model_validate(params_json)
    threads = inspect_cpu().usable_threads
    machine = inspect_machine(probe_torch(threads))
    cases = {case.series: case for case in plan_cases(params, machine)}
    device = cases[spec.STEP].device
    gpu = machine.gpu(device)
    use_threads(threads)
    with exact_fp32():
        use_devices([device])
        return Bench(
            params,
            cases,
            session,
            # Loading workers are ours: their work is no load of others.
            ConditionsMonitor({device: gpu.uuid} if gpu is not None else {}, read=read_host_and_children),
            {name: machine.device_name(name) for name in {device, CPU}},
            device_memory_bytes(device, machine),
        ).run()


class Bench:
    """One model in training, and the clocks around its parts."""

    def __init__(
        self,
        params: StepParams,
        cases: dict[str, Case],
        session: Session,
        monitor: ConditionsMonitor,
        device_names: dict[str, str],
        memory_bytes: int | None = None,
    ) -> None:
        self._memory_bytes = memory_bytes
        self._params, self._cases, self._session = params, cases, session
        self._monitor, self._device_names = monitor, device_names
        self._device = cases[spec.STEP].device
        self._ledger = Ledger(params.sweep_budget_s)
        self._started_s = time.perf_counter()
        self._tracks = {series: Track(case) for series, case in cases.items()}
        self._cancelled = False
        self._handed_over_s = 0.0
        self._n_handed_over: dict[str, int] = {}

    def run(self) -> Outcome:
        """Time everything in turn; out of memory ends what did not fit."""
        failure = ""
        self._monitor.start()
        try:
            with explained_errors():
                self._run()
        except OutOfMemoryError as error:
            failure = str(error)
        self._monitor.finish()
        for series, track in self._tracks.items():
            if failure and not track.samples_s:
                track.end(Status.OOM, failure)
            if track.samples_s or failure:
                self._hand_over(series)
        return Outcome(cancelled=self._cancelled, coverage=self._ledger.coverage(time.perf_counter() - self._started_s))

    def _run(self) -> None:
        half = None if self._params.dtype == "fp32" else TORCH_DTYPES[self._cases[spec.STEP].dtype]
        network = build_network(NETWORKS[self._params.model], *self._params.shape)
        rows = network.make_rows(N_KEPT, torch.Generator().manual_seed(0))
        self._workload = Workload(network, self._device, half, is_training=True)
        unpackings = spec.UNPACKINGS[self._params.data]
        self._data = PackedExamples(*rows, N_EXAMPLES, unpackings) if unpackings else ReadyExamples(*rows, N_EXAMPLES)
        for stage in (
            self._time_parts,
            self._time_steps,
            self._time_loaded_steps,
            self._time_inference,
            self._time_product,
        ):
            if not self._cancelled:
                stage()
        if not self._cancelled:
            self._count_memory()

    # -- what is timed ------------------------------------------------------------------------------

    def _loader(self, n_workers: int = 0) -> Iterator[Any]:
        loader = DataLoader(self._data, batch_size=self._params.batch, num_workers=n_workers, drop_last=True)
        return iter(loader)

    def _time_parts(self) -> None:
        batches = self._loader()
        for is_warm in self._rounds("parts", spec.FORWARD):
            pair = self._part(spec.LOAD, partial(next, batches), is_warm)
            if self._device != CPU:
                pair = self._part(spec.COPY, partial(self._to_device, pair), is_warm)
            inputs, targets = pair
            outputs = self._part(spec.FORWARD, partial(self._workload.forward, inputs), is_warm)
            loss = self._part(spec.LOSS, partial(find_loss, outputs.float(), targets), is_warm)
            scaled = self._workload.scaler.scale(loss)
            self._part(spec.BACKWARD, partial(torch.autograd.backward, scaled), is_warm)
            self._part(spec.OPTIMISER, self._optimise, is_warm)

    def _optimise(self) -> None:
        assert self._workload.optimiser is not None
        self._workload.scaler.step(self._workload.optimiser)
        self._workload.scaler.update()
        self._workload.optimiser.zero_grad(set_to_none=True)

    def _to_device(self, pair: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        return pair[0].to(self._device), pair[1].to(self._device)

    def _time_steps(self) -> None:
        batches = self._loader()
        busy_s = self._time_whole(spec.STEP, batches)
        if self._device != CPU:
            # Called for every step, the profiler would slow them: a few apart say how long the kernels take.
            busy = [device_busy_s(partial(self._step, batches)) for _ in range(PROFILED_STEPS)]
            busy_s = [median(busy)] * len(self._tracks[spec.STEP].samples_s)
        idle = self._tracks[spec.IDLE]
        idle.samples_s = [max(0.0, t - b) for t, b in zip(self._tracks[spec.STEP].samples_s, busy_s, strict=True)]
        idle.calls_per_sample = [1] * len(idle.samples_s)
        idle.converged = True  # it is as certain as the step it is a part of

    def _time_loaded_steps(self) -> None:
        batches = self._loader(self._params.workers)
        try:
            self._time_whole(spec.STEP_LOADED, batches)
        finally:
            del batches  # ends the workers

    def _step(self, batches: Iterator[Any]) -> None:
        inputs, targets = self._to_device(next(batches))
        self._workload.train(inputs, targets)

    def _time_whole(self, series: str, batches: Iterator[Any]) -> list[float]:
        """Time steps; return how long the CPU threads of each would have been busy, had all shared the work alike."""
        busy_s = []
        for is_warm in self._rounds(series, series):
            n_samples, before_s = len(self._tracks[series].samples_s), time.process_time()
            self._part(series, partial(self._step, batches), is_warm)
            used_s = time.process_time() - before_s
            if len(self._tracks[series].samples_s) > n_samples:
                busy_s.append(used_s / (self._tracks[series].case.threads or 1))
        return busy_s

    def _time_inference(self) -> None:
        inputs, _ = next(self._loader())
        one = inputs[:1].to(self._device)
        self._workload.network.eval()
        for is_warm in self._rounds(spec.INFERENCE, spec.INFERENCE):
            self._part(spec.INFERENCE, partial(self._workload.infer, one), is_warm)
        self._workload.network.train()

    def _time_product(self) -> None:
        left, right = (t.to(self._device) for t in make_inputs((spec.PRODUCT_SIDE,) * 3, Dtype.FP32))
        for is_warm in self._rounds(spec.PRODUCT, spec.PRODUCT):
            self._part(spec.PRODUCT, partial(torch.mm, left, right), is_warm)

    # -- the clock ----------------------------------------------------------------------------------

    def _rounds(self, share: str, leader: str) -> Iterator[bool]:
        """Yield whether the next round is warm, until the share is spent or the leader is narrow enough."""
        deadline_s = time.perf_counter() + SHARES[share] * self._params.sweep_budget_s
        for number in range(WARMUP_STEPS + MOST_SAMPLES):
            yield number >= WARMUP_STEPS
            self._tell(share)
            self._cancelled = self._session.cancelled()
            n_samples = len(self._tracks[leader].samples_s)
            is_late = time.perf_counter() > deadline_s and n_samples > 0
            if self._cancelled or is_late or self._is_narrow(leader, n_samples):
                return

    def _is_narrow(self, leader: str, n_samples: int) -> bool:
        track = self._tracks[leader]
        return is_convergence_check(n_samples) and track.converged

    def _part(self, series: str, work: Callable[[], Any], is_warm: bool) -> Any:
        track = self._tracks[series]
        self._wait()
        started_s = time.perf_counter()
        result = work()
        self._wait()
        took_s = time.perf_counter() - started_s
        if track.first_call_s is None:
            track.first_call_s = took_s
        elif not is_warm:
            track.warmup_s.append(took_s)
        else:
            track.samples_s.append(took_s)
            track.calls_per_sample.append(1)
            if is_convergence_check(len(track.samples_s)):
                track.judge()
            self._monitor.note(track.case)
        if is_warm:
            self._ledger.timed_s += took_s
        else:
            self._ledger.warmup_s += took_s
        return result

    def _wait(self) -> None:
        if self._device != CPU:
            torch.cuda.synchronize(self._device)

    def _tell(self, share: str) -> None:
        elapsed_s = time.perf_counter() - self._started_s
        self._session.progress(self._ledger.progress(f"timing {share.replace('_', ' ')}", elapsed_s))
        if elapsed_s - self._handed_over_s >= HAND_OVER_S:
            self._hand_over_new(elapsed_s)

    def _hand_over_new(self, elapsed_s: float) -> None:
        """Show what has grown since the last time: outside the timed parts, and not after each of them."""
        for series, track in self._tracks.items():
            if len(track.samples_s) > self._n_handed_over.get(series, 0):
                self._hand_over(series)
                self._n_handed_over[series] = len(track.samples_s)
        self._handed_over_s = elapsed_s

    # -- memory and points --------------------------------------------------------------------------

    def _count_memory(self) -> None:
        inputs, targets = self._to_device(next(self._loader()))
        measured = measure_components(self._workload, inputs, targets)
        predicted = predict_components(self._params)
        for index, component in enumerate(spec.COMPONENTS):
            series = f"{spec.MEMORY_PREFIX}{component}"
            self._hand_over_bytes(series, index, measured[component], Source.MEASURED)
            self._hand_over_bytes(series, index, predicted[component], Source.MODEL)
        if self._memory_bytes is not None:
            self._hand_over_bytes(spec.DEVICE_MEMORY, len(spec.COMPONENTS), self._memory_bytes, Source.MEASURED)

    def _hand_over_bytes(self, series: str, index: int, size: int, source: Source) -> None:
        is_measured = source is Source.MEASURED
        self._session.point(
            Point(
                experiment=EXPERIMENT_ID,
                series=series,
                x=float(self._params.batch),
                shape=(index, 0 if is_measured else 1),
                dtype=self._cases[spec.STEP].dtype,
                device=self._device,
                device_name=self._device_names[self._device],
                source=source,
                source_note="" if is_measured else "counted from the model's shape",
                timing=f"{'measured' if is_measured else 'predicted'}, not timed",
                bytes=float(size),
            )
        )

    def _hand_over(self, series: str) -> None:
        track = self._tracks[series]
        case = track.case
        point = track.point(
            EXPERIMENT_ID, self._device_names[case.device], self._monitor.of(case), self._monitor.flags(case)
        )
        timing = IDLE_TIMING[self._device == CPU] if series == spec.IDLE else TIMING
        self._session.point(point.model_copy(update={"timing": timing}))
