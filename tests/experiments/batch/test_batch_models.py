"""The networks and their steps: seeded, counted by hand and by torch, right, and learning."""

import math

import pytest

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch")

from gpuexplain.experiments.batch.flops import count_step_flops  # noqa: E402
from gpuexplain.experiments.batch.spec import BatchParams  # noqa: E402
from gpuexplain.measuring import model_sizes as sizes  # noqa: E402
from gpuexplain.measuring import models  # noqa: E402
from gpuexplain.measuring.models import NETWORKS, Workload, build_network, make_examples  # noqa: E402

SMALL = {"mlp": (32, 3), "convnet": (4, 2), "transformer": (64, 2)}
MODELS = list(NETWORKS)


@pytest.mark.parametrize("name", ["IMAGE_SIDE", "CLASSES", "TOKENS", "VOCABULARY", "HEAD_WIDTH"])
def test_constants_by_hand_are_those_of_the_models(name: str) -> None:
    """They are written down twice, because counting by hand needs no torch."""
    assert getattr(sizes, name) == getattr(models, name)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", ["small", "default"])
def test_weights_are_counted_by_hand(model: str, shape: str) -> None:
    """Every one of them."""
    width, depth = SMALL[model] if shape == "small" else BatchParams(model=model).shape
    network = build_network(NETWORKS[model], width, depth)
    assert sum(p.numel() for p in network.parameters()) == sizes.size_of(model, width, depth).weights


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("mode", ["training", "inference"])
@pytest.mark.parametrize("shape", ["small", "default"])
def test_torch_counts_the_operations_that_we_count_by_hand(model: str, mode: str, shape: str) -> None:
    """Forward, and backward in training, to the last one."""
    width, depth = SMALL[model] if shape == "small" else (None, None)
    params = BatchParams(model=model, mode=mode, width=width, depth=depth)
    assert count_step_flops(params) == params.size.step_flops(1, is_training=params.is_training)


@pytest.mark.parametrize("model", MODELS)
def test_networks_and_examples_are_seeded_and_never_constant(model: str) -> None:
    """The same weights and rows every time; the first rows do not depend on the batch; the generator of others is left alone."""
    state = torch.random.get_rng_state()
    one, two = (build_network(NETWORKS[model], *SMALL[model]) for _ in range(2))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    few, _ = make_examples(one, 3, "cpu")
    many, targets = make_examples(one, 600, "cpu")
    assert torch.equal(few, many[:3])
    assert len(many) == len(targets) == 600
    assert torch.equal(many[256:512], many[:256])
    assert many.float().std() > 0.1


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("half", [None, torch.bfloat16], ids=["fp32", "autocast"])
@pytest.mark.parametrize("is_fused", [False, True], ids=["plain", "fused"])
def test_a_training_step_changes_every_weight_and_returns_a_finite_loss(
    model: str, half: object, is_fused: bool
) -> None:
    """Forward, loss, backward, optimiser: by a learning rate that leaves the numbers random."""
    network = build_network(NETWORKS[model], *SMALL[model])
    before = [p.detach().clone() for p in network.parameters()]
    workload = Workload(network, "cpu", half, is_training=True, is_fused=is_fused)
    inputs, targets = make_examples(network, 4, "cpu")
    losses = [float(workload.train(inputs, targets)) for _ in range(3)]
    assert all(math.isfinite(loss) for loss in losses)
    moved = [bool((p != b).any()) for p, b in zip(network.parameters(), before, strict=True)]
    assert all(moved)
    assert max(float((p.detach() - b).abs().max()) for p, b in zip(network.parameters(), before, strict=True)) < 1e-5


@pytest.mark.parametrize("model", MODELS)
def test_inference_keeps_nothing_for_a_backward_pass(model: str) -> None:
    """And does not change the network."""
    network = build_network(NETWORKS[model], *SMALL[model])
    before = [p.detach().clone() for p in network.parameters()]
    outputs = Workload(network, "cpu", None, is_training=False).infer(make_examples(network, 2, "cpu")[0])
    assert not outputs.requires_grad
    assert len(outputs) == 2
    assert all(torch.equal(p, b) for p, b in zip(network.parameters(), before, strict=True))


@pytest.mark.parametrize("model", MODELS)
def test_numbers_stay_in_the_range_of_fp16_however_deep(model: str) -> None:
    """The deepest model allowed, narrow."""
    depth = {"mlp": 200, "convnet": 18, "transformer": 96}[model]
    network = build_network(NETWORKS[model], {"mlp": 16, "convnet": 4, "transformer": 64}[model], depth)
    workload = Workload(network, "cpu", torch.float16, is_training=False)
    outputs = workload.infer(make_examples(network, 1, "cpu")[0])
    assert bool(outputs.isfinite().all())
    assert float(outputs.abs().max()) > 1e-4


def test_fp16_training_scales_its_gradients() -> None:
    """bf16 and fp32 need no scaler."""
    enabled = [
        Workload(build_network(NETWORKS["mlp"], 8, 1), "cpu", half, is_training=True).scaler.is_enabled()
        for half in (torch.float16, torch.bfloat16, None)
    ]
    assert enabled == [True, False, False]
