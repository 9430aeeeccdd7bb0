"""What does the log look like? One line an event, with named fields, as text or JSON, on standard error.

A field is a fact such as ``run`` or ``took_s``. Who asked for a run is never a field, nor is a password.
"""

import json
import logging
import sys
import time
from typing import Any, Final, Literal, TextIO

ROOT_NAME = "gpuexplain"
Level = Literal["debug", "info", "warning", "error"]
Format = Literal["text", "json"]

_FIELDS: Final = "gpuexplain_fields"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:/+%")


def log_event(logger: logging.Logger, level: int, event: str, **fields: Any) -> None:
    """Log an event such as ``run_ended`` with its facts; those that are None or "" are left out."""
    logger.log(level, event, extra={_FIELDS: {name: fact for name, fact in fields.items() if fact not in (None, "")}})


def configure_logging(level: Level = "info", format_: Format = "text", stream: TextIO | None = None) -> None:
    """Send the log of this package to standard error, one line an event; other loggers stay as they are."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Json() if format_ == "json" else _Text())
    logger = logging.getLogger(ROOT_NAME)
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False


def _facts(record: logging.LogRecord, formatter: logging.Formatter) -> dict[str, Any]:
    """Return everything that a line says, in order."""
    facts = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
        "level": record.levelname.lower(),
        "logger": record.name,
        "event": record.getMessage(),
        **getattr(record, _FIELDS, {}),
    }
    if record.exc_info:
        facts["exception"] = formatter.formatException(record.exc_info)
    return facts


class _Json(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(_facts(record, self), default=str)


class _Text(logging.Formatter):
    """Time, level, logger and event, then ``name=fact``; quoted where a fact is more than a plain word."""

    def format(self, record: logging.LogRecord) -> str:
        facts = _facts(record, self)
        head = f"{facts.pop('time')} {facts.pop('level').upper()} {facts.pop('logger')} {_one_line(facts.pop('event'))}"
        return " ".join([head, *(f"{name}={_write(fact)}" for name, fact in facts.items())])


def _write(fact: Any) -> str:
    text = f"{fact:.6g}" if isinstance(fact, float) else str(fact)
    return text if text and _PLAIN.issuperset(text) else json.dumps(text, ensure_ascii=False)


def _one_line(text: str) -> str:
    return (
        text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r") if "\n" in text or "\r" in text else text
    )
