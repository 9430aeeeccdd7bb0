"""Which cases answer what was asked, and what is refused."""

import re

import pytest
from matmul_made import GIB, make_machine
from pydantic import ValidationError

from gpuexplain.errors import InputError
from gpuexplain.experiments.devices import resolve_device
from gpuexplain.experiments.matmul.spec import (
    ARTICLE_PRESET,
    MatmulParams,
    equivalent_side,
    plan_cases,
    plan_refinement,
    plan_shapes,
)
from gpuexplain.model import Clock, Dtype

Planned = list[tuple[int, bool]]


def squares(params: MatmulParams) -> Planned:
    """Return (side, explicit) of the planned shapes, all of them square."""
    shapes = plan_shapes(params)
    assert all(m == k == n for (m, k, n), _ in shapes)
    return [(shape[0], explicit) for shape, explicit in shapes]


@pytest.mark.parametrize(
    ("params", "planned"),
    [
        (MatmulParams(), [(2**power, False) for power in range(4, 14)]),
        (MatmulParams(largest_side=64), [(16, True), (32, True), (64, True)]),
        (MatmulParams(largest_side=100), [(16, True), (32, True), (64, True), (100, True)]),
        (MatmulParams(largest_side=16), [(16, True)]),
        (ARTICLE_PRESET, [*((2**power, False) for power in range(4, 12)), (4000, True)]),
        (MatmulParams(m=64, k=64, n=64), [(16, False), (32, False), (64, True)]),
        (MatmulParams(m=5, k=5, n=5), [(5, True)]),
    ],
    ids=["default", "largest side", "largest side between", "smallest", "square 4000", "square 64", "tiny square"],
)
def test_squares_are_powers_of_two_and_the_side_that_was_named(params: MatmulParams, planned: Planned) -> None:
    """Small to large; what the visitor named is explicit."""
    assert squares(params) == planned


@pytest.mark.parametrize(
    ("shape", "planned"),
    [
        ((128, 64, 256), [(32, 16, 64), (64, 32, 128), (128, 64, 256)]),
        ((64, 1, 64), [(64, 1, 64)]),
        ((40, 8, 40), [(40, 8, 40)]),
        ((16, 4096, 16), [(16, 4096, 16)]),
    ],
    ids=["halved twice", "outer product", "inner side under 16", "a side of 16"],
)
def test_another_aspect_ratio_is_halved(shape: tuple[int, int, int], planned: list[tuple[int, int, int]]) -> None:
    """Until a side would fall under 16, or under the smallest that was asked for."""
    shapes = plan_shapes(MatmulParams(**dict(zip("mkn", shape, strict=True))))
    assert shapes == [(each, each == shape) for each in planned]


def test_a_rectangle_stands_at_the_square_of_equal_work() -> None:
    """The x axis compares like with like."""
    assert equivalent_side((128, 64, 256)) == 128.0
    assert equivalent_side((100, 10, 10)) == 21.5


def test_a_cpu_is_measured_with_all_threads_and_with_one() -> None:
    """One series each, by the host's clock."""
    cases = plan_cases(MatmulParams(largest_side=16), make_machine(threads=4))
    assert [(case.series, case.threads, case.clock) for case in cases] == [
        ("cpu", 4, Clock.CALL),
        ("cpu_1_thread", 1, Clock.CALL),
    ]


def test_one_thread_is_not_measured_twice() -> None:
    """With one usable thread both series would be the same."""
    cases = plan_cases(MatmulParams(largest_side=16), make_machine(threads=1))
    assert [case.series for case in cases] == ["cpu"]


def test_a_gpu_is_measured_by_three_clocks() -> None:
    """Call, device and transfer-inclusive time."""
    cases = plan_cases(MatmulParams(largest_side=16), make_machine(threads=1, gpu_free_bytes=GIB))
    assert [(case.series, case.device, case.clock) for case in cases[1:]] == [
        ("gpu_call", "cuda:0", Clock.CALL),
        ("gpu_device", "cuda:0", Clock.DEVICE),
        ("gpu_with_transfer", "cuda:0", Clock.TRANSFER_INCLUSIVE),
    ]


@pytest.mark.parametrize("dtype", [Dtype.FP64, Dtype.FP32, Dtype.BF16], ids=str)
def test_a_size_that_does_not_fit_is_refused_with_one_that_does(dtype: Dtype) -> None:
    """The named size is itself accepted."""
    machine = make_machine(memory_bytes=GIB)
    with pytest.raises(InputError) as refusal:
        plan_cases(MatmulParams(dtype=dtype, m=20_000, k=20_000, n=20_000), machine)
    text = str(refusal.value).replace("\u00a0", " ")
    assert text.startswith(f"20,000 x 20,000 x 20,000 ({dtype}) needs ")
    assert "on cpu, of which a run may take 512 MiB. The largest square that fits has n = " in text
    largest = int(re.findall(r"n = ([\d,]+)\.", text)[0].replace(",", ""))
    named = MatmulParams(dtype=dtype, m=largest, k=largest, n=largest)
    assert plan_cases(named, machine)[-1].shape == (largest,) * 3


@pytest.mark.parametrize(("host_gib", "gpu_gib", "device"), [(2, 64, "cpu"), (512, 1, "cuda:0")], ids=["host", "gpu"])
def test_the_tighter_memory_decides(host_gib: int, gpu_gib: int, device: str) -> None:
    """A size that one device could hold is no help where the other cannot."""
    machine = make_machine(memory_bytes=host_gib * GIB, gpu_free_bytes=gpu_gib * GIB)
    with pytest.raises(InputError) as refusal:
        plan_cases(MatmulParams(m=60_000, k=60_000, n=60_000), machine)
    assert f" on {device}, of which" in str(refusal.value)
    largest = int(re.findall(r"n = ([\d,]+)\.", str(refusal.value))[0].replace(",", ""))
    assert plan_cases(MatmulParams(m=largest, k=largest, n=largest), machine)


def test_a_preset_leaves_out_what_does_not_fit() -> None:
    """Only a named size is worth an error."""
    cases = plan_cases(MatmulParams(), make_machine(threads=1, memory_bytes=GIB))
    assert [case.x for case in cases] == [2.0**power for power in range(4, 13)]


@pytest.mark.parametrize(
    ("asked", "gpu_free_bytes", "device"),
    [("auto", None, "cpu"), ("auto", GIB, "cuda:0"), ("cpu", GIB, "cpu"), ("cuda:0", GIB, "cuda:0")],
    ids=["auto without a GPU", "auto with one", "cpu", "named"],
)
def test_auto_takes_the_first_gpu_that_works(asked: str, gpu_free_bytes: int | None, device: str) -> None:
    """Else the CPU."""
    assert resolve_device(MatmulParams(device=asked), make_machine(gpu_free_bytes=gpu_free_bytes)) == device


def test_auto_takes_the_first_gpu_where_no_cpu_is_offered() -> None:
    """The CPU is not there to be skipped."""
    one = make_machine(gpu_free_bytes=GIB)
    second = one.gpus[0].model_copy(update={"torch_device": "cuda:1"})
    machine = one.model_copy(update={"gpus": (*one.gpus, second), "cpu_offered": False})
    assert resolve_device(MatmulParams(), machine) == "cuda:0"


@pytest.mark.parametrize(
    ("gpu_free_bytes", "message"),
    [
        (None, "device='cuda:7' cannot be used: No NVIDIA driver was found. Allowed here: auto, cpu."),
        (GIB, "device='cuda:7' cannot be used: torch does not list it. Allowed here: auto, cpu, cuda:0."),
    ],
    ids=["no GPU", "another GPU"],
)
def test_a_device_that_is_not_there_is_refused_with_those_that_are(gpu_free_bytes: int | None, message: str) -> None:
    """And why it is not."""
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        resolve_device(MatmulParams(device="cuda:7"), make_machine(gpu_free_bytes=gpu_free_bytes))


@pytest.mark.parametrize(
    "params",
    [{"m": 8}, {"m": 8, "k": 8}, {"m": 0, "k": 8, "n": 8}, {"m": 8, "k": 8, "n": 65_537}, {"largest_side": 15},
     {"largest_side": 8193}, {"dtype": "tf32"}, {"dtype": "int8"}, {"device": "cuda:01"}, {"budget_s": 0.4}, {"side": 8}],
    ids=str,
)  # fmt: skip
def test_params_out_of_range_are_refused(params: dict[str, object]) -> None:
    """By the type, whoever asks."""
    with pytest.raises(ValidationError):
        MatmulParams.model_validate(params)


@pytest.mark.parametrize(
    ("low", "high", "sides"),
    [(512, 1024, [608, 720, 864]), (64, 128, [80, 96, 112]), (16, 32, []), (32, 64, [48])],
    ids=["three", "multiples of 16", "nothing between", "one between"],
)
def test_refinement_spreads_sides_between_the_bracket(low: float, high: float, sides: list[int]) -> None:
    """Evenly in log n, strictly inside, none that is there already."""
    cases = plan_cases(MatmulParams(), make_machine())
    assert plan_refinement(low, high, cases) == sides
