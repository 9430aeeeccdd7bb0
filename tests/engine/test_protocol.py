"""Messages survive the pipe; what is none is a clear error."""

import math

import pytest
from fake_measure import make_point

from gpuexplain.engine.protocol import (
    PointEvent,
    ProbeRequest,
    RunRequest,
    decode_event,
    decode_request,
    encode,
)
from gpuexplain.errors import EngineError


def test_a_point_arrives_as_it_was_sent() -> None:
    """Not a number and infinity included, in one line."""
    point = make_point(1, rel_error=math.inf, reason="two\nlines")
    line = encode(PointEvent(job_id="j", point=point))
    assert line.count(b"\n") == 1
    assert decode_event(line) == PointEvent(job_id="j", point=point)


def test_a_request_arrives_as_it_was_sent() -> None:
    """With its params."""
    request = RunRequest(job_id="j", measure_module="m", params={"a": [1, None, "x"]})
    assert decode_request(encode(request)) == request
    assert decode_request(b'{"kind":"probe"}') == ProbeRequest()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"Segmentation fault\n", "'Segmentation fault'"),
        (b'{"kind":"nonsense"}', "nonsense"),
        (b'{"kind":"point","job_id":"j"}', "point"),
        (b"\xff\xfe\x00", "Invalid JSON"),
        (b'{"kind":"heartbeat","more":1}', "more"),
    ],
    ids=["text", "unknown", "half", "binary", "too much"],
)
def test_what_is_no_message_is_a_clear_error(line: bytes, said: str) -> None:
    """It shows the beginning of the line, and what to do."""
    with pytest.raises(EngineError, match=r"Not a valid event of protocol 1: .*restart it\.") as told:
        decode_event(line)
    assert said in str(told.value)


def test_a_wrong_request_is_a_clear_error() -> None:
    """For the worker's side of the pipe."""
    with pytest.raises(EngineError, match="Not a valid request of protocol 1"):
        decode_request(b'{"kind":"point"}')
