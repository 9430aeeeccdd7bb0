"""A real server that a test can kill and start again on the same data."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from faults_made import PATIENCE_S, ROOT

from benchmarks.server import free_port

SCRIPT = Path(__file__).with_name("fault_app.py")


class Server:
    """``streamlit run`` of the app with a light worker."""

    def __init__(self, home: Path, lock: Path, script: Path = SCRIPT, **environment: str) -> None:
        """Start it, without waiting."""
        self.address = f"http://127.0.0.1:{(port := free_port())}"
        self.log = lock / f"server-{port}.log"
        command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
        with self.log.open("wb") as printed:
            self.process = subprocess.Popen(
                [*command, "--server.address", "127.0.0.1", "--server.headless", "true"],
                cwd=ROOT,
                env={**os.environ, "GPUEXPLAIN_HOME": str(home), "FAULTS_LOCK": str(lock), **environment},
                stdout=printed,
                stderr=subprocess.STDOUT,
            )

    def get(self, path: str, method: str = "GET") -> tuple[int, Any]:
        """Return status and JSON of an answer; a text where it is none."""
        try:
            with urlopen(Request(self.address + path, method=method), timeout=PATIENCE_S) as answer:
                status, body = answer.status, answer.read()
        except HTTPError as error:
            status, body = error.code, error.read()
        try:
            return status, json.loads(body)
        except ValueError:
            return status, body.decode()

    def wait_until(self, path: str, wanted: int = 200) -> Any:
        """Return what a path answers, once it answers with this status."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                status, answer = self.get(path)
                if status == wanted:
                    return answer
            except (URLError, OSError):
                pass
            time.sleep(0.05)
        raise AssertionError(f"{path} never answered {wanted}:\n{self.log.read_text()[-3000:]}")

    def run(self, script: str) -> str:
        """Ask for a run of a script; return its id."""
        return self.get(f"/test/run?script={quote(script)}", "POST")[1]["run_id"]

    def resume(self, run_id: str) -> str:
        """Go on with a run; return the id of the new one."""
        return self.get(f"/test/run?resume={run_id}", "POST")[1]["run_id"]

    def job(self, run_id: str) -> dict[str, Any]:
        """Return how a run stands."""
        return self.get(f"/test/job?id={run_id}")[1]

    def end(self, number: signal.Signals) -> int:
        """Send a signal, wait for the end and return the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)
