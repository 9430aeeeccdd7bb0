"""The one number of this page for Home: by how much the wider side wins."""

from gpuexplain.experiments.contract import Headline
from gpuexplain.experiments.matmul.claims import best_rate_flops, headline_pair, headline_series, speedup_of
from gpuexplain.experiments.matmul.conclude import MatmulFindings, PairFinding
from gpuexplain.experiments.matmul.spec import CPU
from gpuexplain.units import format_factor, format_rate_flops, format_significant
from gpuexplain.wording.phrases import say_n


def find_headline(findings: MatmulFindings) -> Headline | None:
    """Return the speed-up of the headline pair at its largest size, else the best speed; None without a number."""
    pair = headline_pair(findings)
    found = speedup_of(pair.crossover) if pair is not None else None
    # Two series with a common size, both from the same origin.
    if pair is not None and found is not None:
        factor, n = found
        # The wider side is behind at this size: the other one is the news.
        if factor < 1:
            return Headline(
                _label(pair, wins=False), format_factor(1 / factor), _interval(pair, wins=False), f"at {say_n(n)}"
            )
        return Headline(_label(pair), format_factor(factor), _interval(pair), f"at {say_n(n)}")
    series = headline_series(findings)
    rate = best_rate_flops(series) if series is not None else None
    # One series, or none that the other can be compared with.
    if series is not None and rate is not None and series.peak.best_n is not None:
        return Headline("Best speed", format_rate_flops(rate), detail=f"at {say_n(series.peak.best_n)}")
    return None


def _label(pair: PairFinding, *, wins: bool = True) -> str:
    if pair.challenger.series == CPU:
        return "All CPU threads over one" if wins else "One CPU thread over all"
    return "GPU over CPU" if wins else "CPU over GPU"


def _interval(pair: PairFinding, *, wins: bool = True) -> str:
    low, high = pair.crossover.speedup_low, pair.crossover.speedup_high
    if not low or not high or low == high:  # too few samples for an interval
        return ""
    ends = (low, high) if wins else (1 / high, 1 / low)
    return f"{format_significant(ends[0], 3)} to {format_significant(ends[1], 3)}"
