"""A line an event, with named facts, and nobody's name in it."""

import io
import json
import logging
import re
from collections.abc import Callable, Iterator

import pytest

from gpuexplain.logs import ROOT_NAME, configure_logging, log_event

LOG = logging.getLogger(f"{ROOT_NAME}.test")


@pytest.fixture
def lines() -> Iterator[Callable[..., list[str]]]:
    """Configure the log and return what was written; the log is as before afterwards."""
    logger = logging.getLogger(ROOT_NAME)
    before = (logger.handlers, logger.level, logger.propagate)
    stream = io.StringIO()

    def configure(level: str = "info", format_: str = "text") -> Callable[[], list[str]]:
        configure_logging(level, format_, stream)  # type: ignore[arg-type]
        return lambda: stream.getvalue().splitlines()

    yield configure
    logger.handlers, logger.propagate = before[0], before[2]
    logger.setLevel(before[1])


def test_a_line_of_text_can_be_read_and_split(lines) -> None:
    """Plain words stay plain, others are quoted; what is not known is left out."""
    written = lines()
    log_event(
        LOG, logging.INFO, "run_ended", run="20260102-150405-ab12", state="done", took_s=5.0123456, reason="", x=None
    )
    log_event(LOG, logging.WARNING, "worker_ended", how='was "killed"\nby us')
    (first, second) = written()
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO gpuexplain\.test run_ended "
        r"run=20260102-150405-ab12 state=done took_s=5\.01235",
        first,
    )
    assert second.endswith(r'WARNING gpuexplain.test worker_ended how="was \"killed\"\nby us"')


def test_a_line_of_json_holds_the_same(lines) -> None:
    """One object a line, line breaks and exceptions inside it."""
    written = lines(format_="json")
    log_event(LOG, logging.INFO, "run_ended", run="a", took_s=5.0)
    try:
        raise ZeroDivisionError("division by zero")
    except ZeroDivisionError:
        LOG.exception("it broke\nhere")
    first, second = map(json.loads, written())
    assert {name: first[name] for name in ("level", "event", "run", "took_s")} == {
        "level": "info",
        "event": "run_ended",
        "run": "a",
        "took_s": 5.0,
    }
    assert second["event"] == "it broke\nhere"
    assert second["exception"].endswith("ZeroDivisionError: division by zero")


def test_an_exception_stays_on_its_line(lines) -> None:
    """So does a message with line breaks, which could otherwise forge a line."""
    written = lines()
    try:
        raise ZeroDivisionError("division by zero")
    except ZeroDivisionError:
        LOG.exception("it broke\n2026-01-02T00:00:00.000Z INFO forged")
    (line,) = written()
    assert r"it broke\n2026-01-02" in line
    assert line.endswith(r'ZeroDivisionError: division by zero"')


def test_the_level_is_the_least_that_is_written(lines) -> None:
    """Below it nothing is."""
    written = lines(level="error")
    LOG.warning("no")
    LOG.error("yes")
    (line,) = written()
    assert line.endswith("ERROR gpuexplain.test yes")
