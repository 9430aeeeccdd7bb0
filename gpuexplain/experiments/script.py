"""A standalone script that times one ``call()``: what the scripts of several experiments share."""

import re
import textwrap
from collections.abc import Collection, Sequence
from enum import StrEnum

from gpuexplain.measuring.sampling import BLOCK_S, LONG_CALL_S, UNTIMED_CALLS, WARMUP_MOST_CALLS

N_SAMPLES = 15
_MOST_QUEUED_CALLS = 256
_LINE = 112
_IMPORTS = ("import statistics", "import time", "import torch")
_METHOD = (
    "The first call is reported apart and never mixed into the samples; every sample is a block of at least "
    "{block_ms:g} ms, or one synchronised call; the median of {n_samples} is printed."
)


class ScriptClock(StrEnum):
    """Which clock a script reads."""

    HOST = "host"  # nothing is asynchronous
    SYNCHRONISED = "synchronised"  # one call at a time, from idle to idle
    DEVICE = "device"  # the GPU's own, between two events


_SCRIPT = '''"""{title}

{method}
"""

{imports}

torch.set_flush_denormal(True)  # before the first threaded operation
{setup}

{work}


{timing}
{results}
print(f"median_s={{median_s!r}}")
'''

_TIMED = '''def time_calls(n_calls: int) -> float:
    """Return the seconds of n_calls."""
{timing}

first_s = time_calls(1)
for _ in range({warmup}):
    warm_s = time_calls(1)
n_calls = {n_calls}
n_untimed = 1 if warm_s >= {long_call_s} else {untimed}  # they bring back what else the caches held
samples_s = []
for _ in range({n_samples}):
    time_calls(n_untimed)
    samples_s.append(time_calls(n_calls) / n_calls)
median_s = statistics.median(samples_s)
print(f"first call {{first_s:.3e}} s, then median {{median_s:.4e}} s of {{len(samples_s)}} blocks of {{n_calls}} calls")
'''

_TIMINGS = {
    ScriptClock.HOST: """    started_s = time.perf_counter()
    for _ in range(n_calls):
        call()
    return time.perf_counter() - started_s
""",
    ScriptClock.SYNCHRONISED: """    total_s = 0.0
    for _ in range(n_calls):
        {before}torch.cuda.synchronize()
        started_s = time.perf_counter()
        call()
        torch.cuda.synchronize()
        total_s += time.perf_counter() - started_s
    return total_s
""",
    ScriptClock.DEVICE: """    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(20_000_000)  # keeps the device busy while the calls are queued behind it
    start.record()
    for _ in range(n_calls):
        call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1e3
""",
}


def write_script(
    title: str,
    work: str,
    *,
    clock: ScriptClock,
    data: str = "",
    setup: str = "",
    before_call: str = "",
    results: str = "",
    imports: Sequence[str] = (),
) -> str:
    """Return a script that times the function ``call`` of ``work`` and prints its median in seconds.

    ``title`` is one sentence, ``data`` what the inputs are, ``setup`` what is set before they are made.
    ``before_call`` runs untimed before every synchronised call; ``results`` are lines that may use
    ``median_s``; ``imports`` are import lines that ``work`` needs beside ``time`` and ``torch``.
    """
    told = f"Needs only torch. {data} " if data else "Needs only torch. "
    script = _SCRIPT.format(
        title=title,
        method=textwrap.fill(told + _METHOD.format(block_ms=BLOCK_S * 1e3, n_samples=N_SAMPLES), _LINE),
        imports=_sort_imports({*_IMPORTS, *imports}),
        setup=setup.rstrip(),
        work=work.strip("\n"),
        timing=_write_timing(clock, before_call).rstrip(),
        results=results.rstrip(),
    )
    return re.sub(r"\n{4,}", "\n\n\n", script.replace("operation\n\n\n", "operation\n\n"))


def _sort_imports(lines: Collection[str]) -> str:
    """Return the import lines in two groups, the standard library first, as a formatter would leave them."""
    by_group = sorted(lines, key=lambda line: ("torch" in line.split()[1], line.startswith("from"), line))
    n_standard = sum("torch" not in line.split()[1] for line in by_group)
    return "\n".join([*by_group[:n_standard], "", *by_group[n_standard:]])


def _write_timing(clock: ScriptClock, before_call: str) -> str:
    fills_block = f"max(1, int({BLOCK_S} / warm_s) + 1)"
    n_calls = {
        ScriptClock.HOST: fills_block,
        ScriptClock.SYNCHRONISED: "1",
        ScriptClock.DEVICE: f"min({_MOST_QUEUED_CALLS}, {fills_block})",
    }
    return _TIMED.format(
        timing=_TIMINGS[clock].format(before=f"{before_call}\n        " if before_call else ""),
        warmup=WARMUP_MOST_CALLS,
        n_calls=n_calls[clock],
        long_call_s=LONG_CALL_S,
        untimed=UNTIMED_CALLS,
        n_samples=N_SAMPLES,
    )


def say_where(device: str, threads: int | None) -> str:
    """Return where a script runs: "on cpu with 2 threads"."""
    return f"on {device}" + (f" with {threads} thread{'s' if threads > 1 else ''}" if threads else "")
