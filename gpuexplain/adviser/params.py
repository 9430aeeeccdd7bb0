"""What can be asked of the adviser: a stack of layers, how often it is used, and what must be copied for it."""

from pydantic import Field, field_validator

from gpuexplain.analysis.advice import Stack
from gpuexplain.experiments.by_hand.spec import ByHandParams
from gpuexplain.hardware.reference import match_reference_gpu
from gpuexplain.model import Params, Preset

MIB = 2**20
# A card that many have, named where no GPU works here; any part of the table can be chosen.
USUAL_PART = "NVIDIA GeForce RTX 4090"


class AdviceParams(Params):
    """A stack of square layers, the passes over its data while these stay on the device, and their size."""

    width: int = Field(default=1024, ge=1, le=16_384, title="Width", description="inputs and outputs, 1 to 16384")
    depth: int = Field(default=8, ge=1, le=1_000, title="Depth", description="layers, 1 to 1000")
    batch: int = Field(default=256, ge=1, le=65_536, title="Batch", description="examples of one pass, 1 to 65536")
    passes: int = Field(
        default=100,
        ge=1,
        le=1_000_000_000,
        title="Passes",
        description="passes while the data stay on the device, 1 to 1000000000",
    )
    data_mib: float = Field(
        default=1.0, ge=0.0, le=1_000_000.0, title="Data, MiB", description="MiB copied in, 0 to 1000000"
    )
    part: str = Field(
        default=USUAL_PART,
        title="GPU to compare with",
        description="a part of the reference table, as its driver prints it: used where no GPU works here",
    )

    @field_validator("part")
    @classmethod
    def _part_is_known(cls, part: str) -> str:
        if match_reference_gpu(part) is None:
            raise ValueError("no such part in the reference table, or it could be several")
        return part

    @property
    def stack(self) -> Stack:
        """What the calculation needs of it."""
        return Stack(self.batch, self.width, self.depth, self.passes, self.data_mib * MIB)

    @property
    def test_params(self) -> ByHandParams:
        """The run that measures this very stack in a few seconds."""
        return ByHandParams(
            batch=self.batch, width=self.width, depth=self.depth, device=self.device, preset=Preset.QUICK
        )
