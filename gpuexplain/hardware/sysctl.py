"""What does macOS say about its hardware?"""

import subprocess
import sys


def read_sysctl(name: str) -> str | None:
    """Return a value of macOS's ``sysctl``, or None on every other system."""
    if sys.platform != "darwin":
        return None
    try:
        answer = subprocess.run(
            ["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, timeout=2, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None
