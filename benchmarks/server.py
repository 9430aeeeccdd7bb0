"""A server under test on a free port, and a browser that is really there."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
START_S = 60.0


def free_port() -> int:
    """Return a port that was free just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serve(
    script: str | Path, home: Path, log: Path | None = None, **environment: str
) -> Iterator[tuple[str, subprocess.Popen[bytes], float]]:
    """Yield (address, process, start time) of ``streamlit run script``; not yet waited for.

    What it prints goes to ``log``, which may be read afterwards.
    """
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.headless", "true"]
    started_s = time.perf_counter()
    with (log or Path(os.devnull)).open("wb") as printed:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "GPUEXPLAIN_HOME": str(home), **environment},
            stdout=printed,
            stderr=subprocess.STDOUT,
        )
    try:
        yield f"http://127.0.0.1:{port}", process, started_s
    finally:
        process.terminate()
        process.wait(20)


def wait_for(url: str, started_s: float, wanted: str = "") -> float:
    """Return the seconds since ``started_s`` at which ``url`` answers 200 (and holds ``wanted``)."""
    while time.perf_counter() - started_s < START_S:
        try:
            with urlopen(url, timeout=10) as answer:
                if wanted in answer.read().decode():
                    return time.perf_counter() - started_s
        except (URLError, OSError):
            pass
        time.sleep(0.02)
    raise TimeoutError(f"{url} did not answer in {START_S:g} s")


def is_ready(text: str) -> bool:
    """Return whether a readiness answer says ready."""
    return bool(json.loads(text).get("ready"))


@contextmanager
def browser() -> Iterator[Browser]:
    """Yield a headless Chromium."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        try:
            yield running
        finally:
            running.close()


@contextmanager
def temporary_home() -> Iterator[Path]:
    """Yield an empty data folder."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
