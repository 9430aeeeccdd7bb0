"""The models whose steps are timed: plain torch, random seeded weights, nothing to download.

The standalone script that the page offers is cut out of this file, so it must need torch only.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED = 0
IMAGE_SIDE = 32  # pixels of the convnet's square images, in three colours
CLASSES = 10
TOKENS = 128  # of one sequence of the transformer
VOCABULARY = 1024
HEAD_WIDTH = 64
# So small that thousands of steps on the same examples leave the numbers as random as they were:
# data that a model has learned by heart would let a GPU run cooler, hence faster.
LEARNING_RATE = 1e-7
# Rows that differ; a larger batch repeats them, so that its inputs are made in no time.
DISTINCT_ROWS = 256


class Mlp(nn.Module):
    """``depth`` layers of ``width`` inputs and outputs, a ReLU between them."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.width = width
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def make_rows(self, n_rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return rows of numbers in [-1, 1), and as many to come near to."""
        inputs, targets = torch.rand(2, n_rows, self.width, generator=generator) * 2 - 1
        return inputs, targets

    def forward(self, rows: Tensor) -> Tensor:
        """Return (batch, width) for (batch, width)."""
        for layer in self.layers[:-1]:
            rows = F.relu(layer(rows))
        outputs: Tensor = self.layers[-1](rows)
        return outputs


class ResidualBlock(nn.Module):
    """Two 3 x 3 convolutions with batch norm, and a shortcut past them (He et al., 2015)."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels_in, channels, 3, stride, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels)
        is_same = channels_in == channels and stride == 1
        self.shortcut = nn.Identity() if is_same else nn.Conv2d(channels_in, channels, 1, stride, bias=False)

    def forward(self, maps: Tensor) -> Tensor:
        """Return feature maps, half as wide where the stride is 2."""
        inner = F.relu(self.first_norm(self.first(maps)))
        return F.relu(self.second_norm(self.second(inner)) + self.shortcut(maps))


class ConvNet(nn.Module):
    """Three stages of ``depth`` residual blocks with ``width``, 2 and 4 x ``width`` channels."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1, bias=False)
        self.stem_norm = nn.BatchNorm2d(width)
        blocks, channels_in = [], width
        for stage in range(3):
            for position in range(depth):
                stride = 2 if stage and not position else 1
                blocks.append(ResidualBlock(channels_in, width << stage, stride))
                channels_in = width << stage
        for block in blocks:  # shortcuts add up: a deep stack would leave the range of fp16
            nn.init.constant_(block.second_norm.weight, (3 * depth) ** -0.5)
        self.blocks = nn.Sequential(*blocks)
        self.classes = nn.Linear(channels_in, CLASSES)

    def make_rows(self, n_rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return images with values in [-1, 1), and their classes."""
        images = torch.rand(n_rows, 3, IMAGE_SIDE, IMAGE_SIDE, generator=generator) * 2 - 1
        return images, torch.randint(CLASSES, (n_rows,), generator=generator)

    def forward(self, images: Tensor) -> Tensor:
        """Return (batch, classes) for (batch, 3, side, side)."""
        maps = self.blocks(F.relu(self.stem_norm(self.stem(images))))
        outputs: Tensor = self.classes(maps.mean(dim=(2, 3)))
        return outputs


class DecoderBlock(nn.Module):
    """Causal self-attention and a two-layer network, each with its norm and its shortcut."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.inner_norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, 4 * width)
        self.inner_out = nn.Linear(4 * width, width)

    def forward(self, states: Tensor) -> Tensor:
        """Return (batch, tokens, width) for the same."""
        batch, tokens, width = states.shape
        heads = self.query_key_value(self.attention_norm(states)).view(batch, tokens, 3, -1, HEAD_WIDTH)
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        states = states + self.attention_out(mixed.transpose(1, 2).reshape(batch, tokens, width))
        inner: Tensor = self.inner_out(F.gelu(self.inner(self.inner_norm(states))))
        return states + inner


class Transformer(nn.Module):
    """A decoder-only stack of ``depth`` blocks over sequences of tokens."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.positions = nn.Embedding(TOKENS, width)
        self.blocks = nn.Sequential(*(DecoderBlock(width) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)

    def make_rows(self, n_rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return sequences of tokens, and the token to follow each."""
        tokens, following = torch.randint(VOCABULARY, (2, n_rows, TOKENS), generator=generator)
        return tokens, following

    def forward(self, tokens: Tensor) -> Tensor:
        """Return (batch, tokens, vocabulary) for (batch, tokens) of whole numbers."""
        outputs: Tensor = self.head(self.norm(self.blocks(self.tokens(tokens) + self.positions.weight)))
        return outputs


Network = Mlp | ConvNet | Transformer
NETWORKS: dict[str, type[Network]] = {"mlp": Mlp, "convnet": ConvNet, "transformer": Transformer}


def build_network(kind: Callable[[int, int], "Network"], width: int, depth: int) -> "Network":
    """Return a network on the CPU with seeded weights that keep the size of what passes through."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        network = kind(width, depth)
        for module in network.modules():
            if isinstance(module, nn.Linear | nn.Conv2d):
                nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
    return network


def make_examples(network: "Network", batch: int, device: str) -> tuple[Tensor, Tensor]:
    """Return (inputs, targets) of ``batch`` rows, the same rows first whatever the batch; never constant."""
    inputs, targets = network.make_rows(DISTINCT_ROWS, torch.Generator().manual_seed(SEED))
    return fill(inputs, batch, device), fill(targets, batch, device)


def fill(rows: Tensor, batch: int, device: str) -> Tensor:
    """Return ``batch`` rows on a device, repeating those given."""
    rows = rows[:batch].to(device)
    if batch <= len(rows):
        return rows
    filled = torch.empty((batch, *rows.shape[1:]), dtype=rows.dtype, device=device)
    for start in range(0, batch, len(rows)):
        filled[start : start + len(rows)] = rows[: batch - start]
    return filled


def find_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the mean squared error where targets are numbers, the cross entropy where they are classes."""
    if targets.is_floating_point():
        return F.mse_loss(outputs, targets)
    return F.cross_entropy(outputs.flatten(0, -2), targets.flatten())


class Workload:
    """A network on its device with what a step of it needs; a step is what is timed."""

    def __init__(
        self,
        network: "Network",
        device: str,
        half: torch.dtype | None,
        is_training: bool,
        is_fused: bool = False,  # one pass of the optimiser over each weight, instead of a dozen
    ) -> None:
        self.network = network.to(device).train(is_training)
        self.kind = torch.device(device).type
        self.half = half  # what autocast computes in; None: fp32 throughout
        fused = is_fused or None  # None leaves the choice to torch
        self.optimiser = torch.optim.AdamW(network.parameters(), LEARNING_RATE, fused=fused) if is_training else None
        # Gradients in fp16 would vanish without scaling; bf16 has the range of fp32.
        self.scaler = torch.amp.GradScaler(self.kind, enabled=half is torch.float16)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the outputs, in the precision asked for."""
        with torch.autocast(self.kind, dtype=self.half or torch.bfloat16, enabled=self.half is not None):
            outputs: Tensor = self.network(inputs)
            return outputs

    def infer(self, inputs: Tensor) -> Tensor:
        """Return the outputs, with nothing kept for a backward pass."""
        with torch.inference_mode():
            return self.forward(inputs)

    def train(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """Take one step: forward, loss, backward, optimiser; return the loss."""
        assert self.optimiser is not None
        self.optimiser.zero_grad(set_to_none=True)
        loss = find_loss(self.forward(inputs).float(), targets)
        torch.autograd.backward(self.scaler.scale(loss))
        self.scaler.step(self.optimiser)
        self.scaler.update()
        return loss.detach()
