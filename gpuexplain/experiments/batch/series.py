"""What the series of this experiment are called: in files, on charts and in words."""

from dataclasses import dataclass

from gpuexplain.charts.theme import Entity, SeriesLook
from gpuexplain.model import Point
from gpuexplain.units import NBSP, format_count

MODELS = ("mlp", "convnet", "transformer")
MODES = ("training", "inference")
CPU, GPU = "cpu", "gpu"
# Of others: the network of a published series, and whatever a file is about.
RESNET50 = "resnet50"
LOADED = "loaded"
FILE_SERIES = "file_step_gpu"

_MODEL_WORDS = {
    "mlp": "MLP",
    "convnet": "convnet",
    "transformer": "transformer",
    RESNET50: "ResNet-50",
    LOADED: "two-layer network",
    "file": "",
}
_MODE_WORDS = {"training": "training step", "inference": "inference", "step": "step"}


@dataclass(frozen=True, slots=True)
class SeriesName:
    """What a series is about; its id in files is ``mlp_training_cpu``."""

    model: str
    mode: str
    device_kind: str  # "cpu" or "gpu"

    @property
    def id(self) -> str:
        """The name in files and findings."""
        return f"{self.model}_{self.mode}_{self.device_kind}"

    @property
    def work(self) -> str:
        """What one call does, in words: ``MLP training step``."""
        return f"{_MODEL_WORDS[self.model]} {_MODE_WORDS[self.mode]}".strip()

    @property
    def is_cpu(self) -> bool:
        """Whether it ran on a CPU."""
        return self.device_kind == CPU


def read_series(series: str) -> SeriesName:
    """Return what an id means."""
    model, mode, device_kind = series.rsplit("_", 2)
    return SeriesName(model, mode, device_kind)


def series_on(model: str, mode: str, device: str) -> str:
    """Return the id of a model's series on a device."""
    return SeriesName(model, mode, CPU if device == "cpu" else GPU).id


def say_batch(batch: float) -> str:
    """Return ``batch 64``, unbreakable."""
    return f"batch{NBSP}{format_count(batch)}"


def say_size(point: Point) -> str:
    """Return the batch of a point, its model's shape and its number format."""
    shape = f", width {format_count(point.shape[1])}, depth {point.shape[2]}" if len(point.shape) == 3 else ""
    return f"{say_batch(point.x)}{shape}, {point.dtype}"


def _look(name: SeriesName) -> SeriesLook:
    entity, label = (Entity.CPU, "CPU") if name.is_cpu else (Entity.GPU, "GPU")
    if name.id == FILE_SERIES:
        label = "file"
    return SeriesLook(entity, label, f"{name.work}, {label}", say_size=say_size)


# Every series this page may show, in the order in which they are drawn: the last one lies on top.
LOOKS: dict[str, SeriesLook] = {
    name.id: _look(name)
    for name in (
        read_series(FILE_SERIES),
        SeriesName(LOADED, "inference", GPU),
        SeriesName(RESNET50, "inference", GPU),
        *(SeriesName(model, mode, kind) for kind in (CPU, GPU) for model in MODELS for mode in MODES),
    )
}
