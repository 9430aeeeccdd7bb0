"""A standalone script that shares one training step among processes, with nothing but torch."""

from gpuexplain.experiments.scaling.spec import ScalingParams
from gpuexplain.model import Point

_SCRIPT = '''"""One training step, shared by {count} processes on this machine (NCCL on GPUs, gloo on a CPU).

Needs only torch. Save it and run it: it starts the processes itself.
"""

import os
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

COUNT, EXAMPLES_EACH, WIDTH, DEPTH = {count}, {per_device}, {width}, {depth}
ON_GPU = {on_gpu}


def work(rank: int, meeting_point: str) -> None:
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    device = torch.device(f"cuda:{{rank}}" if ON_GPU else "cpu")
    torch.manual_seed(0)
    if ON_GPU:
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads({threads})
    backend = "nccl" if ON_GPU else "gloo"
    dist.init_process_group(backend, init_method=f"file://{{meeting_point}}", rank=rank, world_size=COUNT)
    layers = [layer for _ in range(DEPTH) for layer in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]
    model = nn.Sequential(*layers).to(device)
    if COUNT > 1:
        model = DistributedDataParallel(model, device_ids=[rank] if ON_GPU else None)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-7)
    examples = torch.rand(EXAMPLES_EACH, WIDTH, device=device) * 2 - 1
    samples_s = []
    for _ in range(40):
        if ON_GPU:
            torch.cuda.synchronize(device)
        started_s = time.perf_counter()
        optimiser.zero_grad(set_to_none=True)
        model(examples).square().mean().backward()
        optimiser.step()
        if ON_GPU:
            torch.cuda.synchronize(device)
        samples_s.append(time.perf_counter() - started_s)
    if rank == 0:
        median_s = statistics.median(samples_s[5:])
        print(f"{{COUNT * EXAMPLES_EACH / median_s:.0f}} examples/s")
        print(f"median_s={{median_s!r}}")
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(os.path.join(folder, "meeting-point"),), nprocs=COUNT)
'''


def write_snippet(params: ScalingParams, point: Point | None) -> str:
    """Return the script for the step of ``point``; without one for two processes that share the batch."""
    count, per_device, width, depth = 2, -(-params.batch // 2), params.width, params.depth
    if point is not None and len(point.shape) == 4:
        count, per_device, width, depth = point.shape
    device = point.device if point is not None else params.device
    return _SCRIPT.format(
        count=count, per_device=per_device, width=width, depth=depth, on_gpu=device.startswith("cuda"),
        threads=(point.threads if point is not None and point.threads else 1),
    )  # fmt: skip
