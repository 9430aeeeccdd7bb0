"""What does everyday work say: classical estimators, small networks, text, on the CPU and on the GPU?"""

from gpuexplain.experiments.need.conclude import Comparison, CpuTime, NeedFindings, Training, Verdict
from gpuexplain.experiments.need.spec import CLASSICAL, TEXT, TRAINED, TRANSFORMER
from gpuexplain.trial.ruling import Lack, Ruling, cannot_tell, held, not_held, untestable, untested
from gpuexplain.trial.say import THE_CPU, THE_GPU, say_speed
from gpuexplain.units import format_count, format_time
from gpuexplain.wording.phrases import join_words

# "Seconds or minutes": nobody needs another device for less than ten of them.
MINUTES_S = 600.0
# A median of a few calls, without an interval, is not off by more than this in either direction.
UNKNOWN_FACTOR = 100.0
_NETWORKS = tuple(work for work in TRAINED if work not in CLASSICAL)
_NAMES = {"inference_one": "inference of one example", "mlp": "MLP", "text": "text preprocessing"}


def name_work(workload: str) -> str:
    """Return what a sentence calls a workload."""
    return _NAMES.get(workload, workload.replace("_", " "))


# -- claims -------------------------------------------------------------------------------------


def judge_classical(findings: NeedFindings) -> Ruling:
    """Judge that classical estimators train in short time on a CPU."""
    return _judge_trainings(findings, CLASSICAL)


def judge_small(findings: NeedFindings) -> Ruling:
    """Judge that small networks on small data train in seconds or minutes on a CPU."""
    return _judge_trainings(findings, _NETWORKS)


def _judge_trainings(findings: NeedFindings, workloads: tuple[str, ...]) -> Ruling:
    known = [t for t in findings.trainings if t.workload in workloads]
    # None of them was timed.
    if not known:
        return untested("No such training was timed.")
    steps = f"{format_count(known[0].n_steps)} steps of training take" if known[0].n_steps > 1 else "training takes"
    times = join_words([f"{format_time(t.time_s)} ({name_work(t.workload)})" for t in known])
    told = f"On {THE_CPU} {steps} {times}."
    ends = [_ends_in_time(t, findings.cpu) for t in known]
    if any(end is False for end in ends):
        return not_held(told)
    # Every one of the list was timed, and ends in time.
    if all(ends) and len(known) == len(workloads):
        return held(told)
    return cannot_tell(told)


def _ends_in_time(training: Training, cpu: tuple[CpuTime, ...]) -> bool | None:
    """Return whether it ends within minutes, wherever in its interval it lies; None where that reaches over them."""
    call = next((c for c in cpu if c.workload == training.workload), None)
    if call is None:
        return None
    low_s, high_s = call.low_s or call.time_s / UNKNOWN_FACTOR, call.high_s or call.time_s * UNKNOWN_FACTOR
    if training.n_steps * high_s <= MINUTES_S:
        return True
    return False if training.n_steps * low_s > MINUTES_S else None


# -- myths --------------------------------------------------------------------------------------


def judge_always_faster_work(findings: NeedFindings) -> Ruling:
    """Judge "a GPU always makes code faster" by everyday work, copies included."""
    # Nothing was tried on a GPU.
    if not findings.has_gpu:
        return untestable(Lack.GPU, "No work was tried on a GPU.")
    judged = [c for c in (*findings.on_gpu, *findings.by_batch) if c.ratio is not None]
    slower = [c for c in judged if c.verdict is Verdict.SLOWER]
    # Nothing could be compared.
    if not judged:
        return cannot_tell("No work has a time on both devices.")
    # One workload that the GPU slows down is enough.
    if slower:
        worst = min(slower, key=lambda c: c.ratio or 1.0)
        return not_held(f"Copies included, {name_work(worst.workload)} on {THE_GPU} {_say_ratio(worst)}.")
    least = min(judged, key=lambda c: c.ratio or 1.0)
    told = f"Copies included, {THE_GPU} gains least at {name_work(least.workload)}, which {_say_ratio(least)}."
    return held(told) if all(c.verdict is Verdict.PAYS for c in judged) else cannot_tell(told)


def _say_ratio(comparison: Comparison) -> str:
    return f"{say_speed(comparison.ratio or 1.0, comparison.low, comparison.high)} on {THE_CPU}"


def judge_text(findings: NeedFindings) -> Ruling:
    """Judge "all deep learning code suits a GPU" by text preprocessing, which is plain Python on the CPU."""
    text = next((c for c in findings.cpu if c.workload == TEXT), None)
    network = _network_times(findings)
    # Text or the network has no time, or no interval.
    if text is None or not text.low_s or not text.high_s or network is None:
        return cannot_tell("Text preprocessing, or the training of a transformer, has no time with an interval.")
    low, high = text.low_s / text.x, text.high_s / text.x
    net_s, net_low, net_high = network
    device = THE_GPU if findings.has_gpu else THE_CPU
    told = (
        f"Preparing a text takes {format_time(text.time_s / text.x)} on {THE_CPU}, a training step of a transformer "
        f"{format_time(net_s)} an example on {device}"
    )
    # The network waits for its texts.
    if low >= net_high:
        return not_held(f"{told}: the preparing is the bottleneck.")
    if high >= net_low:
        return cannot_tell(f"{told}: which of them waits for the other, the intervals do not say.")
    # A CPU computes so slowly that the text hardly shows.
    if not findings.has_gpu:
        return untestable(Lack.GPU, f"{told}. A GPU would shorten the step, and not the preparing.")
    return held(f"{told}: prepared ahead, texts do not hold it up.")


def _network_times(findings: NeedFindings) -> tuple[float, float, float] | None:
    """Return what an example of a transformer's step takes (seconds, bounds), on the GPU where it was tried on one."""
    cpu = next((c for c in findings.cpu if c.workload == TRANSFORMER), None)
    if cpu is None or not cpu.low_s or not cpu.high_s:
        return None
    if not findings.has_gpu:
        return cpu.time_s / cpu.x, cpu.low_s / cpu.x, cpu.high_s / cpu.x
    found = next((c for c in findings.on_gpu if c.workload == TRANSFORMER), None)
    if found is None or not found.other_s or not found.low or not found.high:
        return None
    # The bounds of a ratio are those of both times crosswise.
    return found.other_s / found.x, cpu.high_s / found.high / found.x, cpu.low_s / found.low / found.x
