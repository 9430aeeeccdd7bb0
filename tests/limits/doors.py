"""Through which doors does foreign input come in, and what may happen there?

It is taken, or refused in clear words; nothing else, whatever was sent. Each door knows how to make
inputs for itself and how to knock.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuexplain.analyse import ANALYSES, analyse_content
from gpuexplain.cli import asked
from gpuexplain.engine import protocol
from gpuexplain.engine.protocol import decode_event, decode_request, encode
from gpuexplain.errors import EngineError, GpuExplainError, InputError
from gpuexplain.experiments.contract import Experiment, FileOrigin
from gpuexplain.findings import to_json
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.measuring.session import Coverage, Progress
from gpuexplain.model import Case, Dtype, Point
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.settings import Settings, load_settings
from gpuexplain.store.exports import export_json, read_json
from gpuexplain.store.run import RunState, StoredRun
from gpuexplain.store.series_files import read_series
from gpuexplain.ui.upload_files import make_dropped
from gpuexplain.ui.upload_read import read_content
from gpuexplain.ui.url_params import read_params
from tests.limits import hostile

LONGEST_REFUSAL = 1_500
_KEPT_PER_DOOR = 2
MOST_CASES = 2_000
_TOLD_EVERY = 5  # a table that was taken is told in words only so often: that takes longer than all the rest
_MACHINE = inspect_machine(None)
_UNCLEAR = re.compile(r"Traceback|pydantic|errors\.|Errno|object at 0x|\x00|[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Door:
    """One way in. ``knock`` returns whether the input was taken; it raises only ``refusals``."""

    name: str
    inputs: st.SearchStrategy[Any]
    knock: Callable[[Any], bool]
    refusals: tuple[type[GpuExplainError], ...] = (InputError,)
    share: float = 1.0  # of the inputs of a usual door: a whole analysis behind it takes its time


@dataclass(slots=True)
class Tally:
    """How many inputs a door met, how many it took, and a few of them to try again."""

    n_inputs: int = 0
    n_taken: int = 0
    kept: list[Any] = field(default_factory=list)


def check_clear(text: str) -> None:
    """Fail unless a refusal is fit for a person: a sentence, not a dump."""
    assert text.strip(), "the refusal is empty"
    assert len(text) <= LONGEST_REFUSAL, f"the refusal has {len(text)} characters: {text[:200]}"
    assert not _UNCLEAR.search(text), text
    assert text.rstrip()[-1] in ".)", text


def try_door(door: Door, n_usual: int) -> Tally:
    """Knock with many inputs, the same ones each time; fail on the first that is neither taken nor refused."""
    tally, n_inputs = Tally(), round(n_usual * door.share)
    n_kept = max(1, round(_KEPT_PER_DOOR * door.share))

    @settings(
        max_examples=n_inputs,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(door.inputs)
    def knock(given_input: Any) -> None:
        tally.n_inputs += 1
        tally.n_taken += knock_once(door, given_input)
        if tally.n_inputs % max(1, n_inputs // n_kept) == 0:
            tally.kept.append(given_input)

    knock()
    return tally


def knock_once(door: Door, given_input: Any) -> bool:
    """Return whether a door took the input; a refusal must be clear."""
    try:
        return door.knock(given_input)
    except door.refusals as refusal:
        check_clear(str(refusal))
        return False


def doors() -> list[Door]:
    """Return every door, for every registered experiment."""
    found = [door for experiment in EXPERIMENTS.values() for door in _params_doors(experiment)]
    found += [Door(f"file {name}", hostile.tables(name), _file_knock(name), share=0.5) for name in ANALYSES]
    found += [_upload_door(experiment) for experiment in EXPERIMENTS.values()]
    found += [
        Door("file nvbandwidth", hostile.changed_json(_NVBANDWIDTH), _knock_nvbandwidth, share=0.5),
        Door(
            "import", st.one_of(*(hostile.changed_json(_run_document(e)) for e in EXPERIMENTS.values())), _knock_import
        ),
        Door("worker event", st.sampled_from(_EVENTS).flatmap(_changed_line), _knock_event, (EngineError,)),
        Door("worker request", st.sampled_from(_REQUESTS).flatmap(_changed_line), _knock_request, (EngineError,)),
        Door("settings", _environments(), _knock_settings),
    ]
    return found


def _params_doors(experiment: Experiment) -> Iterator[Door]:
    asks = hostile.asks(experiment.params_type)

    def knock_address(given_input: dict[str, Any]) -> bool:
        reading = read_params(experiment.params_type, given_input)
        for problem in reading.problems:
            check_clear(problem)
        _check_plan(experiment, reading.params)
        return bool(given_input) and not reading.problems

    def knock_command_line(given_input: dict[str, Any]) -> bool:
        assignments = [f"{name}={text}" for name, text in given_input.items()]
        _check_plan(experiment, asked.read_params(experiment, assignments))
        return bool(given_input)

    yield Door(f"address {experiment.id}", asks, knock_address)
    yield Door(f"command line {experiment.id}", asks, knock_command_line)


def _check_plan(experiment: Experiment, params: Any) -> None:
    """Params that were taken lead to a bounded plan and a script, or to a clear refusal."""
    try:
        cases = experiment.plan_cases(params, _MACHINE)
    except GpuExplainError as refusal:
        check_clear(str(refusal))
        return
    assert len(cases) <= MOST_CASES
    compile(experiment.write_snippet(params, None), "snippet.py", "exec")


def _file_knock(name: str) -> Callable[[tuple[bytes, str]], bool]:
    def knock(given_input: tuple[bytes, str]) -> bool:
        content, file_name = given_input
        to_json(analyse_content(name, content, file_name).findings)
        experiment = EXPERIMENTS.get(name)
        is_told = len(content) % _TOLD_EVERY == 0
        if is_told and experiment is not None and experiment.points_of_file is not None:
            series = read_series(name, content, file_name)
            _check_told(experiment, experiment.points_of_file(series, FileOrigin(file_name, "", Dtype.FP32)))
        return True

    return knock


def _check_told(experiment: Experiment, points: Any) -> None:
    """Points from anywhere lead to findings and words."""
    findings = experiment.find(points)
    experiment.flag_points(points, findings)
    assert experiment.tell(findings).answer
    experiment.findings_json(findings)


def _upload_door(experiment: Experiment) -> Door:
    """A page takes anybody's tables where it can read them, and any export; both are told and drawn."""
    exports = hostile.changed_json(_run_document(experiment)).map(
        lambda text: (text.encode("utf-8", "surrogatepass"), "run.json")
    )
    has_tables = experiment.id in ANALYSES and experiment.points_of_file is not None

    def knock(given_input: tuple[bytes, str]) -> bool:
        content, name = given_input
        return bool(make_dropped(experiment, read_content(experiment, content, name), "", None).points)

    inputs = st.one_of(hostile.tables(experiment.id), exports) if has_tables else exports
    return Door(f"upload {experiment.id}", inputs, knock, share=0.2)


_NVBANDWIDTH = {
    "nvbandwidth": {
        "version": "v0.8",
        "CUDA Runtime Version": 12080,
        "GPU Device list": ["0: NVIDIA H100 80GB HBM3 (00000000:07:00): (box)"],
        "testcases": [
            {"name": name, "status": "Passed", "bandwidth_matrix": [["55.4"]], "sum": 55.4}
            for name in ("host_to_device_memcpy_ce", "device_to_host_memcpy_ce")
        ],
    }
}


def _knock_nvbandwidth(text: str) -> bool:
    return _file_knock("transfer")((text.encode("utf-8", "surrogatepass"), "nv.json"))


def _run_document(experiment: Experiment) -> Any:
    """Return the export of a run: a point for each case of the usual plan, as if measured."""
    params = experiment.params_type()
    run = StoredRun(
        id="20260102-150405-ab12cd34", experiment=experiment.id, measuring_version=1, key="k", device="cpu",
        params=params.model_dump(mode="json"), machine=_MACHINE.model_dump(mode="json"), state=RunState.DONE,
        created_at=1.0, points=tuple(_point(experiment.id, case) for case in experiment.plan_cases(params, _MACHINE)),
    )  # fmt: skip
    return json.loads(export_json(run))


def _point(experiment_id: str, case: Case) -> Point:
    time_s = 1e-6 + case.work * 1e-10
    return Point(
        experiment=experiment_id, series=case.series, x=case.x, shape=case.shape, dtype=case.dtype, device=case.device,
        clock=case.clock, threads=case.threads, samples_s=(time_s,) * 7, n_samples=7, median_s=time_s, min_s=time_s,
        max_s=time_s, ci_low_s=time_s * 0.99, ci_high_s=time_s * 1.01, first_call_s=time_s * 2,
        flops=case.flops or None, bytes=case.bytes_moved or None, items=case.items or None, rel_error=1e-7,
    )  # fmt: skip


def _knock_import(text: str) -> bool:
    run = read_json(text, "run.json")
    if run.experiment in EXPERIMENTS:
        _check_told(EXPERIMENTS[run.experiment], run.points)
    return True


_A_POINT = _point("matmul", EXPERIMENTS["matmul"].plan_cases(EXPERIMENTS["matmul"].params_type(), _MACHINE)[0])
_EVENTS = (
    protocol.HelloEvent(protocol_version=1, pid=7),
    protocol.HeartbeatEvent(),
    protocol.WaitingEvent(job_id="j", holder="somebody"),
    protocol.StartedEvent(job_id="j"),
    protocol.PointEvent(job_id="j", point=_A_POINT),
    protocol.ProgressEvent(job_id="j", progress=Progress(share=0.5, phase="round 1")),
    protocol.FinishedEvent(
        job_id="j",
        coverage=Coverage(budget_s=1, wall_s=1, prepare_s=0, verify_s=0, warmup_s=0, timed_s=1, rounds=3),
    ),
    protocol.FailedEvent(job_id="j", reason="no memory"),
    protocol.RefusedEvent(reason="what?"),
)
_REQUESTS = (
    protocol.RunRequest(job_id="j", measure_module="m", params={"dtype": "fp32", "n": [1, None]}),
    protocol.CancelRequest(job_id="j"),
    protocol.ProbeRequest(threads=2),
    protocol.ExitRequest(),
)


def _changed_line(message: Any) -> st.SearchStrategy[bytes]:
    changed = hostile.changed_json(json.loads(encode(message)))
    as_bytes = changed.map(lambda text: text.encode("utf-8", "surrogatepass"))
    return st.one_of(as_bytes, as_bytes, as_bytes, st.binary(max_size=60))


def _knock_event(line: bytes) -> bool:
    decode_event(line)
    return True


def _knock_request(line: bytes) -> bool:
    decode_request(line)
    return True


_GOOD_SETTINGS = {
    "GPUEXPLAIN_HOME": st.just("here"),
    "GPUEXPLAIN_DATABASE_URL": st.sampled_from(["sqlite:///runs.db", "postgresql://db/runs"]),
    "GPUEXPLAIN_DEVICES": st.sampled_from(["cpu", "cpu,cuda:0", "cuda:12"]),
    "GPUEXPLAIN_MAX_DEVICE_MEMORY": st.floats(0.01, 1).map(str),
    "GPUEXPLAIN_MAX_BUDGET_S": st.floats(0.5, 3600).map(str),
    "GPUEXPLAIN_MAX_QUEUE": st.integers(1, 1000).map(str),
    "GPUEXPLAIN_READ_ONLY": st.sampled_from(["true", "false", "1", "0"]),
}


def _environments() -> st.SearchStrategy[dict[str, str]]:
    """Return what an operator may have set; an environment cannot hold NUL or lone surrogates."""
    texts = hostile.texts.filter(lambda text: "\x00" not in text and text.isprintable())
    names = [f"GPUEXPLAIN_{name.upper()}" for name in Settings.model_fields]
    bad = st.dictionaries(st.sampled_from(names), texts, min_size=1, max_size=2)
    good = st.fixed_dictionaries({}, optional=_GOOD_SETTINGS)
    return st.one_of(good, st.builds(lambda a, b: {**a, **b}, good, bad))


@contextmanager
def _environment(names: dict[str, str]) -> Iterator[None]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("GPUEXPLAIN_")}
    with patch.dict(os.environ, {**kept, **names}, clear=True):
        yield


def _knock_settings(names: dict[str, str]) -> bool:
    with _environment(names):
        load_settings.__wrapped__()
    return bool(names)
