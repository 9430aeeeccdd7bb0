"""What a sweep remembers of one case, and the point it makes of it."""

from dataclasses import dataclass, field

from gpuexplain.measuring.sampling import (
    FEWEST_TICKS,
    TARGET_HALF_WIDTH,
    BlockPlan,
    is_convergence_check,
    plan_block,
)
from gpuexplain.measuring.statistics import FEWEST_FOR_INTERVAL, is_drifting, summarise
from gpuexplain.measuring.stopwatch import Block, Check, Stopwatch
from gpuexplain.model import Case, Conditions, Flag, Point, Status


@dataclass(slots=True)
class Track:
    """The growing record of one case."""

    case: Case
    stopwatch: Stopwatch | None = None
    first_call_s: float | None = None
    warmup_s: list[float] = field(default_factory=list)
    samples_s: list[float] = field(default_factory=list)
    calls_per_sample: list[int] = field(default_factory=list)
    shortest_block_s: float = float("inf")
    spent_s: float = 0.0
    converged: bool = False
    status: Status = Status.OK
    reason: str = ""
    check: Check | None = None
    changed: bool = True  # since it was last handed over

    @property
    def call_s(self) -> float:
        """The best guess of one call's seconds."""
        recent = self.samples_s[-5:] or self.warmup_s[-1:] or [self.first_call_s or 0.0]
        return sorted(recent)[len(recent) // 2]

    @property
    def fastest_call_s(self) -> float:
        """The seconds of the fastest call so far: what one takes that waited for nobody."""
        return min((*self.samples_s, *self.warmup_s), default=self.call_s)

    @property
    def is_open(self) -> bool:
        """Whether more samples would help."""
        return self.status is Status.OK and not self.converged and self.stopwatch is not None

    @property
    def is_ready(self) -> bool:
        """Whether it has run and can run again."""
        return self.status is Status.OK and self.stopwatch is not None and bool(self.samples_s)

    def plan(self) -> BlockPlan:
        """Return the next block."""
        assert self.stopwatch is not None
        return plan_block(self.call_s, self.stopwatch.most_calls)

    def add(self, block: Block, n_calls: int) -> None:
        """Take a sample in, and test convergence where the schedule says so."""
        self.samples_s.append(block.call_s)
        self.calls_per_sample.append(n_calls)
        self.shortest_block_s = min(self.shortest_block_s, block.timed_s)
        self.changed = True
        if is_convergence_check(len(self.samples_s)):
            self.judge()

    def judge(self) -> None:
        """Decide from the samples whether the interval is narrow enough."""
        half_width = summarise(self.samples_s).half_width
        self.converged = half_width is not None and half_width <= TARGET_HALF_WIDTH

    def end(self, status: Status, reason: str) -> None:
        """Close the case with an outcome that is not ok."""
        self.status, self.reason, self.changed = status, reason, True
        self.stopwatch = None

    def take_check(self, check: Check) -> None:
        """Keep what the comparison with float64 said; a fast wrong result is a failed point."""
        self.check, self.changed = check, True
        if check.failure:
            self.end(Status.FAILED, check.failure)

    def flags(self, extra: tuple[Flag, ...] = ()) -> tuple[Flag, ...]:
        """Return what a reader should know, in the order of ``Flag``."""
        found = set(extra)
        if self.status is Status.OK and self.samples_s:
            if len(self.samples_s) < FEWEST_FOR_INTERVAL:
                found.add(Flag.FEW_SAMPLES)
            if not self.converged:
                found.add(Flag.NOT_CONVERGED)
            if is_drifting(self.samples_s):
                found.add(Flag.DRIFTING)
            if self.stopwatch and self.shortest_block_s < FEWEST_TICKS * self.stopwatch.resolution_s:
                found.add(Flag.BELOW_TIMER_RESOLUTION)
        if self.check and self.check.ran_as:
            found.add(Flag.FALLBACK)
        return tuple(flag for flag in Flag if flag in found)

    def point(
        self,
        experiment: str,
        device_name: str,
        conditions: Conditions | None = None,
        extra_flags: tuple[Flag, ...] = (),
    ) -> Point:
        """Return the point as it stands."""
        case, check = self.case, self.check
        stats = summarise(self.samples_s) if self.samples_s else None
        return Point(
            experiment=experiment,
            series=case.series,
            x=case.x,
            shape=case.shape,
            dtype=case.dtype,
            device=case.device,
            device_name=device_name,
            clock=case.clock,
            threads=case.threads,
            status=self.status,
            reason=self.reason or (f"ran as {check.ran_as}, by its error" if check and check.ran_as else ""),
            flags=self.flags(extra_flags),
            timing=self.stopwatch.timing if self.stopwatch else "",
            samples_s=tuple(self.samples_s),
            calls_per_sample=tuple(self.calls_per_sample),
            n_samples=len(self.samples_s),
            median_s=stats.median_s if stats else None,
            q1_s=stats.q1_s if stats else None,
            q3_s=stats.q3_s if stats else None,
            min_s=stats.min_s if stats else None,
            max_s=stats.max_s if stats else None,
            ci_low_s=stats.ci_low_s if stats else None,
            ci_high_s=stats.ci_high_s if stats else None,
            first_call_s=self.first_call_s,
            warmup_s=tuple(self.warmup_s),
            flops=case.flops,
            bytes=case.bytes_moved,
            items=case.items or None,
            rel_error=check.rel_error if check else None,
            nan_count=check.nan_count if check else None,
            inf_count=check.inf_count if check else None,
            cache_ratio=self.stopwatch.cache_ratio if self.stopwatch else None,
            conditions=conditions,
            gauges=check.gauges if check else None,
        )
