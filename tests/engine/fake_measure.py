"""A measure module without torch: does what its params say, so that every end of a run can be tried."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from gpuexplain.errors import UnsupportedError
from gpuexplain.measuring.session import Coverage, Outcome, Progress, Session
from gpuexplain.measuring.stopwatch import DeviceLostError
from gpuexplain.model import Dtype, Params, Point

MODULE = "tests.engine.fake_measure"


class FakeParams(Params):
    """``script`` is a space-separated list of steps; ``tag`` only makes another key."""

    script: str = "point"
    tag: str = ""


@dataclass(frozen=True, slots=True)
class FakeExperiment:
    """What the engine needs of an experiment."""

    id: str = "fake"
    measuring_version: int = 1
    measure_module: str = MODULE
    params_type: type[FakeParams] = FakeParams


def make_point(x: float, **fields: object) -> Point:
    """Return a point whose case is named by ``x``."""
    return Point.model_validate(
        {
            "experiment": "fake",
            "series": "cpu",
            "x": x,
            "shape": (int(x),),
            "dtype": Dtype.FP32,
            "device": "cpu",
            "samples_s": (0.1, 0.2, 0.3),
            "n_samples": 3,
            "median_s": 0.2,
            **fields,
        }
    )


def measure(params_json: dict[str, object], session: Session) -> Outcome:
    """Follow the script, one step after the other."""
    params = FakeParams.model_validate(params_json)
    began = time.monotonic()
    for n_done, step in enumerate(params.script.split()):
        if session.cancelled():
            break
        session.progress(Progress(share=0.5, phase=step, round=n_done))
        name, _, argument = step.partition("=")
        _STEPS[name](session, n_done, argument)
    coverage = Coverage(
        budget_s=params.sweep_budget_s,
        wall_s=time.monotonic() - began,
        prepare_s=0,
        verify_s=0,
        warmup_s=0,
        timed_s=0,
        rounds=1,
    )
    return Outcome(cancelled=session.cancelled(), coverage=coverage)


def _emit(session: Session, n_done: int, argument: str) -> None:
    session.point(make_point(float(argument or n_done + 1)))


def _emit_disturbed(session: Session, n_done: int, argument: str) -> None:
    session.point(make_point(n_done + 1, flags=(argument or "under_load",)))


def _stream(session: Session, _n_done: int, argument: str) -> None:
    """Emit a point every few milliseconds until cancelled (at most ``argument`` of them)."""
    for number in range(1, int(argument or 100_000) + 1):
        if session.cancelled():
            return
        session.point(make_point(number))
        time.sleep(0.005)


def _wait_polite(session: Session, _n_done: int, _argument: str) -> None:
    while not session.cancelled():
        time.sleep(0.01)


def _wait_deaf(_session: Session, _n_done: int, _argument: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def _wait_stubborn(_session: Session, _n_done: int, _argument: str) -> None:
    time.sleep(600)


def _wait_file(_session: Session, _n_done: int, argument: str) -> None:
    while not Path(argument).exists():
        time.sleep(0.01)


def _signal_self(_session: Session, _n_done: int, argument: str) -> None:
    os.kill(os.getpid(), signal.Signals[argument])


def _fork_and_die(_session: Session, _n_done: int, argument: str) -> None:
    """Leave a child behind that holds our pipes, as a data loader would."""
    child = os.fork()
    if child == 0:
        time.sleep(600)
        os._exit(0)
    Path(argument).write_text(str(child))
    os.kill(os.getpid(), signal.SIGKILL)


def _fork_escaped(_session: Session, _n_done: int, argument: str) -> None:
    """Leave a child behind that holds our pipes from a group of its own."""
    child = os.fork()
    if child == 0:
        os.setsid()
        Path(argument).write_text(str(os.getpid()))
        time.sleep(600)
        os._exit(0)
    _wait_file(_session, _n_done, argument)
    os.kill(os.getpid(), signal.SIGKILL)


def _print(_session: Session, _n_done: int, argument: str) -> None:
    print("stray text")
    sys.stdout.flush()
    subprocess.run(["echo", "stray output of a child"], check=True)
    os.write(1, b'{"kind": "nonsense"}\n')


def _garble(session: Session, _n_done: int, _argument: str) -> None:
    channel = session._channel  # type: ignore[attr-defined]
    channel._pipe.write(b"this is no message\n")
    channel._pipe.flush()
    time.sleep(600)


_GARBAGE = {
    "bytes": bytes(range(256)) * 40,
    "half": b'{"kind": "point", "job_id": "',
    "deep": b"[" * 100_000 + b"\n",
    "foreign": b'{"kind": "hello", "protocol_version": 99, "pid": 1}\n',
    "wrong": b'{"kind": "finished", "job_id": 7, "cancelled": "perhaps"}\n',
    "long": b"x" * (17 * 2**20),
}


def _write_garbage(session: Session, _n_done: int, argument: str) -> None:
    """Write what no event is, and go on as if nothing had happened."""
    channel = session._channel  # type: ignore[attr-defined]
    channel._pipe.write(_GARBAGE[argument] + b"\n")
    channel._pipe.flush()
    time.sleep(600)


def _close_pipe(session: Session, _n_done: int, _argument: str) -> None:
    """Live on without a voice."""
    pipe = session._channel._pipe  # type: ignore[attr-defined]
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, pipe.fileno())
    time.sleep(600)


def _exit(_session: Session, _n_done: int, argument: str) -> None:
    os._exit(int(argument))


def _eat(_session: Session, _n_done: int, argument: str) -> None:
    """Take memory until there is none; ``argument`` MiB of data at most where it is given."""
    import resource

    if argument:
        limit = int(argument) * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    eaten = []
    while True:
        eaten.append(bytearray(2**20))


def _lose_device(_session: Session, _n_done: int, _argument: str) -> None:
    raise DeviceLostError(
        "The device failed: CUDA error: an illegal memory access. The measuring process is restarted."
    )


def _complain(_session: Session, _n_done: int, _argument: str) -> None:
    print("the last words", file=sys.stderr, flush=True)


def _raise_known(_session: Session, _n_done: int, _argument: str) -> None:
    raise UnsupportedError("This machine cannot do that. Choose another one.")


def _raise_unknown(_session: Session, _n_done: int, _argument: str) -> None:
    raise ZeroDivisionError("division by zero")


def _tell_pid(session: Session, n_done: int, _argument: str) -> None:
    session.point(make_point(n_done + 1, reason=str(os.getpid())))


_STEPS = {
    "point": _emit,
    "disturbed": _emit_disturbed,
    "stream": _stream,
    "polite": _wait_polite,
    "deaf": _wait_deaf,
    "stubborn": _wait_stubborn,
    "file": _wait_file,
    "signal": _signal_self,
    "fork": _fork_and_die,
    "escape": _fork_escaped,
    "print": _print,
    "garble": _garble,
    "complain": _complain,
    "known": _raise_known,
    "unknown": _raise_unknown,
    "pid": _tell_pid,
    "garbage": _write_garbage,
    "close": _close_pipe,
    "exit": _exit,
    "eat": _eat,
    "lost": _lose_device,
}
