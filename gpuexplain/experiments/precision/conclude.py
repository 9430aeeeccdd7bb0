"""What the points of a precision sweep say: per device, which format is how fast and how exact."""

from collections.abc import Iterable, Sequence
from typing import Any

from gpuexplain.analysis.noise import find_noise_floor
from gpuexplain.analysis.precision_best import find_bests
from gpuexplain.analysis.precision_ranking import find_precision_ranking
from gpuexplain.analysis.precision_tradeoff import find_lost_updates, find_trade_off
from gpuexplain.analysis.trust import most_trustworthy
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.precision.compare import compare_series, find_format_speedups, frame_of, ran_as_others
from gpuexplain.experiments.precision.formats import find_format
from gpuexplain.experiments.precision.found import DeviceFindings, PrecisionFindings
from gpuexplain.experiments.precision.spec import (
    FORMATS,
    STEP_AUTOCAST,
    STEP_FP32,
    SUBNORMAL,
    SUM_BF16_IN_FP32,
    SUM_PREFIX,
    inputs_of,
    overrides_of,
)
from gpuexplain.findings import LostUpdates, NotFound, to_json
from gpuexplain.model import Dtype, Flag, Point, Source
from gpuexplain.points import with_flags

_FORMAT_NAMES = frozenset(str(dtype) for dtype in FORMATS)
_NOTHING_MEASURED = NotFound("ranking", "no format has a trustworthy point")
_FP32_ITSELF = (NotFound("speed-up", "fp32 is what the others are compared with"), False)


def find_precision_findings(points: Sequence[Point]) -> PrecisionFindings:
    """Return what the points say; published points may stand beside measured ones."""
    known = [point for point in points if _is_known(point)]
    by_origin = sorted(known, key=lambda p: (p.source is not Source.MEASURED, p.device == CPU))
    keys = dict.fromkeys((p.device, p.source, p.source_note) for p in by_origin)
    devices = [_find_device([p for p in known if (p.device, p.source, p.source_note) == key]) for key in keys]
    measured = [p for p in known if p.source is Source.MEASURED]
    trusted = [p for own in _by_series(measured).values() for p in most_trustworthy(own)[0]]
    with_interval = [p for p in trusted if p.half_width is not None]
    return PrecisionFindings(devices=tuple(devices), noise=find_noise_floor(frame_of(with_interval)))


def _is_known(point: Point) -> bool:
    others = (STEP_FP32, STEP_AUTOCAST, SUBNORMAL)
    return point.series in _FORMAT_NAMES or point.series in others or point.series.startswith(SUM_PREFIX)


def _by_series(points: Iterable[Point]) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = {}
    for point in sorted(points, key=lambda p: p.x):
        found.setdefault(point.series, []).append(point)
    return found


# -- one device ---------------------------------------------------------------------------------


def _find_device(own: list[Point]) -> DeviceFindings:
    first, series = own[0], _by_series(own)
    products = {str(dtype): series[str(dtype)] for dtype in FORMATS if str(dtype) in series}
    trusted = {name: most_trustworthy(points) for name, points in products.items()}
    frame = frame_of([point for points, _ in trusted.values() for point in points])
    on_gpu = _is_gpu(first)
    gpu_name = first.device_name if on_gpu else None
    ranking = _NOTHING_MEASURED if frame.empty else find_precision_ranking(frame, gpu_name, on_gpu=on_gpu)
    others = ran_as_others(frame, ranking)
    bests = {best.dtype: best for best in find_bests(frame, on_gpu=on_gpu)}
    speedups = find_format_speedups(products, others)
    steps = series.get(STEP_AUTOCAST, [])
    autocast, is_bent = compare_series(steps, series.get(STEP_FP32, []), ("autocast", str(Dtype.FP32)))
    return DeviceFindings(
        device=first.device,
        device_name=first.device_name,
        source=first.source,
        source_note=first.source_note,
        threads=next((p.threads for p in own if p.threads), None),
        inputs=next((inputs for p in own if (inputs := inputs_of(p.timing))), None),
        overrides=next((names for p in own if (names := overrides_of(p.timing))), ()),
        formats=tuple(
            find_format(points, trusted[name][1], bests.get(name), speedups.get(name, _FP32_ITSELF)[0], ranking)
            for name, points in products.items()
        ),
        ranking=ranking,
        trade_off=find_trade_off(frame[~frame["dtype"].isin(others)], on_gpu=on_gpu),
        autocast=autocast,
        autocast_error=next((p.rel_error for p in reversed(steps) if p.rel_error is not None), None),
        autocast_dtype=next((p.dtype for p in steps), None),
        lost=tuple(_find_lost(series)),
        lost_in_fp32=find_lost_updates(SUM_BF16_IN_FP32, _losses(series.get(SUM_BF16_IN_FP32, []))),
        flushes_subnormals=_read_subnormal(series.get(SUBNORMAL, [])),
        is_provisional=is_bent or any(bent for _, bent in (*trusted.values(), *speedups.values())),
    )


def _is_gpu(point: Point) -> bool:
    # A file says whose it is only where somebody named the part.
    return point.device != CPU and point.device_name != point.source_note


def _find_lost(series: dict[str, list[Point]]) -> Iterable[LostUpdates]:
    for dtype in (Dtype.FP32, Dtype.FP16, Dtype.BF16):
        found = find_lost_updates(str(dtype), _losses(series.get(f"{SUM_PREFIX}{dtype}", [])))
        if isinstance(found, LostUpdates):
            yield found


def _read_subnormal(points: Sequence[Point]) -> bool | None:
    return next((bool(p.rel_error) for p in points if p.rel_error is not None), None)


def _losses(points: Sequence[Point]) -> list[tuple[float, float]]:
    return [(p.x, p.rel_error) for p in points if p.rel_error is not None]


# -- for the store and for others ---------------------------------------------------------------


def flag_points(points: Sequence[Point], findings: PrecisionFindings) -> list[Point]:
    """Return the points with what only the whole series can tell: suspect, above the peak."""
    flagged = []
    for point in points:
        origin = (point.device, point.source, point.source_note)
        device = next((d for d in findings.devices if (d.device, d.source, d.source_note) == origin), None)
        found = device.of(point.series) if device else None
        if found and point.x in found.suspect_n:
            point = with_flags(point, Flag.SUSPECT)
        if found and found.is_withheld and found.best and point.x == found.best.n:
            point = with_flags(point, Flag.ABOVE_PEAK)
        flagged.append(point)
    return flagged


def findings_json(findings: PrecisionFindings) -> dict[str, Any]:
    """Return the findings under their published names.

    The names at the top are those of the headline device; ``devices`` holds every device.
    """
    headline = findings.headline
    return {
        **(to_json(headline.ranking) if headline else {}),
        "headline_device": headline.device if headline else None,
        "trade_off": to_json(headline.trade_off) if headline else None,
        "speedup_over_fp32": {str(f.dtype): to_json(f.speedup) for f in headline.formats} if headline else {},
        "autocast": to_json(headline.autocast) if headline else None,
        "devices": {_name_of(device): to_json(device) for device in findings.devices},
        "noise": to_json(findings.noise),
    }


def _name_of(device: DeviceFindings) -> str:
    return device.device if device.is_measured else f"{device.device} ({device.source})"
