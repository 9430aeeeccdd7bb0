"""The standalone script: it runs with nothing but torch, and tells what the page told."""

from pathlib import Path

import pytest
from precision_made import GPU, make_point, make_steps

from gpuexplain.experiments.precision.snippet import write_snippet
from gpuexplain.experiments.precision.spec import FORMATS, Inputs, PrecisionParams
from gpuexplain.model import Clock, Dtype, Point
from tests.experiments.script_check import check_that_it_lands, run_script

GPU_CALLS = {
    Dtype.FP64: "torch.mm(left, right)",
    Dtype.FP32: "torch.mm(left, right)",
    Dtype.TF32: "torch.mm(left, right)",
    Dtype.BF16: "torch.mm(left, right)",
    Dtype.FP16: "torch.mm(left, right)",
    Dtype.FP8: "torch._scaled_mm(left, right, scale_a=left_unit, scale_b=right_unit, out_dtype=torch.bfloat16)",
    Dtype.FP8_E5M2: "torch._scaled_mm(left, right, scale_a=left_unit, scale_b=right_unit, out_dtype=torch.bfloat16)",
    Dtype.INT8: "torch._int_mm(left, right)",
}


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_a_gpu_script_multiplies_in_its_format_by_device_time(dtype: Dtype) -> None:
    """It compiles, sets device and switch, and puts operands and units on the device."""
    script = write_snippet(PrecisionParams(), make_point(str(dtype), 512, 10.0, device=GPU))
    compile(script, "snippet.py", "exec")
    assert f"    return {GPU_CALLS[dtype]}\n" in script
    assert "return start.elapsed_time(end) / 1e3" in script
    assert 'torch.cuda.set_device("cuda:0")' in script
    assert 'left, right = left.to("cuda:0"), right.to("cuda:0")' in script
    mode = "tf32" if dtype is Dtype.TF32 else "ieee"
    assert f'torch.backends.cuda.matmul.fp32_precision = "{mode}"' in script
    is_eight_bit = dtype in (Dtype.FP8, Dtype.FP8_E5M2, Dtype.INT8)
    assert ('left_unit.to("cuda:0")' in script) is is_eight_bit
    assert ("right = right.t().contiguous().t()" in script) is is_eight_bit
    assert "gpuexplain" not in script
    assert max(len(line) for line in script.splitlines()) <= 120


@pytest.mark.parametrize(
    ("inputs", "line"),
    [
        (Inputs.UNIFORM, "torch.rand(n, n, generator=generator, dtype=torch.float32) * 2 - 1"),
        (Inputs.NORMAL, "torch.randn(n, n, generator=generator, dtype=torch.float32)"),
        (Inputs.BADLY_SCALED, "left, right = left * scales, right / scales[:, None]"),
    ],
)
def test_the_inputs_are_those_of_the_params(inputs: Inputs, line: str) -> None:
    """The same spread of numbers."""
    script = write_snippet(PrecisionParams(inputs=inputs), make_point("bf16", 512, 0.1))
    compile(script, "snippet.py", "exec")
    assert line in script


def test_a_point_gives_size_format_and_threads() -> None:
    """Those of the point."""
    script = write_snippet(PrecisionParams(), make_point("fp8", 128, 0.1))
    assert script.startswith(
        '"""Time of one 128 x 128 by 128 x 128 product in fp8 e4m3 on cpu with 2 threads (call time).\n'
    )
    assert "n = 128\n" in script
    assert "torch.set_num_threads(2)" in script


@pytest.mark.parametrize(
    ("params", "lines"),
    [
        (PrecisionParams(), ("n = 512\n", "left.to(torch.bfloat16)")),
        (PrecisionParams(largest_side=64), ("n = 64\n",)),
        (PrecisionParams(device="cuda:1"), ('torch.cuda.set_device("cuda:1")', "torch.cuda.synchronize()")),
    ],
    ids=["default", "small", "GPU"],
)
def test_without_a_point_the_params_decide(params: PrecisionParams, lines: tuple[str, ...]) -> None:
    """bf16 at a usual size on the device that they name; so for a point that was not timed."""
    for point in (None, make_point("fp32", 4096, None).model_copy(update={"series": "sum_fp32"})):
        script = write_snippet(params, point)
        compile(script, "snippet.py", "exec")
        assert all(line in script for line in lines)


@pytest.mark.parametrize(
    ("device", "dtype", "lines"),
    [
        ("cpu", Dtype.BF16, ('torch.autocast("cpu", dtype=torch.bfloat16)', "scale = 1.0")),
        (GPU, Dtype.BF16, ('torch.autocast("cuda", dtype=torch.bfloat16)', 'device = 256, "cuda:0"', "synchronize()")),
        (GPU, Dtype.FP16, ('torch.autocast("cuda", dtype=torch.float16)', "scale = 4096.0")),
    ],
    ids=["CPU", "GPU", "GPU without bf16"],
)
def test_a_training_step_has_a_script_of_its_own(device: str, dtype: Dtype, lines: tuple[str, ...]) -> None:
    """With autocast and without, by the clock of a program."""
    plain, mixed = make_steps(1.0, device=device, clock=Clock.CALL)
    mixed = mixed.model_copy(update={"dtype": dtype})
    script = write_snippet(PrecisionParams(), mixed)
    compile(script, "snippet.py", "exec")
    assert all(line in script for line in lines)
    exact = write_snippet(PrecisionParams(), plain)
    compile(exact, "snippet.py", "exec")
    assert "contextlib.nullcontext()" in exact
    assert "gpuexplain" not in script + exact


# -- run ------------------------------------------------------------------------------------------


@pytest.mark.torch
@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_every_script_runs_and_errs_as_the_page_says(dtype: Dtype, tmp_path: Path) -> None:
    """The same numbers, the same format, the same error."""
    from precision_made import make_machine

    from gpuexplain.experiments.precision.bench import Bench
    from gpuexplain.experiments.precision.spec import plan_cases
    from gpuexplain.measuring.energy import NotReported

    machine = make_machine()
    case = next(c for c in plan_cases(PrecisionParams(largest_side=64), machine) if c.series == dtype)
    ours = Bench(machine, 2, Inputs.UNIFORM, {"cpu": NotReported("")}).prepare(case).check()
    told = run_script(write_snippet(PrecisionParams(), make_point(str(dtype), 64, 0.1)), tmp_path)
    assert told["rel_error"] == pytest.approx(ours.rel_error, rel=0.1, abs=1e-15)
    assert told["median_s"] > 0


def measure(series: str, side: int) -> Point:
    """Return our own point of one series and size."""
    from precision_measured import measure_session

    selection = "8_bit" if series in ("fp8", "int8") else "16_bit"
    params = {"largest_side": side, "budget_s": 3.0, "dtypes": selection}
    points = measure_session(params)[0].points
    return next(p for p in points if p.series == series and p.x == side)


@pytest.mark.torch
@pytest.mark.parametrize(("series", "side"), [("fp32", 256), ("bf16", 128), ("step_fp32", 256)], ids=str)
def test_the_script_lands_where_our_own_measurement_does(series: str, side: int, tmp_path: Path) -> None:
    """The same product or step, in a process of its own."""
    check_that_it_lands(
        lambda: measure(series, side),
        lambda point: run_script(write_snippet(PrecisionParams(), point), tmp_path)["median_s"],
    )
