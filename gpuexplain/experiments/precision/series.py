"""How this experiment's series look and what its formats are called."""

from gpuexplain.charts.theme import Entity, SeriesLook
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.precision.spec import STEP_AUTOCAST, STEP_FP32
from gpuexplain.model import BYTES_PER_VALUE, Dtype, Point
from gpuexplain.units import format_count
from gpuexplain.wording.markup import term
from gpuexplain.wording.phrases import join_words

# What a format is called where its plain name would not say which.
_LABELS = {Dtype.FP8: "fp8 e4m3", Dtype.FP8_E5M2: "fp8 e5m2"}


def label_of(dtype: str) -> str:
    """Return what a chart calls a format."""
    return _LABELS.get(Dtype(dtype), str(dtype))


def name_format(dtype: str) -> str:
    """Return what a sentence calls a format, with its definition."""
    return term("fp8" if Dtype(dtype) in _LABELS else str(dtype), label_of(dtype))


def join_formats(dtypes: tuple[str, ...], last: str = "and") -> str:
    """Return several formats in words."""
    return join_words([name_format(dtype) for dtype in dtypes], last)


def entity_of(device: str) -> Entity:
    """Return whose colour a device has."""
    return Entity.CPU if device == CPU else Entity.GPU


def look_of(point: Point) -> SeriesLook:
    """Return the look of a point: the colour and marker of its device, the name of its format."""
    if point.series in (STEP_FP32, STEP_AUTOCAST):
        how = "with autocast" if point.series == STEP_AUTOCAST else "in fp32"
        return SeriesLook(entity_of(point.device), how, f"training step {how}", say_size=_say_step)
    name = label_of(point.series)
    return SeriesLook(entity_of(point.device), name, name, say_size=_say_product)


def _say_product(point: Point) -> str:
    width = BYTES_PER_VALUE[point.dtype]
    return f"n = {format_count(point.x)}, {width} {'byte' if width == 1 else 'bytes'} a value"


def _say_step(point: Point) -> str:
    return f"batch and width {format_count(point.x)}, {point.dtype}"
