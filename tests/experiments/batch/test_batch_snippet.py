"""The standalone script: it runs with nothing but torch, and tells what the page told."""

import ast
import os
from pathlib import Path

import pytest
from batch_made import CPU, GPU, make_point, published_points

from gpuexplain.experiments.batch.snippet import cut_models, write_snippet
from gpuexplain.experiments.batch.spec import ARTICLE_PRESET, BatchParams
from gpuexplain.model import Dtype, Point
from tests.experiments.script_check import check_that_it_lands, run_script


@pytest.mark.parametrize("model", ["mlp", "convnet", "transformer"])
@pytest.mark.parametrize("mode", ["training", "inference"])
@pytest.mark.parametrize(
    ("dtype", "half"),
    [(Dtype.FP32, "None"), (Dtype.BF16, "torch.bfloat16"), (Dtype.FP16, "torch.float16")],
    ids=str,
)
def test_a_script_rebuilds_the_model_of_its_point(model: str, mode: str, dtype: Dtype, half: str) -> None:
    """Its own network only, every name that it uses bound in it, nothing of this package."""
    point = make_point(GPU, 64, 1e-3, dtype=dtype)
    script = write_snippet(BatchParams(model=model, mode=mode), point)
    compile(script, "snippet.py", "exec")
    assert "gpuexplain" not in script
    classes = {node.name for node in ast.parse(script).body if isinstance(node, ast.ClassDef)}
    wanted = {"mlp": {"Mlp"}, "convnet": {"ConvNet", "ResidualBlock"}, "transformer": {"Transformer", "DecoderBlock"}}
    assert classes == wanted[model] | {"Workload"}
    assert f'"cuda:0", {half}, {mode == "training"}, is_fused=True)' in script
    assert ("workload.train(inputs, targets)" in script) is (mode == "training")


def test_a_gpu_script_synchronises_and_keeps_fp32_exact() -> None:
    """Products and convolutions, on the device of the point."""
    script = write_snippet(BatchParams(), make_point(GPU, 64, 1e-3))
    assert "        torch.cuda.synchronize()\n        started_s = time.perf_counter()" in script
    assert 'torch.backends.cuda.matmul.fp32_precision = "ieee"' in script
    assert 'torch.backends.cudnn.conv.fp32_precision = "ieee"' in script
    assert 'torch.cuda.set_device("cuda:0")' in script


def test_a_point_gives_batch_shape_and_threads() -> None:
    """Those of the point, not those of the params."""
    script = write_snippet(BatchParams(), make_point(CPU, 32, 1e-3, shape=(32, 128, 3)))
    assert script.startswith(
        '"""Time of one mlp training step (width 128, depth 3) with batch 32 in fp32 on cpu with 2 threads (call time).\n'
    )
    assert "network = build_network(Mlp, 128, 3)" in script
    assert 'make_examples(network, 32, "cpu")' in script
    assert "torch.set_num_threads(2)" in script


@pytest.mark.parametrize(
    ("params", "point", "line"),
    [
        (BatchParams(), None, 'make_examples(network, 64, "cpu")'),
        (BatchParams(largest_batch=8), None, 'make_examples(network, 8, "cpu")'),
        (ARTICLE_PRESET, None, "network = build_network(Mlp, 1024, 50)"),
        (BatchParams(dtype="autocast"), None, 'Workload(network, "cpu", torch.bfloat16, True, is_fused=True)'),
        (BatchParams(device="cuda:1"), None, 'torch.cuda.set_device("cuda:1")'),
        (BatchParams(), published_points()[3], 'make_examples(network, 64, "cpu")'),
    ],
    ids=["default", "largest batch", "article", "autocast", "GPU", "a point of others"],
)
def test_without_a_point_of_ours_the_params_decide(params: BatchParams, point: Point | None, line: str) -> None:
    """A usual batch on the device that they name."""
    script = write_snippet(params, point)
    compile(script, "snippet.py", "exec")
    assert line in script


def test_a_cut_keeps_comments_and_order() -> None:
    """Constants first, with why they are what they are."""
    code = cut_models("Mlp").code
    assert code.startswith("SEED = 0\n")
    assert "# So small that thousands of steps" in code
    assert "IMAGE_SIDE" not in code
    assert code.index("class Mlp") < code.index("def build_network") < code.index("class Workload")


def run_on_a_core(script: str, folder: Path) -> float:
    """Run a script in a process of its own on one core and return its median (seconds)."""
    prefix = ["taskset", "-c", str(max(os.sched_getaffinity(0)))] if hasattr(os, "sched_getaffinity") else []
    return run_script(script, folder, prefix)["median_s"]


@pytest.mark.torch
@pytest.mark.parametrize("model", ["mlp", "convnet", "transformer"])
@pytest.mark.parametrize("mode", ["training", "inference"])
def test_every_script_runs(model: str, mode: str, tmp_path: Path) -> None:
    """Alone, to the end."""
    shape = {"mlp": (16, 2), "convnet": (4, 1), "transformer": (64, 1)}[model]
    point = make_point(CPU, 2, 1e-3, shape=(2, *shape), threads=1)
    assert run_on_a_core(write_snippet(BatchParams(model=model, mode=mode), point), tmp_path) > 0


def measure_point() -> Point:
    """Return our own point for 64 examples of a small training step, on one core."""
    from batch_measured import measure_points

    points = measure_points({"width": 128, "depth": 2, "largest_batch": 64, "budget_s": 6.0})
    return next(point for point in points if point.x == 64)


@pytest.mark.torch
def test_the_script_lands_where_our_own_measurement_does(tmp_path: Path) -> None:
    """The same step, in a process of its own, on the same core."""
    check_that_it_lands(measure_point, lambda point: run_on_a_core(write_snippet(BatchParams(), point), tmp_path))
