"""Which messages go between the runner and its worker: one JSON object a line, checked on both sides."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from gpuexplain.errors import EngineError
from gpuexplain.hardware.machine import TorchProbe
from gpuexplain.measuring.session import Coverage, Progress
from gpuexplain.model import Point
from gpuexplain.store.encoding import dump_json

# 1: first release.
PROTOCOL_VERSION = 1

# A point with 2,000 samples takes about 50 kB: a longer line than this is no message.
MAX_LINE_BYTES = 16 * 2**20
_SHOWN_CHARACTERS = 80
_SHOWN_REASON = 300


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RunRequest(_Message):
    """Measure: call ``measure(params, session)`` of the module of this name."""

    kind: Literal["run"] = "run"
    job_id: str
    measure_module: str
    params: dict[str, JsonValue]
    label: str = ""  # what is measured, for those who wait for the host's lock


class CancelRequest(_Message):
    """Stop this job after its current block, or while it waits."""

    kind: Literal["cancel"] = "cancel"
    job_id: str


class ProbeRequest(_Message):
    """Load torch and say what it finds; also makes the first run fast."""

    kind: Literal["probe"] = "probe"
    threads: int | None = Field(default=None, ge=1)  # None: as many as this process may use


class ExitRequest(_Message):
    """End after the job in hand."""

    kind: Literal["exit"] = "exit"


class HelloEvent(_Message):
    """The first message of a worker."""

    kind: Literal["hello"] = "hello"
    protocol_version: int
    pid: int


class HeartbeatEvent(_Message):
    """The worker lives; about one a second, also during a job."""

    kind: Literal["heartbeat"] = "heartbeat"


class WaitingEvent(_Message):
    """The job waits until another process of this host has measured."""

    kind: Literal["waiting"] = "waiting"
    job_id: str
    holder: str  # who measures, in words


class StartedEvent(_Message):
    """The job holds the host's lock and measures."""

    kind: Literal["started"] = "started"
    job_id: str


class PointEvent(_Message):
    """A new or narrowed point."""

    kind: Literal["point"] = "point"
    job_id: str
    point: Point


class ProgressEvent(_Message):
    """How far the job is."""

    kind: Literal["progress"] = "progress"
    job_id: str
    progress: Progress


class FinishedEvent(_Message):
    """The job ended as it should, or as it was asked to."""

    kind: Literal["finished"] = "finished"
    job_id: str
    cancelled: bool = False
    coverage: Coverage | None = None  # None: cancelled before it measured
    restart: bool = False  # this worker should not measure again


class FailedEvent(_Message):
    """The job could not go on."""

    kind: Literal["failed"] = "failed"
    job_id: str
    reason: str
    restart: bool = False  # this worker should not measure again


class ProbedEvent(_Message):
    """What torch found."""

    kind: Literal["probed"] = "probed"
    probe: TorchProbe


class RefusedEvent(_Message):
    """The worker did not understand a request, or could not do what is not a job."""

    kind: Literal["refused"] = "refused"
    reason: str


Request = RunRequest | CancelRequest | ProbeRequest | ExitRequest
Event = (
    HelloEvent
    | HeartbeatEvent
    | WaitingEvent
    | StartedEvent
    | PointEvent
    | ProgressEvent
    | FinishedEvent
    | FailedEvent
    | ProbedEvent
    | RefusedEvent
)

_REQUESTS: TypeAdapter[Request] = TypeAdapter(Annotated[Request, Field(discriminator="kind")])
_EVENTS: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])


def encode(message: Request | Event) -> bytes:
    """Return the message as one line, its newline included; NaN and infinity survive."""
    return dump_json(message).encode() + b"\n"


def decode_request(line: bytes) -> Request:
    """Return the request in a line.

    Raises:
        EngineError: If the line is none; the text shows its beginning.
    """
    try:
        return _REQUESTS.validate_json(line)
    except ValidationError as error:
        raise _not_a_message("request", line, error) from None


def decode_event(line: bytes) -> Event:
    """Return the event in a line.

    Raises:
        EngineError: If the line is none; the text shows its beginning.
    """
    try:
        return _EVENTS.validate_json(line)
    except ValidationError as error:
        raise _not_a_message("event", line, error) from None


def _not_a_message(what: str, line: bytes, error: ValidationError) -> EngineError:
    shown = line[:_SHOWN_CHARACTERS].decode(errors="replace").strip()
    problem = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    why = ascii(f"{place + ': ' if place else ''}{problem['msg']}"[:_SHOWN_REASON])[1:-1]  # it may repeat the line
    return EngineError(
        f"Not a valid {what} of protocol {PROTOCOL_VERSION}: {shown!r} ({why}). "
        "If GPU Explain was updated meanwhile, restart it."
    )
