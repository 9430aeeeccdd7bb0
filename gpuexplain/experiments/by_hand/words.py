"""What the page of one layer by hand says, from findings only."""

from gpuexplain.experiments.by_hand.conclude import ByHandFindings, Prediction, Verdict
from gpuexplain.experiments.by_hand.counting import Count
from gpuexplain.experiments.by_hand.forecast import Forecast
from gpuexplain.experiments.contract import Explanation, Headline
from gpuexplain.experiments.devices import CPU
from gpuexplain.units import format_count, format_factor, format_flops, format_percent, format_rate_flops, format_time
from gpuexplain.wording.caveats import say_here, tell_failed, tell_flag
from gpuexplain.wording.markup import mark, term
from gpuexplain.wording.phrases import join_words

NOTHING_YET = "Nothing is measured yet"


def tell(findings: ByHandFindings) -> Explanation:
    """Return the words of the page."""
    # Nothing was measured anywhere.
    if findings.count is None:
        return Explanation(
            answer="Nothing is measured yet. Press Run: one product predicts the whole stack, and is compared with it.",
            see="",
            why=_why(),
            so_what="",
        )
    return Explanation(
        answer=tell_answer(findings),
        see="\n\n".join([tell_count(findings.count), *map(tell_prediction, findings.predictions)]),
        why=_why(),
        so_what=_so_what(findings),
        caveats=tuple(_caveats(findings)),
    )


def tell_answer(findings: ByHandFindings) -> str:
    """Return the headline: the size of the work, and how long it takes on each device."""
    assert findings.count is not None
    where = say_here(findings.is_provisional) if findings.is_measured else f"In a {findings.source} run,"
    timed = [f"{format_time(p.measured_s)} on {_name(p)}" for p in findings.predictions if p.measured_s]
    # Every stack failed.
    if not timed:
        return f"{where} the stack could not be measured; the points say why."
    return f"{where} {format_flops(findings.count.flops)} of layers take {join_words(timed)}."


def _name(prediction: Prediction) -> str:
    return mark("cpu", "the CPU") if prediction.device == CPU else mark("gpu", "the GPU")


def tell_count(count: Count) -> str:
    """Return what the stack adds up to, and how much of it waits."""
    return (
        f"{format_count(count.batch)} examples through {format_count(count.depth)} layers of "
        f"{format_count(count.width)} x {format_count(count.width)} are **{format_count(count.n_multiplications)} "
        f"multiplications** and as many additions. In each layer {format_count(count.n_independent)} outputs do not "
        f"need each other; only the {format_count(count.n_in_a_row)} layers must follow one another."
    )


def tell_prediction(prediction: Prediction) -> str:
    """Return how the prediction stands beside the measurement, on one device."""
    name = _name(prediction)
    rate = f" ({format_rate_flops(prediction.rate_flops)})" if prediction.rate_flops else ""
    predicted, measured = prediction.predicted_s, prediction.measured_s
    # One of the two has no time.
    if predicted is None or measured is None or prediction.factor is None:
        return f"On {name} the prediction cannot be judged: {prediction.reason}."
    told = f"On {name} one product{rate} predicts {format_time(predicted)}; measured are {format_time(measured)}"
    match prediction.verdict:
        # Within a quarter.
        case Verdict.HELD:
            return f"{told}: the prediction holds within {format_percent(prediction.near)}."
        # Longer: the rest of a layer, or caches.
        case Verdict.NOT_HELD if prediction.factor > 1:
            return (
                f"{told}, {format_factor(prediction.factor)} as long: biases, nonlinearities and weights that come "
                "from memory take time too."
            )
        # Shorter than predicted.
        case Verdict.NOT_HELD:
            return f"{told}: it is faster than one product alone let expect, so that one was slowed by its launch."
        # No interval, or too wide a one.
        case _:
            return f"{told}; whether that is near cannot be told: {prediction.reason}."


# -- before anything of the stack is measured -----------------------------------------------------


def tell_forecast(forecast: Forecast, prediction: Prediction | None) -> str:
    """Return what the stored rates predict for one device, and beside it what was measured since."""
    name = mark("cpu", "the CPU") if forecast.device == CPU else mark("gpu", "the GPU")
    measured_s = prediction.measured_s if prediction is not None else None
    # No product of this device is in the store.
    if forecast.time_s is None or forecast.rate_flops is None:
        after = f" Measured: {format_time(measured_s)}." if measured_s else ""
        return f"On {name}: no rate is stored yet, so nothing predicts it.{after}"
    m, k, n = forecast.shape
    shape = f"{format_count(m)} x {format_count(k)} by {format_count(k)} x {format_count(n)}"
    while_busy = ", timed while the machine was busy" if forecast.was_busy else ""
    text = (
        f"On {name}: **{format_time(forecast.time_s)}** predicted{_span(forecast)}, at the "
        f"{format_rate_flops(forecast.rate_flops)} that a product of {shape} reached here{while_busy}."
    )
    # The nearest product is not near.
    if forecast.is_far:
        text += " That product is of a very different size, so take it as a rough guess."
    # The stack was measured: how far off was it?
    if measured_s:
        factor = format_factor(measured_s / forecast.time_s)
        text += f" Measured: **{format_time(measured_s)}**, {factor} the prediction."
    return text


def _span(forecast: Forecast) -> str:
    if forecast.low_s is None or forecast.high_s is None:
        return ""
    return f" ({format_time(forecast.low_s)} to {format_time(forecast.high_s)})"


def _why() -> str:
    return (
        f"A {term('layer')} is a matrix product, a {term('bias')} and a {term('nonlinearity')}. Each output is a sum "
        "of products, and no output of a layer needs another: that is what lets many workers share it. The count over "
        f"the speed ({term('FLOP/s')}) of one product predicts the time of any stack of them."
    )


def _so_what(findings: ByHandFindings) -> str:
    # The prediction is good on every device.
    if findings.predictions and all(p.verdict is Verdict.HELD for p in findings.predictions):
        return "To know what a network will cost, count its multiply-adds and measure one product of its shape."
    return (
        "Count first, then measure one product of the shape you need: the count alone is a floor, for what is not a "
        "product takes time too."
    )


def _caveats(findings: ByHandFindings) -> list[str]:
    found = [tell_flag("this stack", flag, count) for flag, count in findings.flagged]
    for series, status, reason in findings.failed:
        found.append(tell_failed(series.replace("_", " "), "this size", [(0.0, status, reason)]))
    return [text for text in found if text]


# -- titles, text alternatives, Home --------------------------------------------------------------


def claim_main(findings: ByHandFindings) -> str:
    """Return the finding of the chart of predictions."""
    judged = [p for p in findings.predictions if p.factor]
    # Nothing to compare.
    if not judged:
        return NOTHING_YET
    first = judged[0]
    # Two devices may differ: the title is about the first, and says so.
    where = f" on {_name(first)}" if len(judged) > 1 else ""
    match first.verdict:
        # Near, by both intervals.
        case Verdict.HELD:
            return f"One product predicts the stack{where} within {format_percent(first.near)}"
        # By what factor not.
        case Verdict.NOT_HELD:
            return f"The stack{where} takes {format_factor(first.factor or 1.0)} what one product predicts"
        # Too uncertain.
        case _:
            return "Whether one product predicts the stack cannot be told yet"


def claim_second(findings: ByHandFindings) -> str:
    """Return the finding of the chart of counts."""
    if findings.count is None:
        return NOTHING_YET
    return f"{format_count(findings.count.n_independent)} outputs a layer do not wait for each other"


def describe_main(findings: ByHandFindings) -> str:
    """Return the text alternative of the chart of predictions."""
    told = [
        f"{plain_name(p)} predicted {format_time(p.predicted_s)}, measured {format_time(p.measured_s)}"
        for p in findings.predictions
        if p.predicted_s and p.measured_s
    ]
    return f"Time of the stack: {'; '.join(told) or NOTHING_YET.lower()}."


def plain_name(prediction: Prediction) -> str:
    """Return CPU or GPU."""
    return "CPU" if prediction.device == CPU else "GPU"


def describe_second(findings: ByHandFindings) -> str:
    """Return the text alternative of the chart of counts."""
    if findings.count is None:
        return f"{NOTHING_YET}."
    count = findings.count
    return (
        f"Multiplications: {format_count(count.width)} per output, {format_count(count.width**2)} per example and "
        f"layer, {format_count(count.batch * count.width**2)} per batch and layer, "
        f"{format_count(count.n_multiplications)} in all."
    )


def find_headline(findings: ByHandFindings) -> Headline | None:
    """Return the time of the stack on its fastest device."""
    timed = [p for p in findings.predictions if p.measured_s]
    if not timed or findings.count is None:
        return None
    best = min(timed, key=lambda p: p.measured_s or 0.0)
    interval = ""
    if best.measured_low_s and best.measured_high_s:
        interval = f"{format_time(best.measured_low_s)} to {format_time(best.measured_high_s)}"
    return Headline("A stack of layers", format_time(best.measured_s or 0.0), interval, f"on the {plain_name(best)}")
