"""Can the app take a run? Exit status 0 if it says so itself, else 1 with the reason.

An unknown address of Streamlit answers with a page and status 200, so the JSON decides, not the status.
Usage: healthcheck.py [ADDRESS]; the address is that of /api/ready.
"""

import json
import sys
import urllib.error
import urllib.request

_ADDRESS = "http://127.0.0.1:8501/api/ready"
_WAIT_S = 8


def read_ready(address: str) -> tuple[bool, str]:
    """Return whether the app is ready, and its answer or what is wrong with it."""
    try:
        with urllib.request.urlopen(address, timeout=_WAIT_S) as answer:  # noqa: S310 - our own address
            text = answer.read().decode()
    except urllib.error.HTTPError as error:  # 503: not ready, with the reasons
        text = error.read().decode()
    except (OSError, ValueError) as error:
        return False, f"no answer from {address}: {error}"
    try:
        return json.loads(text)["ready"] is True, text
    except (ValueError, TypeError, KeyError):
        return False, f"{address} does not answer as /api/ready does"


def main() -> int:
    """Print the answer and return the exit status."""
    is_ready, text = read_ready(sys.argv[1] if len(sys.argv) > 1 else _ADDRESS)
    print(text)
    return 0 if is_ready else 1


if __name__ == "__main__":
    sys.exit(main())
