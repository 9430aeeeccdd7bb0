"""The standalone script: it runs with nothing but torch, and tells what the page told."""

from pathlib import Path

import pytest
from matmul_made import make_point

from gpuexplain.experiments.matmul.snippet import write_snippet
from gpuexplain.experiments.matmul.spec import CPU, GPU_CALL, GPU_DEVICE, GPU_WITH_TRANSFER, MatmulParams
from gpuexplain.model import Dtype, Point
from tests.experiments.script_check import check_that_it_lands, run_script


@pytest.mark.parametrize(
    ("series", "mark"),
    [
        (GPU_CALL, "        torch.cuda.synchronize()\n        started_s = time.perf_counter()"),
        (GPU_DEVICE, "return start.elapsed_time(end) / 1e3"),
        (GPU_WITH_TRANSFER, 'torch.mm(left.to("cuda:0"), right.to("cuda:0")).cpu()'),
    ],
    ids=["call", "device", "transfer"],
)
@pytest.mark.parametrize("dtype", [Dtype.FP64, Dtype.FP32, Dtype.BF16, Dtype.FP16], ids=str)
def test_a_gpu_script_uses_the_clock_of_its_point(series: str, mark: str, dtype: Dtype) -> None:
    """It compiles, sets the device and keeps fp32 exact."""
    script = write_snippet(MatmulParams(dtype=dtype), make_point(series, 512, 1e-4, dtype=dtype))
    compile(script, "snippet.py", "exec")
    assert mark in script
    assert 'torch.cuda.set_device("cuda:0")' in script
    assert 'torch.backends.cuda.matmul.fp32_precision = "ieee"' in script
    assert "gpuexplain" not in script


def test_copies_start_from_the_host() -> None:
    """Operands that are on the device already would have nothing to copy."""
    script = write_snippet(MatmulParams(), make_point(GPU_WITH_TRANSFER, 512, 1e-4))
    assert "left, right = left.to" not in script


def test_a_point_gives_shape_type_and_threads() -> None:
    """Those of the point, not those of the params."""
    script = write_snippet(MatmulParams(), make_point(CPU, 32, 1e-5, shape=(64, 32, 16), dtype=Dtype.FP64))
    assert script.startswith('"""Time of one 64 x 32 by 32 x 16 product in fp64 on cpu with 2 threads (call time).\n')
    assert "m, k, n = 64, 32, 16\n" in script
    assert "torch.set_num_threads(2)" in script


@pytest.mark.parametrize(
    ("params", "line"),
    [
        (MatmulParams(), "m, k, n = 1024, 1024, 1024"),
        (MatmulParams(largest_side=64), "m, k, n = 64, 64, 64"),
        (MatmulParams(largest_side=16), "m, k, n = 16, 16, 16"),
        (MatmulParams(m=3, k=5, n=7), "m, k, n = 3, 5, 7"),
        (MatmulParams(device="cuda:1"), 'torch.cuda.set_device("cuda:1")'),
    ],
    ids=["default", "largest side", "smallest", "explicit", "GPU"],
)
def test_without_a_point_the_params_decide(params: MatmulParams, line: str) -> None:
    """A usual size on the device that they name."""
    script = write_snippet(params, None)
    compile(script, "snippet.py", "exec")
    assert line in script


def measure_square(dtype: Dtype) -> Point:
    """Return our own point for n = 256 on every thread."""
    from matmul_measured import measure_points

    points = measure_points({"dtype": dtype, "m": 256, "k": 256, "n": 256, "device": "cpu", "budget_s": 1.5})
    return next(p for p in points if p.series == CPU and p.x == 256)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", [Dtype.FP32, Dtype.BF16], ids=str)
def test_the_script_lands_where_our_own_measurement_does(dtype: Dtype, tmp_path: Path) -> None:
    """The same product, in a process of its own."""
    params = MatmulParams(dtype=dtype)
    check_that_it_lands(
        lambda: measure_square(dtype), lambda point: run_script(write_snippet(params, point), tmp_path)["median_s"]
    )
