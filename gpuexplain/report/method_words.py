"""The measuring method in prose, every number taken from the constant that the code uses."""

from gpuexplain.measuring import sampling, statistics
from gpuexplain.measuring.session import Coverage
from gpuexplain.model import HOLLOW_FLAGS, PRESET_BUDGET_S, Flag
from gpuexplain.units import format_percent, format_time
from gpuexplain.wording.short import format_budget, format_share

# What each flag means to a reader.
FLAG_WORDS: dict[Flag, str] = {
    Flag.NOT_CONVERGED: "the interval was still wider than the target when the time was up",
    Flag.FEW_SAMPLES: "too few samples for an interval: a whisker shows the extremes",
    Flag.SUSPECT: "out of line with its neighbours",
    Flag.UNDER_LOAD: "other programs used the processor or the GPU meanwhile",
    Flag.THROTTLED: "the GPU or the CPU quota held the speed down",
    Flag.DRIFTING: "the first third of the samples differs from the last third",
    Flag.COLD: "a first call, kept apart",
    Flag.ABOVE_PEAK: "faster than the part's peak: check timing, format or peak",
    Flag.BELOW_TIMER_RESOLUTION: "too short for the clock",
    Flag.EMULATED: "the device emulates this number format",
    Flag.FALLBACK: "ran in another number format",
}


def say_flag(flag: Flag) -> str:
    """Return a flag as words."""
    return flag.value.replace("_", " ")


def method_summary() -> str:
    """Return the method in one paragraph."""
    return (
        f"Each dot is the median of many samples; the band is its {format_share(statistics.CONFIDENCE)} "
        f"interval. A sample is a block of calls lasting at least {format_budget(sampling.BLOCK_S)}, divided "
        f"by their number, after {sampling.UNTIMED_CALLS} untimed calls. Sizes are visited in rounds, in a "
        f"random order, until every interval is within ±{format_share(sampling.TARGET_HALF_WIDTH)} or the "
        "time is up. The first call of every size is kept apart as the cold call."
    )


def method_sections() -> list[tuple[str, list[str]]]:
    """Return (title, sentences) of the page that describes the method."""
    return [
        ("One sample is a block of calls", _block()),
        ("Warm-up, and the cold call", _warmup()),
        ("Rounds in a random order", _rounds()),
        ("When a point is finished", _convergence()),
        ("Which sizes are measured", _entry()),
        ("The statistics", _statistics()),
        ("What a point can carry", [f"**{say_flag(flag)}**: {words}." for flag, words in FLAG_WORDS.items()]),
    ]


def _block() -> list[str]:
    return [
        f"A block lasts at least {format_budget(sampling.BLOCK_S)}, far above the clock's resolution; its "
        "time is divided by the number of calls in it. A call that takes longer is a block of its own.",
        f"Before it, {sampling.UNTIMED_CALLS} untimed calls bring back what other sizes pushed out of the "
        f"caches (1 untimed call where one takes {format_budget(sampling.LONG_CALL_S)} or more).",
        f"Under {sampling.FEWEST_TICKS} ticks of the clock a block is flagged.",
        "A GPU call returns before its work is done, so the device is synchronised before the clock "
        "starts and before it stops.",
    ]


def _warmup() -> list[str]:
    return [
        "The first call of every size loads libraries and fills caches. It is shown, and never a sample.",
        f"Warm-up ends when {sampling.WARMUP_TREND_CALLS} calls in a row are no more than "
        f"{format_share(sampling.WARMUP_TREND)} faster than the one before, after "
        f"{sampling.WARMUP_MOST_CALLS} calls, or at {format_share(sampling.WARMUP_BUDGET_SHARE)} of the "
        "budget.",
    ]


def _rounds() -> list[str]:
    return [
        "Each size is visited once, small to large; from then on every round visits the open sizes in a new "
        "random order, so that a clock that drifts meets all of them alike.",
        f"A size sits out while it has taken more than {format_share(sampling.MOST_SHARE_OF_ONE_CASE)} of "
        "the time so far.",
        "Once the coarse picture stands, sizes are added where the lines cross.",
    ]


def _convergence() -> list[str]:
    checks = [n for n in range(1, 8 * sampling.FIRST_CONVERGENCE_CHECK) if sampling.is_convergence_check(n)]
    return [
        f"The target is a half-width of {format_share(sampling.TARGET_HALF_WIDTH)} of the median.",
        f"It is tested at {', '.join(map(str, checks))}, ... samples only: testing after each one would "
        "stop at the first lucky streak.",
        "A size whose time is up first is kept and flagged, never dropped.",
    ]


def _entry() -> list[str]:
    presets = ", ".join(f"{preset.value} {format_budget(time_s)}" for preset, time_s in PRESET_BUDGET_S.items())
    return [
        f"The presets spend: {presets}.",
        f"A size enters a preset if {sampling.ENTRY_CALLS} predicted calls fit in "
        f"{format_share(sampling.ENTRY_BUDGET_SHARE)} of the budget.",
        f"A size you name yourself runs if {sampling.EXPLICIT_CALLS} calls fit in what is left; if not, "
        "it is shown as skipped, with the reason.",
    ]


def _statistics() -> list[str]:
    hollow = ", ".join(say_flag(flag) for flag in Flag if flag in HOLLOW_FLAGS)
    return [
        f"The median, with a {format_share(statistics.CONFIDENCE)} interval from the order of the "
        "samples: it assumes nothing about their distribution.",
        f"Under {statistics.FEWEST_FOR_INTERVAL} samples there is no interval: a whisker shows the extremes.",
        f"Points flagged {hollow} are drawn hollow and are never a best or the end of a range.",
    ]


def say_coverage(coverage: Coverage) -> str:
    """Return where the time of a run went."""
    return (
        f"{coverage.rounds} rounds in {format_time(coverage.wall_s)} of {format_time(coverage.budget_s)}: "
        f"{format_time(coverage.timed_s)} in samples, {format_time(coverage.warmup_s)} in warm-up and "
        f"untimed calls, {format_time(coverage.prepare_s)} preparing, "
        f"{format_time(coverage.verify_s)} checking results; "
        f"{format_percent(coverage.sampling_share)} of the rest went into calls."
    )
