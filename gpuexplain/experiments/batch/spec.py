"""What can be asked of the batch experiment, and which batches answer it (no torch)."""

from typing import Any, Literal

from pydantic import Field, model_validator

from gpuexplain.measuring.model_sizes import HEAD_WIDTH, ModelSize, size_of
from gpuexplain.model import Params

EXPERIMENT_ID = "batch"
# 1: first release.
MEASURING_VERSION = 1

Model = Literal["mlp", "convnet", "transformer"]
Mode = Literal["training", "inference"]
Precision = Literal["fp32", "autocast"]

# Beyond this many examples in one call nobody trains; a usual sweep stops before.
LARGEST_BATCH = 2**22
LARGEST_USUAL_BATCH = 2**18
# Smallest and largest width and depth of each model, and what a visitor gets who sets neither.
LIMITS: dict[str, tuple[range, range]] = {
    "mlp": (range(8, 16_385), range(1, 201)),
    "convnet": (range(4, 513), range(1, 19)),
    "transformer": (range(HEAD_WIDTH, 8_193, HEAD_WIDTH), range(1, 97)),
}
DEFAULT_SHAPES: dict[str, tuple[int, int]] = {"mlp": (512, 4), "convnet": (16, 3), "transformer": (256, 4)}
MIB = 2**20


def _more(what: str, title: str, **limits: Any) -> Any:
    return Field(title=title, description=what, json_schema_extra={"place": "more"}, **limits)


class BatchParams(Params):
    """A model, what is done with it, in which precision, and how far to go."""

    model: Model = Field(default="mlp", title="Model", description="mlp, convnet or transformer")
    mode: Mode = Field(default="training", title="What to time", description="training or inference")
    dtype: Precision = _more("fp32 or autocast", "Precision", default="fp32")
    largest_batch: int | None = _more(
        "largest batch, 1 to 4194304; unset: as far as the time allows",
        "Largest batch",
        default=None,
        ge=1,
        le=LARGEST_BATCH,
    )
    width: int | None = _more(
        "width: 8 to 16384 for mlp, 4 to 512 channels for convnet, 64 to 8192 in steps of 64 for transformer",
        "Width of the model",
        default=None,
        ge=4,
        le=16_384,
    )
    depth: int | None = _more(
        "depth: 1 to 200 layers for mlp, 1 to 18 blocks a stage for convnet, 1 to 96 blocks for transformer",
        "Depth of the model",
        default=None,
        ge=1,
        le=200,
    )
    zoom: bool = _more("true or false: add batches around the knee", "Dense zoom around the knee", default=False)
    ceiling_search: bool = _more(
        "true or false: go on until the memory is full", "Search the memory ceiling", default=False
    )
    ceiling_mib: int | None = _more(
        "MiB that a ceiling search may fill, 64 to 1048576; unset: half of a CPU's free memory, a GPU's usual share",
        "Ceiling to search, MiB",
        default=None,
        ge=64,
        le=2**20,
    )

    @model_validator(mode="after")
    def _shape_suits_the_model(self) -> "BatchParams":
        for name, chosen, allowed in zip(("width", "depth"), self.shape, LIMITS[self.model], strict=True):
            if chosen not in allowed:
                steps = f" in steps of {allowed.step}" if allowed.step > 1 else ""
                raise ValueError(
                    f"the {name} of a model of kind {self.model} goes from {allowed.start} to {allowed[-1]}{steps}"
                )
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """(width, depth) of the model."""
        width, depth = DEFAULT_SHAPES[self.model]
        return self.width or width, self.depth or depth

    @property
    def is_training(self) -> bool:
        """Whether a call is a whole training step."""
        return self.mode == "training"

    @property
    def is_autocast(self) -> bool:
        """Whether most products run in a 16-bit format."""
        return self.dtype == "autocast"

    @property
    def seeks_ceiling(self) -> bool:
        """Whether the sweep goes on until the memory is full."""
        return self.ceiling_search or self.ceiling_mib is not None

    @property
    def size(self) -> ModelSize:
        """What the model costs."""
        return size_of(self.model, *self.shape)

    def step_bytes(self, batch: int) -> int:
        """Return about how many bytes one step needs."""
        return self.size.step_bytes(batch, is_training=self.is_training, is_autocast=self.is_autocast)


# The article's example, one click away: 256 examples, 1024 inputs and outputs, 50 layers.
ARTICLE_PRESET = BatchParams(model="mlp", mode="training", width=1024, depth=50, largest_batch=256)
# A ceiling low enough to meet within a minute on a slow machine.
CEILING_PRESET = BatchParams(model="convnet", mode="training", ceiling_search=True, ceiling_mib=512)
# Four experiments of this length, with their preparations, fit into the tour's minute.
TOUR_PARAMS = BatchParams(budget_s=11.0)
