"""A database's password appears nowhere: not in an address, an error, a log or doctor's answer."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuexplain.errors import StoreError
from gpuexplain.store.database import open_database, told_as_store_error
from gpuexplain.store.redaction import hide_secrets, redact

ADDRESSES = [
    ("postgresql://ann:wonder%40land@db:5432/runs", "postgresql://ann:***@db:5432/runs"),
    ("postgresql://ann:wonder@land@db/runs", "postgresql://ann:***@db/runs"),
    ("postgresql://ann:pa/ss:wo?rd@db/runs", "postgresql://ann:***@db/runs"),
    (
        "postgresql+psycopg://db/runs?user=ann&password=wonder@land",
        "postgresql+psycopg://db/runs?user=ann&password=***",
    ),
    ("mysql://db/runs?ssl_key=/x&passwd=wonder%40land&a=b", "mysql://db/runs?ssl_key=***&passwd=***&a=b"),
]


@pytest.mark.parametrize(("url", "shown"), ADDRESSES)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    """Also where an @ or a slash in it was not escaped, and where it is a parameter."""
    assert hide_secrets(url) == shown


@pytest.mark.parametrize("url", ["sqlite:////data/runs.db", "postgresql://db/runs", "sqlite:////a:b@c/x.db"])
def test_an_address_without_secrets_stays_as_it_is(url: str) -> None:
    """Nothing is hidden that a person needs."""
    assert hide_secrets(url) == url
    assert redact(f"cannot open {url}", url) == f"cannot open {url}"


@pytest.mark.parametrize("url", [url for url, _ in ADDRESSES] + ["postgresql://ann:wonder@land@db:port/runs"])
def test_an_error_does_not_repeat_it(url: str, caplog: pytest.LogCaptureFixture) -> None:
    """Neither our words nor the cause that a log would print."""
    with pytest.raises(StoreError) as problem:
        open_database(url)
    logging.getLogger("test").error("failed", exc_info=problem.value)
    for secret in ("wonder@land", "wonder%40land", "land@", "pa/ss:wo?rd"):
        assert secret not in str(problem.value)
        assert secret not in caplog.text


def test_what_a_driver_says_is_cleaned(caplog: pytest.LogCaptureFixture) -> None:
    """Some drivers put the whole address into their errors."""
    url = "postgresql://ann:wonder%40land@db/runs"
    with pytest.raises(StoreError) as problem, told_as_store_error("read", url):
        raise OSError(f"cannot reach {url}, user ann, password wonder@land")
    logging.getLogger("test").error("failed", exc_info=problem.value)
    assert "cannot reach postgresql://ann:***@db/runs, user ann, password ***" in str(problem.value)
    assert "land" not in caplog.text


@pytest.mark.parametrize("command", [["doctor"], ["runs"]])
def test_the_command_line_does_not_print_it(tmp_path: Path, command: list[str]) -> None:
    """Whatever a command says about a store that cannot be reached, on either stream."""
    environment = {
        **os.environ,
        "GPUEXPLAIN_HOME": str(tmp_path),
        "GPUEXPLAIN_DATABASE_URL": "postgresql://ann:wonder%40land@127.0.0.1:1/runs",
    }
    run = subprocess.run(
        [sys.executable, "-m", "gpuexplain", *command], capture_output=True, text=True, timeout=100, env=environment
    )
    assert "land@" not in run.stdout + run.stderr
    assert "wonder%40land" not in run.stdout + run.stderr
    assert "postgresql://ann:***@127.0.0.1:1/runs" in run.stdout + run.stderr
