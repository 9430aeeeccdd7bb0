"""Ports and JSON answers of the test server."""

import json
import socket
import time
import urllib.error
import urllib.request


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int) -> None:
    """Return once somebody listens on a port of this machine.

    Raises:
        TimeoutError: If nobody does in half a minute.
    """
    for _ in range(300):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(f"Nobody listens on port {port}.")


def get_json(url: str) -> tuple[int, dict]:
    """Return status and body of a JSON answer."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
