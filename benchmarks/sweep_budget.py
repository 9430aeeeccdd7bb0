"""Does a Standard sweep end within its budget, and how much of the time goes into calls?

Wanted: wall time at most the budget plus one predicted call; sampling share at least 85 %.
"""

from gpuexplain.experiments.matmul.measure import measure
from gpuexplain.measuring.session import Progress
from gpuexplain.model import Point


class Silent:
    """A session that nobody watches."""

    def point(self, point: Point) -> None:
        """Take a point."""

    def progress(self, progress: Progress) -> None:
        """Take note."""

    def cancelled(self) -> bool:
        """Never."""
        return False


def main() -> None:
    """Print budget, wall time and sampling share of the presets."""
    for preset in ("quick", "standard"):
        c = measure({"preset": preset}, Silent()).coverage
        allowed_s = c.budget_s + c.predicted_call_s
        print(
            f"{preset}: wall {c.wall_s:.3f} s of {allowed_s:.3f} s allowed (ratio {c.wall_s / allowed_s:.3f}), "
            f"{c.rounds} rounds, sampling share {c.sampling_share:.1%}"
        )


if __name__ == "__main__":
    main()
