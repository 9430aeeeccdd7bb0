"""What the page of more devices says, from findings only."""

from gpuexplain.analysis.scaling import SerialShare, Speedup
from gpuexplain.experiments.contract import Explanation, Headline
from gpuexplain.experiments.scaling.conclude import Communication, Model, PublishedSpeedups, ScalingFindings, Verdict
from gpuexplain.findings import FitStatus, NotFound, TransferFit
from gpuexplain.units import (
    format_bandwidth,
    format_count,
    format_factor,
    format_percent,
    format_significant,
    format_size,
    format_time,
)
from gpuexplain.wording.caveats import say_here, tell_failed, tell_flag, tell_nothing
from gpuexplain.wording.markup import capitalise, mark, term
from gpuexplain.wording.phrases import count_of, join_words, say_number

NOTHING_YET = "Nothing is measured yet"


def tell(findings: ScalingFindings) -> Explanation:
    """Return the words of the page."""
    # Others measured it, nobody here.
    failed = tell_nothing([reason for *_, reason in findings.failed], "")
    if not findings.strong and findings.published:
        return Explanation(
            answer=f"{failed} {tell_published_answer(findings.published[0])}".strip(),
            see="\n\n".join(tell_published(published) for published in findings.published),
            why=_why(),
            so_what="Press Run: a training step is shared by what is here, GPUs or processes on the CPU.",
            caveats=tuple(_failures(findings)),
        )
    # Nothing was measured anywhere.
    if not findings.strong:
        yet = "Nothing is measured yet. Press Run: one training step is shared by one device, then by more."
        return Explanation(
            answer=failed or yet,
            see="",
            why=_why(),
            so_what="",
            caveats=tuple(_failures(findings)),
        )
    return Explanation(
        answer=tell_answer(findings),
        see="\n\n".join(text for text in _see(findings) if text),
        why=_why(),
        so_what=_so_what(findings),
        caveats=tuple(_caveats(findings)),
    )


def tell_answer(findings: ScalingFindings) -> str:
    """Return the headline: whether n devices are n times as fast."""
    where = say_here(findings.is_provisional) if findings.is_measured else f"In a {findings.source} run,"
    most = findings.most
    # One device: nothing can be shared.
    if most is None:
        return f"{where} there is one device only, so what a second one would gain cannot be measured."
    # The interval holds both faster and slower, or there is none.
    if findings.is_unsure:
        return (
            f"{where} what {_devices(findings, most.workers)} gain cannot be told: {_say_factor(most)} as fast as one."
        )
    share = ""
    if isinstance(findings.communication, Communication):
        share = f", {format_percent(findings.communication.share)} of the step being exchange"
    return f"{where} {_devices(findings, most.workers)} are {format_factor(most.factor)} as fast as one{share}."


def tell_published_answer(published: PublishedSpeedups) -> str:
    """Return the headline where only others measured."""
    last = published.speedups[-1]
    gpus = mark("gpu", f"{say_number(last.workers)} GPUs")
    return f"In a published run, {gpus} train {format_factor(last.factor)} as fast as one, {_of_ideal(last)}."


def tell_published(published: PublishedSpeedups) -> str:
    """Return one published run with its numbers and its source."""
    told = [f"{s.workers} GPUs {format_factor(s.factor)}" for s in published.speedups[1:]]
    return (
        f"Published, {published.name}: {join_words(told)} the examples of one, each with as much to do as the one had "
        f"({term('weak scaling')}). Source: {published.source}."
    )


def _of_ideal(speedup: Speedup) -> str:
    return f"{format_percent(speedup.efficiency)} of the ideal"


def _devices(findings: ScalingFindings, count: int) -> str:
    word = "processes" if findings.is_cpu else "GPUs"
    return mark("cpu" if findings.is_cpu else "gpu", f"{say_number(count)} {word}")


def _see(findings: ScalingFindings) -> list[str]:
    return [
        tell_claim(findings),
        _tell_weak(findings),
        tell_communication(findings.communication),
        tell_serial(findings.serial),
        tell_exchange(findings.exchange) if findings.exchange is not None else "",
        tell_model(findings.model),
        *(tell_published(published) for published in findings.published if findings.most is None),
    ]


def tell_model(model: Model | NotFound) -> str:
    """Return what the model of more devices rests on, and what it says of two; "" where there is none."""
    # No step, or no exchange.
    if isinstance(model, NotFound):
        return ""
    # One device: the gradients would cross a link.
    if model.link and model.link_bytes_s and model.gradient_bytes:
        count, factor = next((n, f) for n, f in model.speedups if n > 1)
        return (
            f"A model, not a measurement: if {format_size(model.gradient_bytes)} of gradients had to cross "
            f"{model.link} at {format_bandwidth(model.link_bytes_s)} in a ring (Patarasuk and Yuan, 2009), "
            f"{say_number(count)} devices as fast as this one would be {format_factor(factor)} as fast. Source of the "
            f"rate: {_first_source(model.link_source)}."
        )
    count, factor = model.speedups[-1]
    return (
        f"A model, not a measurement: if computing shrank with every further device and the exchange stayed as "
        f"measured, {say_number(count)} would be {format_factor(factor)} as fast as one."
    )


def _first_source(sources: str) -> str:
    """Return the first of several sources; the reference table has them all."""
    first, *others = sources.split("; ")
    return f"{first} and others (links.csv)" if others else first


def tell_claim(findings: ScalingFindings) -> str:
    """Return the verdict on "two devices are twice as fast"."""
    most = findings.most
    # One device only.
    if most is None:
        return ""
    claim = f"“{capitalise(say_number(most.workers))} devices are {say_number(most.workers)} times as fast”"
    ideal = f"{format_factor(most.factor)}{_bounds(most)}, {_of_ideal(most)}"
    match findings.verdict:
        # The whole interval lies at or above 95 % of the ideal.
        case Verdict.HELD:
            return f"{claim} held here: {ideal}."
        # The whole interval lies below.
        case Verdict.NOT_HELD:
            return f"{claim} did not hold here: {ideal}."
        # Both are inside the interval, or there is none.
        case _:
            return f"{claim} cannot be judged here ({findings.reason}): {ideal}."


def _say_factor(speedup: Speedup) -> str:
    return f"{format_factor(speedup.factor)}{_bounds(speedup)}"


def _bounds(speedup: Speedup) -> str:
    if speedup.low is None or speedup.high is None:
        return ""
    return f" ({format_significant(speedup.low)} to {format_significant(speedup.high)})"


def _tell_weak(findings: ScalingFindings) -> str:
    # The same batch on every device was timed.
    if len(findings.weak) < 2:
        return ""
    last = findings.weak[-1]
    return (
        f"With a whole batch for every device ({term('weak scaling')}) {_devices(findings, last.workers)} do "
        f"{format_factor(last.factor)}{_bounds(last)} the examples of one in the same time, {_of_ideal(last)}."
    )


def tell_communication(communication: Communication | NotFound) -> str:
    """Return what of a step goes to exchanging gradients."""
    # One device, or no interval.
    if isinstance(communication, NotFound):
        return f"What the exchange costs cannot be said: {communication.reason}."
    span = f"{format_percent(communication.low)} to {format_percent(communication.high)}"
    return (
        f"On {count_of(communication.count, 'device')} {format_percent(communication.share)} of a step ({span}) go to "
        f"exchanging gradients ({term('all-reduce')}); the rest is computing."
    )


def tell_serial(serial: SerialShare | NotFound) -> str:
    """Return the limit that more devices approach, or why it cannot be said."""
    # Four counts or more follow the law.
    if isinstance(serial, SerialShare):
        limit = f": no number of devices gets beyond {format_factor(serial.limit)}" if serial.limit else ""
        share = format_percent(serial.share)
        return f"{share} of the step does not get faster with more devices ({term('Amdahl')}){limit}."
    return f"What share never gets faster cannot be said: {serial.reason}."


def tell_exchange(fit: TransferFit) -> str:
    """Return what an exchange costs at once and per byte."""
    # The times follow latency + size / rate.
    if fit.fit_status is FitStatus.OK and fit.latency_us is not None and fit.fit_gbps is not None:
        half = f" Half of that rate is reached from {format_size(fit.n_half_bytes)} on." if fit.n_half_bytes else ""
        rate = format_bandwidth(fit.fit_gbps * 1e9)
        return f"An exchange costs {format_time(fit.latency_us / 1e6)} at once and moves {rate}.{half}"
    # They do not.
    if fit.plateau_gbps is not None:
        return (
            f"The times of the exchanges do not follow one latency and one rate; the best rate is "
            f"{format_bandwidth(fit.plateau_gbps * 1e9)}."
        )
    return ""


def _why() -> str:
    return (
        "Every device computes the gradients of its own examples; then all of them must agree on the sum before the "
        f"next step ({term('all-reduce')}). Sharing one batch leaves each device less to compute but the same "
        "gradients to exchange, so "
        "the exchange eats a growing share. A larger batch for every device hides it better, and trains "
        "differently."
    )


def _so_what(findings: ScalingFindings) -> str:
    most = findings.most
    # One device.
    if most is None:
        return "Fill the device you have first: a larger batch, lower precision, faster data loading."
    # Too noisy to say anything of it.
    if findings.is_unsure:
        return "Run Thorough, or when the machine is quiet, before deciding on another device."
    # Less than three quarters of the ideal.
    if most.efficiency < 0.75:
        return (
            "Give every device more to do between exchanges (a larger batch, accumulated gradients) before buying "
            "another one."
        )
    return "This step shares out well; check again when the model grows, for its gradients grow with it."


def _failures(findings: ScalingFindings) -> list[str]:
    found = [tell_failed(s.replace("_", " "), "a size", [(0.0, status, why)]) for s, status, why in findings.failed]
    return list(dict.fromkeys(found))


def _caveats(findings: ScalingFindings) -> list[str]:
    found = [tell_flag("these steps", flag, count) for flag, count in findings.flagged]
    # The chart shows what others measured.
    if findings.published:
        cited = "; ".join(dict.fromkeys(published.source for published in findings.published))
        found.append(f"The faint squares were published, not measured here. Source: {cited}.")
    # The devices are processes of one CPU.
    if findings.is_cpu and findings.threads:
        found.append(
            f"The devices are processes on this CPU, {count_of(findings.threads, 'thread')} each: they share its "
            "memory and its caches."
        )
    # And a model, which the words explain.
    if isinstance(findings.model, Model):
        found.append("The dotted line without points is a model, not a measurement.")
    return [text for text in [*found, *_failures(findings)] if text]


# -- titles, text alternatives, Home --------------------------------------------------------------


def claim_main(findings: ScalingFindings) -> str:
    """Return the finding of the chart of speed-ups."""
    most = findings.most
    # Others measured it, nobody here.
    if not findings.strong and findings.published:
        last = findings.published[0].speedups[-1]
        return f"Published: {mark('gpu', f'{last.workers} GPUs')} reach {_of_ideal(last)}"
    # One device, or nothing.
    if most is None:
        return "One device is all there is" if findings.strong else NOTHING_YET
    # Too noisy to say.
    if findings.is_unsure:
        return f"What {_devices(findings, most.workers)} gain cannot be told"
    return f"{capitalise(_devices(findings, most.workers))} reach {_of_ideal(most)}"


def claim_second(findings: ScalingFindings) -> str:
    """Return the finding of the chart of exchanges."""
    fit = findings.exchange
    # Latency and rate are known.
    if fit is not None and fit.fit_status is FitStatus.OK and fit.latency_us is not None:
        return f"An exchange costs {format_time(fit.latency_us / 1e6)} before it moves anything"
    if fit is not None and fit.plateau_gbps is not None:
        return f"Exchanges reach {format_bandwidth(fit.plateau_gbps * 1e9)}"
    return NOTHING_YET if not findings.strong else "Nothing is exchanged with one device"


def describe_main(findings: ScalingFindings) -> str:
    """Return the text alternative of the chart of speed-ups."""
    told = [f"{s.workers} {format_factor(s.factor)}" for s in findings.strong]
    beside = [
        f" Published, {p.name}: {join_words([f'{s.workers} {format_factor(s.factor)}' for s in p.speedups])}."
        for p in findings.published
    ]
    model = " A dotted line is a model of more." if isinstance(findings.model, Model) else ""
    return (
        f"Speed-up by number of devices, one batch shared out: {join_words(told) or NOTHING_YET.lower()}."
        f"{model}{''.join(beside)}"
    )


def describe_second(findings: ScalingFindings) -> str:
    """Return the text alternative of the chart of exchanges."""
    return f"Time of one all-reduce by its size. {claim_second(findings)}."


def find_headline(findings: ScalingFindings) -> Headline | None:
    """Return the speed-up of all devices; None with one."""
    most = findings.most
    if most is None:
        return None
    what = "processes" if findings.is_cpu else "GPUs"
    return Headline(
        "More devices", format_factor(most.factor), _bounds(most).strip(" ()"), f"{format_count(most.workers)} {what}"
    )
