"""How one case is sampled: warm-up, blocks, convergence, cost. Pure rules, no clock, no torch.

The page "How we measure" is generated from these constants.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

# Half of the 95 % interval, as a share of the median, at which a case is done.
TARGET_HALF_WIDTH = 0.02
# Convergence is tested at 7, 14, 28, ... samples: testing after every sample would stop at the
# first lucky streak and the interval would not cover as often as it claims.
FIRST_CONVERGENCE_CHECK = 7
# A block of short calls lasts at least this long, far above any host clock's resolution.
BLOCK_S = 0.002
# Untimed calls before the timed ones: they bring back the caches that the previous case evicted.
UNTIMED_CALLS = 2
# One is enough for a call this long: refilling a cache is a small share of it.
LONG_CALL_S = 0.02
WARMUP_MOST_CALLS = 10
WARMUP_BUDGET_SHARE = 0.05
# The last calls of a warm-up show no trend when none of them is faster than its
# predecessor by more than this.
WARMUP_TREND = 0.05
WARMUP_TREND_CALLS = 3
# A size enters a preset if this many predicted calls fit in this share of the budget.
ENTRY_CALLS = 8
ENTRY_BUDGET_SHARE = 0.2
# A case sits out while it has taken more than this share of the time so far, so that one slow
# case cannot starve the fast ones.
MOST_SHARE_OF_ONE_CASE = 0.2
# An explicit size runs when a cold call, a timed one and one to spare are predicted to fit.
EXPLICIT_CALLS = 3
# Under this many clock ticks a block says more about the clock than about the work.
FEWEST_TICKS = 20


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """One sample: ``untimed`` calls, then ``n_calls`` timed ones."""

    untimed: int
    n_calls: int

    def cost_s(self, call_s: float) -> float:
        """Return the predicted time of the block."""
        return (self.untimed + self.n_calls) * call_s


def plan_block(call_s: float, most_calls: int) -> BlockPlan:
    """Return the block for a call of about ``call_s`` seconds; ``most_calls`` is 1 where each call syncs."""
    fills_block = ceil(BLOCK_S / max(call_s, 1e-9) - 1e-6)  # not one more for a rounding error
    n_calls = min(most_calls, max(1, fills_block))
    return BlockPlan(untimed=1 if call_s >= LONG_CALL_S else UNTIMED_CALLS, n_calls=n_calls)


def warmup_is_over(calls_s: Sequence[float], budget_s: float) -> bool:
    """Return whether the cold call and the warm-up calls after it (seconds, in order) suffice.

    Over when the last calls show no trend, at 10 calls, or before the next call would take the
    warm-up beyond 5 % of the budget.
    """
    warm_s = calls_s[1:]
    if len(warm_s) >= WARMUP_MOST_CALLS:
        return True
    if warm_s and sum(calls_s) + warm_s[-1] > WARMUP_BUDGET_SHARE * budget_s:
        return True
    if not warm_s and sum(calls_s) > WARMUP_BUDGET_SHARE * budget_s:
        return True
    last = warm_s[-WARMUP_TREND_CALLS:]
    if len(last) < WARMUP_TREND_CALLS:
        return False
    return all(later >= earlier * (1 - WARMUP_TREND) for earlier, later in pairwise(last))


def is_convergence_check(n_samples: int) -> bool:
    """Return whether convergence is tested at this number of samples (7, 14, 28, ...)."""
    quotient, rest = divmod(n_samples, FIRST_CONVERGENCE_CHECK)
    return rest == 0 and quotient > 0 and quotient & (quotient - 1) == 0


def predict_call_s(work: float, known: Sequence[tuple[float, float]]) -> float | None:
    """Return the predicted seconds of a call doing ``work``, from (work, seconds) of the same series.

    Scales the nearest smaller case by its work: a larger product is rarely less efficient, so this
    errs towards caution. None when nothing smaller ran.
    """
    smaller = [pair for pair in known if pair[0] <= work]
    if not smaller:
        return None
    known_work, call_s = max(smaller)
    return call_s * work / known_work


def predict_affine_s(work: float, known: Sequence[tuple[float, float]]) -> float | None:
    """Return the predicted seconds of a call that also costs something whatever its work (a step of a batch).

    The straight line through the two nearest smaller cases, between the time of the nearest and that
    time scaled by the work: where the fixed part decides, twice the work takes hardly longer.
    """
    smaller = sorted(pair for pair in known if pair[0] <= work)
    scaled_s = predict_call_s(work, known)
    if scaled_s is None or len(smaller) < 2:
        return scaled_s
    (work_before, before_s), (nearest_work, nearest_s) = smaller[-2:]
    slope = (nearest_s - before_s) / (nearest_work - work_before) if nearest_work > work_before else 0.0
    return min(scaled_s, max(nearest_s, nearest_s + slope * (work - nearest_work)))


def fits_preset(call_s: float, budget_s: float) -> bool:
    """Return whether a size of a preset enters the sweep."""
    return ENTRY_CALLS * call_s <= ENTRY_BUDGET_SHARE * budget_s


def fits_explicit(call_s: float, remaining_s: float) -> bool:
    """Return whether a size that the visitor named can still run."""
    return EXPLICIT_CALLS * call_s <= remaining_s
