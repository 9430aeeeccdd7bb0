"""A standalone script of one training step of an MLP, part by part, with nothing but torch."""

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.step.spec import SHAPES, StepParams
from gpuexplain.model import Point

_SCRIPT = '''"""One training step of an MLP ({depth} layers of {width}) with {batch} examples on {device}, part by part.

Needs only torch. Weights and examples are random and seeded.
"""

import statistics
import time

import torch
from torch import nn

torch.set_flush_denormal(True)  # before the first threaded operation
{setup}
batch, width, depth, device = {batch}, {width}, {depth}, "{device}"
torch.manual_seed(0)
layers = [layer for _ in range(depth) for layer in (nn.Linear(width, width), nn.ReLU())]
model = nn.Sequential(*layers[:-1]).to(device)
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-7)
generator = torch.Generator().manual_seed(0)
inputs = (torch.rand(batch, width, generator=generator) * 2 - 1).to(device)
targets = (torch.rand(batch, width, generator=generator) * 2 - 1).to(device)
times_s = {{"forward": [], "loss": [], "backward": [], "optimiser": []}}


def wait() -> None:
    {wait}


def part(name: str, work):
    wait()
    started_s = time.perf_counter()
    result = work()
    wait()
    times_s[name].append(time.perf_counter() - started_s)
    return result


for _ in range(30):
    outputs = part("forward", lambda: model(inputs))
    loss = part("loss", lambda: nn.functional.mse_loss(outputs, targets))
    part("backward", loss.backward)
    part("optimiser", optimiser.step)
    optimiser.zero_grad(set_to_none=True)
medians_s = {{name: statistics.median(samples_s[5:]) for name, samples_s in times_s.items()}}
for name, median_s in medians_s.items():
    print(f"{{name:10s}} {{median_s:.4e}} s, {{median_s / sum(medians_s.values()):.0%}}")
print(f"median_s={{medians_s['{part}']!r}}")
'''
_PARTS = ("forward", "loss", "backward", "optimiser")


def write_snippet(params: StepParams, point: Point | None) -> str:
    """Return the script for the part of ``point``; without one it prints the forward pass last."""
    width, depth = SHAPES["mlp"] if params.model != "mlp" else params.shape
    device = point.device if point is not None else params.device if params.device.startswith("cuda") else CPU
    on_gpu = device.startswith("cuda")
    threads = point.threads if point is not None else None
    setup = 'torch.backends.cuda.matmul.fp32_precision = "ieee"  # no TF32' if on_gpu else ""
    if threads and not on_gpu:
        setup = f"torch.set_num_threads({threads})"
    return _SCRIPT.format(
        batch=params.batch, width=width, depth=depth, device=device, setup=setup,
        wait=f'torch.cuda.synchronize("{device}")' if on_gpu else "pass  # a CPU call returns when its work is done",
        part=point.series if point is not None and point.series in _PARTS else "forward",
    )  # fmt: skip
