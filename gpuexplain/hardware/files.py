"""What does a small text file of the kernel say, if it is there at all?"""

from pathlib import Path

ROOT = Path("/")


def read_text(path: Path) -> str | None:
    """Return the stripped text of ``path``, or None where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def read_int(path: Path) -> int | None:
    """Return the one whole number in ``path``, or None without one ("max" included)."""
    text = read_text(path)
    try:
        return int(text) if text else None
    except ValueError:
        return None


def parse_key_numbers(text: str | None) -> dict[str, int]:
    """Return the numbers of a file of ``key number`` lines, such as ``cpu.stat``."""
    numbers: dict[str, int] = {}
    for line in (text or "").splitlines():
        key, _, number = line.partition(" ")
        if number.strip().lstrip("-").isdigit():
            numbers[key] = int(number)
    return numbers
