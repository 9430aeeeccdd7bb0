"""Why a knee is where it is, and what to do about it: the last two paragraphs of the batch page."""

from gpuexplain.experiments.batch.claims import has_knee, is_placed
from gpuexplain.experiments.batch.conclude import SeriesFinding
from gpuexplain.experiments.batch.series import say_batch
from gpuexplain.findings import Alignment, NotFound, Saturation
from gpuexplain.model import Dtype
from gpuexplain.units import format_percent
from gpuexplain.wording.markup import term


def tell_why(series: SeriesFinding | None) -> str:
    """Return why small batches are dear and large ones gain nothing, for the device, the model and the format."""
    text = (
        f"A step costs something whatever the {term('batch')}: reading every weight from memory, starting every "
        "layer and, in training, updating every weight. A small batch pays that for a few examples. The rows of a "
        "larger one become one larger product that uses the same weights again, until the arithmetic units are full: "
        "from there on twice the examples take twice the time."
    )
    if series is None:
        return text
    # A GPU waits for launches first.
    if not series.name.is_cpu:
        text += (
            f" A GPU has so many units that a small batch leaves most of them idle, and its kernels end sooner than "
            f"the program can start the next ones ({term('launch overhead')})."
        )
    # Sequences are rows already.
    if series.name.model == "transformer":
        text += " One sequence is 128 rows already, so even one example fills a good part of a device."
    # Mixed precision.
    if series.is_measured and series.dtype is not Dtype.FP32:
        text += (
            f" With {term('autocast')} the products run in {term(str(series.dtype))}: faster only where the device has "
            "units for it, so the knee moves to larger batches there."
        )
    return text


def tell_so_what(series: SeriesFinding) -> str:
    """Return what to do about it."""
    knee = series.knee
    advice = ""
    # A knee to choose by.
    if has_knee(series) and series.at_knee is not None:
        batch = say_batch(series.at_knee.batch)
        # Training: speed against memory, and learning is another question.
        if series.name.mode == "training":
            advice = (
                f"For speed alone take about {batch}: larger ones cost memory and bring under a tenth more. Whether a "
                "larger batch also learns as well is another question, which no stopwatch answers."
            )
        # Inference: latency counts too.
        else:
            advice = (
                f"To answer many requests, gather up to about {batch}: more makes each wait longer for under a tenth "
                "more throughput. Where each answer counts, stay in the shaded range."
            )
    # Still rising: go further.
    elif knee.saturation is Saturation.STILL_RISING:
        advice = "Take the largest batch that your memory and your patience allow, and run Thorough to look further."
    # Several humps, too wide a range, or too few batches.
    elif series.best is not None:
        reason = "the knee is not placed" if is_placed(knee) is False else "these points show no clear knee"
        advice = f"Run Thorough on a quiet machine before deciding: {reason}."
    alignment = tell_alignment(series.alignment)
    return f"{advice} {alignment}".strip()


def tell_alignment(alignment: Alignment | NotFound) -> str:
    """Return whether to choose multiples of 8 or 64; only what dense points showed."""
    # Nobody looked, or it is too noisy: no advice.
    if isinstance(alignment, NotFound):
        return ""
    gain = format_percent(alignment.gain - 1)
    # Every multiple beats its neighbours beyond the intervals.
    if alignment.pays:
        return f"Choose multiples of {alignment.multiple}: they do {gain} more examples a second than their neighbours."
    # Some neighbour does as well.
    return f"Multiples of {alignment.multiple} bring nothing here: their neighbours do as well."
