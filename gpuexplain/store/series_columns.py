"""Which columns may a file of measurements have, by experiment, and in which units?"""

import re
from dataclasses import dataclass

from gpuexplain.asked import shown
from gpuexplain.errors import InputError

# Columns that any file may have beside its numbers.
TEXT_COLUMNS = ("status", "reason", "flags")
# Unit column -> the column it stands for, and the factor. GB = 1e9 bytes, GiB = 2**30, MB = 1e6.
_UNITS: dict[str, tuple[str, float]] = {
    "gflops": ("tflops", 1e-3),
    "gibps": ("gbps", 2**30 / 1e9),
    "mbps": ("gbps", 1e-3),
}
_SMALL_SECONDS = re.compile(r"^(?P<of>\w*?)(?P<unit>milliseconds|microseconds)(?P<bound>_lo|_hi)?$")
_SECONDS = {"milliseconds": 1e-3, "microseconds": 1e-6}


@dataclass(frozen=True, slots=True)
class SeriesColumns:
    """What one experiment reads: a size, figures of which it needs one of each group, and extras."""

    size: str
    measures: tuple[tuple[str, ...], ...]  # one of each group is needed
    extras: tuple[str, ...] = ()  # numbers that may be missing
    has_dtype: bool = False

    @property
    def numbers(self) -> tuple[str, ...]:
        """Every column of numbers that may occur, size first, in canonical units."""
        figures = [name for group in self.measures for name in group] + list(self.extras)
        bounds = [f"{name}{end}" for name in figures if name not in _UNBOUNDED for end in ("_lo", "_hi")]
        return (self.size, *figures, *bounds)

    @property
    def known(self) -> tuple[str, ...]:
        """Every column that may occur, in canonical units."""
        return (*(("dtype",) if self.has_dtype else ()), *self.numbers, *TEXT_COLUMNS)

    def describe(self) -> str:
        """Return the needed columns in words."""
        needed = [self.size, *(" or ".join(group) for group in self.measures)]
        return ", ".join((["dtype"] if self.has_dtype else []) + needed)


_UNBOUNDED = ("flops", "rel_error")
SERIES_COLUMNS: dict[str, SeriesColumns] = {
    "matmul": SeriesColumns("n", (("tflops", "seconds"),), _UNBOUNDED),
    "precision": SeriesColumns("n", (("tflops", "seconds"),), _UNBOUNDED, has_dtype=True),
    "batch": SeriesColumns("batch", (("throughput", "seconds"),)),
    "transfer": SeriesColumns("bytes", (("gbps", "seconds"),)),
    "crossover": SeriesColumns("n", (("cpu_seconds",), ("gpu_seconds",)), ("gpu_with_transfer_seconds",)),
}


def columns_of(experiment: str) -> SeriesColumns:
    """Return the columns of an experiment's files.

    Raises:
        InputError: If there is no such experiment.
    """
    if experiment not in SERIES_COLUMNS:
        raise InputError(
            f"Cannot analyse {shown(experiment)}: unknown experiment. Choose one of {', '.join(SERIES_COLUMNS)}."
        )
    return SERIES_COLUMNS[experiment]


def canonical_column(name: str) -> tuple[str, float]:
    """Return the column that ``name`` stands for and what to multiply its numbers by."""
    small = _SMALL_SECONDS.match(name)
    if small:
        return f"{small['of']}seconds{small['bound'] or ''}", _SECONDS[small["unit"]]
    stem, bound = (name[:-3], name[-3:]) if name.endswith(("_lo", "_hi")) else (name, "")
    canonical, factor = _UNITS.get(stem, (stem, 1.0))
    return canonical + bound, factor
