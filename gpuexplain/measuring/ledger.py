"""Where the seconds of a sweep went, and how far it is."""

from dataclasses import dataclass

from gpuexplain.measuring.session import Coverage, Progress


@dataclass(slots=True)
class Ledger:
    """Seconds by what they were spent on."""

    budget_s: float
    prepare_s: float = 0.0
    verify_s: float = 0.0
    warmup_s: float = 0.0
    timed_s: float = 0.0
    rounds: int = 0
    predicted_call_s: float = 0.0  # the longest call that was predicted

    def coverage(self, wall_s: float) -> Coverage:
        """Return the final account after ``wall_s`` seconds."""
        return Coverage(
            budget_s=self.budget_s,
            wall_s=wall_s,
            prepare_s=self.prepare_s,
            verify_s=self.verify_s,
            warmup_s=self.warmup_s,
            timed_s=self.timed_s,
            rounds=self.rounds,
            predicted_call_s=self.predicted_call_s,
        )

    def progress(self, phase: str, elapsed_s: float) -> Progress:
        """Return how far the sweep is after ``elapsed_s`` seconds."""
        return Progress(
            share=min(1.0, elapsed_s / self.budget_s),
            phase=phase,
            round=self.rounds,
            elapsed_s=elapsed_s,
            remaining_s=max(0.0, self.budget_s - elapsed_s),
        )
