"""The one number of this page for Home: the best precision and what it gains."""

from gpuexplain.experiments.contract import Headline
from gpuexplain.experiments.precision.claims import find_fastest, find_gain
from gpuexplain.experiments.precision.found import PrecisionFindings
from gpuexplain.experiments.precision.series import label_of
from gpuexplain.findings import TradeOff
from gpuexplain.units import format_error, format_factor, format_rate_flops, format_significant
from gpuexplain.wording.phrases import join_words, say_n

LABEL = "Best precision"


def find_headline(findings: PrecisionFindings) -> Headline | None:
    """Return the best format with its speed-up over fp32; None without a speed."""
    device = findings.headline
    if device is None:
        return None
    gain = find_gain(device)
    # A format that is exact enough is clearly faster than fp32.
    if gain is not None:
        trade_off, speedup = gain
        names = join_words([label_of(dtype) for dtype in trade_off.dtypes], "or")
        interval = (
            f"{format_significant(speedup.low)} to {format_significant(speedup.high)}"
            if speedup.low and speedup.high
            else ""
        )
        return Headline(
            LABEL, f"{names}, {format_factor(speedup.factor)}", interval, f"over fp32 at {say_n(speedup.n)}"
        )
    found = device.trade_off
    # fp32 leads, or shares the lead.
    if isinstance(found, TradeOff):
        names = join_words([label_of(dtype) for dtype in found.dtypes], "or")
        bound = format_error(found.error_bound)
        return Headline(LABEL, names, detail=f"nothing faster under an error of {bound}")
    fastest = find_fastest(device)
    # Speeds without errors, or a comparison that the figures do not allow.
    if fastest is not None and fastest.best is not None:
        rate = format_rate_flops(fastest.best.rate * 1e12)
        return Headline("Fastest precision", label_of(fastest.dtype), detail=f"{rate} at {say_n(fastest.best.n)}")
    return None
