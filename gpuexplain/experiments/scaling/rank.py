"""One process of a group that shares a training step: started by ``measure``, never by hand (torch).

Reads one JSON argument (``RankPlan``), works through its cases together with the others, and, as the
first of them, writes one JSON line per case on stdout.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import torch
import torch._dynamo  # DDP loads it, which takes seconds: before the budget is shared out
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from gpuexplain.experiments.scaling.spec import ALL_REDUCE, SILENT, VALUE_BYTES

SEED = 0
WARMUP_STEPS = 3
FEWEST_SAMPLES, MOST_SAMPLES = 7, 200
LEAST_SCALE = 0.05
LEARNING_RATE = 1e-7  # so small that thousands of steps leave the numbers as they were


def main(plan: dict[str, Any]) -> None:
    """Join the group, run every case of the plan, and leave."""
    rank, world = int(plan["rank"]), int(plan["world"])
    device = torch.device(plan["device"])
    torch.set_flush_denormal(True)
    if plan["threads"]:
        torch.set_num_threads(int(plan["threads"]))
    if device.type == "cuda":
        torch.cuda.set_device(device)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # the processes are on this machine
    dist.init_process_group(
        "nccl" if device.type == "cuda" else "gloo",
        init_method=f"file://{plan['meeting_point']}",
        rank=rank,
        world_size=world,
        timeout=timedelta(seconds=120),
    )
    scale = agree_on_scale(plan, device)
    groups = {count: dist.new_group(list(range(count))) for count in sorted({c["count"] for c in plan["cases"]})}
    for case in plan["cases"]:
        if rank < case["count"]:
            own = {**case, "budget_s": scale * float(case["budget_s"])}
            found = run_case(own, groups[case["count"]], device)
            if rank == 0:
                print(json.dumps({"case": case["id"], **found}), flush=True)
        dist.barrier()
    dist.destroy_process_group()


def agree_on_scale(plan: dict[str, Any], device: torch.device) -> float:
    """Return by how much every case's budget shrinks because starting took its time: the first process decides."""
    scale = scale_of(float(plan["ends_at"]) - time.time(), float(plan["budget_s"]))
    decided = torch.tensor([scale], dtype=torch.float64, device=device)
    dist.broadcast(decided, src=0)
    return float(decided)


def scale_of(left_s: float, budget_s: float) -> float:
    """Return the share of the budget that is left; never under a twentieth, so that every case gets its samples."""
    return min(1.0, max(LEAST_SCALE, left_s / budget_s))


def run_case(case: dict[str, Any], group: Any, device: torch.device) -> dict[str, Any]:
    """Return the samples (seconds) of one case, the first call, and the error of what was exchanged."""
    if case["series"] == ALL_REDUCE:
        work, error = make_exchange(case, group, device)
    else:
        work, error = make_step(case, group, device)
    return {**take_samples(work, float(case["budget_s"]), group, device), "rel_error": error()}


def make_step(
    case: dict[str, Any], group: Any, device: torch.device
) -> tuple[Callable[[], None], Callable[[], float | None]]:
    """Return one training step of this process's share, and a check that all processes hold the same weights."""
    generator = torch.Generator().manual_seed(SEED)
    torch.manual_seed(SEED)
    layers: list[nn.Module] = []
    for _ in range(case["depth"]):
        layers += [nn.Linear(case["width"], case["width"]), nn.ReLU()]
    model = nn.Sequential(*layers).to(device)
    ids = [device.index] if device.type == "cuda" else None
    shared = DistributedDataParallel(model, device_ids=ids, process_group=group) if case["count"] > 1 else model
    optimiser = torch.optim.SGD(shared.parameters(), lr=LEARNING_RATE)
    examples = (torch.rand(case["per_device"], case["width"], generator=generator) * 2 - 1).to(device)

    def step() -> None:
        is_silent = isinstance(shared, DistributedDataParallel) and case["series"] == SILENT
        optimiser.zero_grad(set_to_none=True)
        with shared.no_sync() if is_silent else nullcontext():  # type: ignore[operator]
            loss = shared(examples).square().mean()
            torch.autograd.backward(loss)
        optimiser.step()

    def check() -> float | None:
        if case["count"] == 1 or case["series"] == SILENT:
            return None
        mine = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
        total = mine.clone()
        dist.all_reduce(total, group=group)
        return float((total / case["count"] - mine).norm() / mine.norm())

    return step, check


def make_exchange(
    case: dict[str, Any], group: Any, device: torch.device
) -> tuple[Callable[[], None], Callable[[], float | None]]:
    """Return one sum over all processes, and a check of it."""
    values = torch.ones(case["size_bytes"] // VALUE_BYTES, device=device)

    def exchange() -> None:
        dist.all_reduce(values, group=group)
        values.mul_(1.0 / case["count"])  # back to ones, so that it neither grows nor fades

    def check() -> float | None:
        return float((values - 1).norm() / values.norm())

    return exchange, check


def take_samples(work: Callable[[], None], budget_s: float, group: Any, device: torch.device) -> dict[str, Any]:
    """Return the times of as many calls as fit the budget; every process makes the same number of them."""
    first_s = time_once(work, device)
    warmup_s = [time_once(work, device) for _ in range(WARMUP_STEPS)]
    agreed = torch.tensor([warmup_s[-1]], dtype=torch.float64, device=device)
    if dist.get_world_size(group) > 1:
        dist.all_reduce(agreed, op=dist.ReduceOp.MAX, group=group)
    n_samples = int(min(MOST_SAMPLES, max(FEWEST_SAMPLES, budget_s / max(float(agreed), 1e-7))))
    samples_s = [time_once(work, device) for _ in range(n_samples)]
    return {"first_s": first_s, "warmup_s": warmup_s, "samples_s": samples_s}


def time_once(work: Callable[[], None], device: torch.device) -> float:
    """Return the seconds of one call, the device awaited before and after."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    started_s = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - started_s


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
