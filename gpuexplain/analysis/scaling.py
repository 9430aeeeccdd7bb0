"""How much faster do more workers make it, and what share of the work stays serial?"""

from collections.abc import Sequence
from dataclasses import dataclass

from gpuexplain.findings import NotFound
from gpuexplain.model import Point
from gpuexplain.points import usable

# Two or three counts fit any curve: a serial share from them would be an invention.
FEWEST_COUNTS = 4
# Amdahl's law describes the points when no speed-up is off by more than this.
FITS_WITHIN = 0.10


@dataclass(frozen=True, slots=True)
class Speedup:
    """How many times as fast ``workers`` are as one, with the bounds of both intervals."""

    workers: int
    factor: float
    low: float | None
    high: float | None

    @property
    def efficiency(self) -> float:
        """The share of the ideal speed-up that was reached."""
        return self.factor / self.workers


@dataclass(frozen=True, slots=True)
class SerialShare:
    """Amdahl's law, 1 / S(p) = s + (1 - s) / p, fitted: the serial share s, and the limit 1 / s."""

    share: float
    limit: float | None  # the speed-up that no number of workers exceeds; None where s is 0
    worst_residual: float
    n_counts: int
    fewest_counts: int = FEWEST_COUNTS


def has_base(points: Sequence[Point]) -> bool:
    """Return whether a speed-up can be said: one worker, and another count."""
    counts = {int(p.x) for p in points}
    return 1 in counts and len(counts) > 1


def find_speedups(points: Sequence[Point]) -> tuple[Speedup, ...]:
    """Return the speed-up of every count of workers (a point's ``x``) over one worker; () without that one."""
    by_count = {int(p.x): p for p in usable(points)}
    one = by_count.get(1)
    if one is None or not one.median_s:
        return ()
    return tuple(_speedup(one, by_count[count]) for count in sorted(by_count))


def _speedup(one: Point, many: Point) -> Speedup:
    assert one.median_s
    assert many.median_s
    workers, factor = int(many.x), one.median_s / many.median_s
    if workers == 1:
        return Speedup(1, 1.0, 1.0, 1.0)
    if not (one.ci_low_s and one.ci_high_s and many.ci_low_s and many.ci_high_s):
        return Speedup(workers, factor, None, None)
    return Speedup(workers, factor, one.ci_low_s / many.ci_high_s, one.ci_high_s / many.ci_low_s)


def find_serial_share(speedups: Sequence[Speedup]) -> SerialShare | NotFound:
    """Return the share of the work that does not speed up, by least squares on 1 / S.

    ``NotFound`` from fewer than four counts, where some speed-up is off the law by more than 10 %,
    and where the fit leaves 0 to 1 (caches or clocks changed with the number of workers).
    """
    if len(speedups) < FEWEST_COUNTS:
        have = ", ".join(str(s.workers) for s in speedups) or "none"
        reason = f"a serial share needs {FEWEST_COUNTS} counts of workers, there are {len(speedups)} ({have})"
        return NotFound("serial share", reason)
    # 1/S - 1/p = s (1 - 1/p): one unknown, through the origin.
    known = [(1 - 1 / s.workers, 1 / s.factor - 1 / s.workers) for s in speedups]
    share = sum(a * b for a, b in known) / sum(a * a for a, _ in known)
    if not -FITS_WITHIN / 2 <= share <= 1:
        return NotFound(
            "serial share", f"the fitted share is {share:.2f}: the speed-up is more than the workers explain"
        )
    share = max(0.0, share)
    residuals = [abs(s.factor * (share + (1 - share) / s.workers) - 1) for s in speedups]
    if max(residuals) > FITS_WITHIN:
        off = f"a speed-up is {max(residuals):.0%} off the law"
        return NotFound("serial share", f"{off}: something else limits it, such as shared cores or memory")
    return SerialShare(share, 1 / share if share else None, max(residuals), len(speedups))
