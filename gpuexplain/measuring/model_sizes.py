"""How many weights, operations and bytes has one step of a model? By hand, without torch.

The operations are exact: ``measure`` counts them with torch's own counter, and a test holds both
together. The bytes are an estimate that decides what is tried; what is shown was measured.
"""

from dataclasses import dataclass

# The same constants as in ``models``, which needs torch.
IMAGE_SIDE = 32
CLASSES = 10
TOKENS = 128
VOCABULARY = 1024
HEAD_WIDTH = 64
BYTES_PER_FP32 = 4
# Weights, gradients and both moments of AdamW.
TRAINING_COPIES = 4
# Autocast keeps 16-bit copies of the weights during a pass.
HALF_COPY = 0.5


@dataclass(frozen=True, slots=True)
class ModelSize:
    """What one model costs; ``live`` counts the values that are in memory at the peak, per example."""

    weights: int
    forward_flops: float  # of one example
    first_flops: float  # of the layers whose inputs need no gradient: their backward pass is half as long
    inference_live: int
    training_live: int

    def step_flops(self, batch: int, *, is_training: bool) -> float:
        """Return the operations of one step: each product of the forward pass comes back twice in the backward."""
        return batch * (3 * self.forward_flops - self.first_flops if is_training else self.forward_flops)

    def step_bytes(self, batch: int, *, is_training: bool, is_autocast: bool) -> int:
        """Return about how many bytes one step of ``batch`` examples needs at its peak."""
        copies = (TRAINING_COPIES if is_training else 1) + (HALF_COPY if is_autocast else 0)
        live = self.training_live if is_training else self.inference_live
        return int(BYTES_PER_FP32 * (copies * self.weights + batch * live))


def size_of(model: str, width: int, depth: int) -> ModelSize:
    """Return the size of a model of this width and depth."""
    sizes = {"mlp": _mlp, "convnet": _convnet, "transformer": _transformer}
    return sizes[model](width, depth)


def _mlp(width: int, depth: int) -> ModelSize:
    layer_flops = 2.0 * width * width
    return ModelSize(
        weights=depth * (width * width + width),
        forward_flops=depth * layer_flops,
        first_flops=layer_flops,
        # The input, what a layer reads and writes, its ReLU, and what the product packs for itself.
        inference_live=8 * width,
        # Of every layer what the backward pass reads again, and the gradients under way.
        training_live=(depth + 5) * width,
    )


def _convnet(width: int, depth: int) -> ModelSize:
    pixels = IMAGE_SIDE * IMAGE_SIDE
    stem_flops = 2.0 * 27 * width * pixels
    weights, flops, outputs = 27 * width + 2 * width, stem_flops, width * pixels
    channels_in = width
    for stage in range(3):
        channels, maps = width << stage, pixels >> (2 * stage)
        for _ in range(depth):
            convolved = 9 * channels_in * channels + 9 * channels * channels
            convolved += channels_in * channels if channels_in != channels else 0
            weights += convolved + 4 * channels
            flops += 2.0 * convolved * maps
            outputs += 2 * channels * maps
            channels_in = channels
    return ModelSize(
        weights=weights + channels_in * CLASSES + CLASSES,
        forward_flops=flops + 2.0 * channels_in * CLASSES,
        first_flops=stem_flops,
        inference_live=3 * pixels + 6 * width * pixels,
        # Of every convolution its output and what the norm and the ReLU make of it.
        training_live=3 * pixels + 3 * outputs,
    )


def _transformer(width: int, depth: int) -> ModelSize:
    block = 12 * width * width + 13 * width
    per_token = depth * (24.0 * width * width + 4.0 * TOKENS * width) + 2.0 * width * VOCABULARY
    return ModelSize(
        weights=depth * block + 2 * VOCABULARY * width + TOKENS * width + 2 * width,
        forward_flops=TOKENS * per_token,
        first_flops=0.0,
        inference_live=TOKENS * max(19 * width, VOCABULARY + 2 * width),
        # Of every block about 17 widths a token (both norms, queries, keys, values, the inner layer twice).
        training_live=TOKENS * (17 * width * depth + 4 * VOCABULARY),
    )
