"""How many bytes does a forward pass keep for the backward pass? Counted by hand from the shape, without torch.

An operation keeps what its derivative needs: a layer its input, a ReLU and a softmax their result, a norm
its input and two numbers a row. What several operations keep counts once. Autocast keeps 16-bit
numbers, and the 16-bit copies of the weights that its products read.
"""

from gpuexplain.measuring.model_sizes import (
    BYTES_PER_FP32,
    CLASSES,
    HEAD_WIDTH,
    IMAGE_SIDE,
    TOKENS,
    VOCABULARY,
    ModelSize,
)

BYTES_PER_HALF = 2
BYTES_PER_INTEGER = 8  # of a token and of a class


def kept_bytes(model: str, width: int, depth: int, size: ModelSize, batch: int, *, is_autocast: bool) -> int:
    """Return the bytes that one step of ``batch`` examples keeps from its forward pass."""
    count = {"mlp": _mlp, "convnet": _convnet, "transformer": _transformer}[model]
    each, once = count(width, depth, size, BYTES_PER_HALF if is_autocast else BYTES_PER_FP32)
    return batch * each + (once if is_autocast else 0)


def _mlp(width: int, depth: int, size: ModelSize, bytes_per_value: int) -> tuple[int, int]:  # noqa: ARG001
    """Return (bytes an example, bytes of 16-bit weights): inputs of the layers, and output and target of the loss."""
    # The first layer's input needs no gradient, so its weights are not kept.
    return depth * width * bytes_per_value + 2 * width * BYTES_PER_FP32, (depth - 1) * width * width * BYTES_PER_HALF


def _convnet(width: int, depth: int, size: ModelSize, bytes_per_value: int) -> tuple[int, int]:
    """Return the same: of every convolution what comes in and what its norm reads; two convolutions a block."""
    pixels = IMAGE_SIDE * IMAGE_SIDE
    stages = sum(4 * depth * (width << stage) * (pixels >> (2 * stage)) for stage in range(3))
    values = 3 * pixels + 2 * width * pixels + stages + 4 * width
    return values * bytes_per_value + CLASSES * BYTES_PER_FP32 + BYTES_PER_INTEGER, size.weights * BYTES_PER_HALF


def _transformer(width: int, depth: int, size: ModelSize, bytes_per_value: int) -> tuple[int, int]:  # noqa: ARG001
    """Return the same: a token of a block keeps 16 widths, two of them in fp32 always."""
    # Per block in fp32: both sums that the norms read; in the format: norms' results, queries, keys, values, what
    # attention gives, and the inner layer twice (4 widths each).
    always, in_format = 2 * width, 14 * width
    block = always * BYTES_PER_FP32 + in_format * bytes_per_value
    statistics = (2 * (2 * depth + 1) + depth * width // HEAD_WIDTH) * BYTES_PER_FP32  # of norms and of attention
    head = width * (BYTES_PER_FP32 + bytes_per_value) + VOCABULARY * BYTES_PER_FP32
    token = depth * block + statistics + head + 2 * BYTES_PER_INTEGER
    weights = depth * 12 * width * width + width * VOCABULARY
    return TOKENS * token, weights * BYTES_PER_HALF
