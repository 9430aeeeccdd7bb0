"""Which cases answer what was asked, what is refused, and which formats a device lacks."""

import re

import pytest
from precision_made import GIB, GPU, make_machine
from pydantic import ValidationError

from gpuexplain.errors import InputError
from gpuexplain.experiments.precision.spec import (
    FORMATS,
    Inputs,
    PrecisionParams,
    Selection,
    autocast_dtype,
    count_bytes,
    count_flops,
    count_step_flops,
    inputs_of,
    note_of,
    overrides_of,
    plan_cases,
    plan_sides,
)
from gpuexplain.experiments.precision.support import find_emulation, find_refusal
from gpuexplain.model import Clock, Dtype


@pytest.mark.parametrize(
    ("largest_side", "planned"),
    [
        (None, [(2**power, False) for power in range(6, 14)]),
        (64, [(64, True)]),
        (256, [(64, False), (128, False), (256, True)]),
        (400, [(64, False), (128, False), (256, False), (400, True)]),
    ],
    ids=["default", "the probe alone", "a power of two", "between"],
)
def test_sides_are_powers_of_two_and_the_one_that_was_named(
    largest_side: int | None, planned: list[tuple[int, bool]]
) -> None:
    """Small to large; only what the visitor named is explicit."""
    assert plan_sides(PrecisionParams(largest_side=largest_side)) == planned


def test_every_format_is_planned_at_every_size_and_a_step_at_some() -> None:
    """Exact formats first, then the training step with autocast and without."""
    cases = plan_cases(PrecisionParams(largest_side=256), make_machine())
    names = {side: [case.series for case in cases if case.x == side] for side in (64, 128, 256)}
    formats = [str(dtype) for dtype in FORMATS]
    assert names == {
        64: [*formats, "step_fp32", "step_autocast"],
        128: formats,
        256: [*formats, "step_fp32", "step_autocast"],
    }


@pytest.mark.parametrize(
    ("selection", "series"),
    [
        (Selection.SIXTEEN_BIT, ["fp32", "tf32", "bf16", "fp16", "step_fp32", "step_autocast"]),
        (Selection.EIGHT_BIT, ["fp32", "fp8", "fp8_e5m2", "int8"]),
    ],
)
def test_a_selection_keeps_fp32_to_compare_with(selection: Selection, series: list[str]) -> None:
    """Without it there is no speed-up."""
    cases = plan_cases(PrecisionParams(largest_side=64, dtypes=selection), make_machine())
    assert [case.series for case in cases] == series


def test_one_device_is_measured_by_its_own_clocks() -> None:
    """A GPU's products by events, its training steps as a program waits for them; the CPU stays out."""
    cases = plan_cases(PrecisionParams(largest_side=64), make_machine(gpu_free_bytes=GIB))
    assert {case.device for case in cases} == {GPU}
    assert {(case.series.startswith("step"), case.clock, case.threads) for case in cases} == {
        (False, Clock.DEVICE, None),
        (True, Clock.CALL, None),
    }
    on_cpu = plan_cases(PrecisionParams(largest_side=64, device="cpu"), make_machine(gpu_free_bytes=GIB))
    assert {(case.device, case.clock, case.threads) for case in on_cpu} == {("cpu", Clock.CALL, 2)}


def test_work_and_bytes_are_counted_by_hand() -> None:
    """A product of side 64; a step of three layers: three forward, three and two backward."""
    assert count_flops(64) == 2 * 64**3
    assert count_step_flops(64) == 8 * 2 * 64**3
    assert count_bytes(64, Dtype.FP32) == 3 * 4 * 64**2
    assert count_bytes(64, Dtype.FP8) == (2 * 1 + 2) * 64**2
    assert count_bytes(64, Dtype.INT8) == (2 * 1 + 4) * 64**2


@pytest.mark.parametrize(
    ("bf16_native", "dtype"), [(True, Dtype.BF16), (None, Dtype.BF16), (False, Dtype.FP16)], ids=str
)
def test_autocast_takes_fp16_where_bf16_is_only_emulated(bf16_native: bool | None, dtype: Dtype) -> None:
    """As a person with such a card would."""
    machine = make_machine(gpu_free_bytes=GIB, bf16_native=bf16_native)
    assert autocast_dtype(GPU, machine) is dtype
    assert autocast_dtype("cpu", machine) is Dtype.BF16


def test_a_side_that_does_not_fit_is_refused_with_one_that_does() -> None:
    """The named size is itself accepted."""
    machine = make_machine(memory_bytes=GIB)
    with pytest.raises(InputError) as refusal:
        plan_cases(PrecisionParams(largest_side=8192), machine)
    text = str(refusal.value).replace("\u00a0", " ")
    assert text.startswith("largest_side=8192 needs ")
    assert "on cpu (fp64), of which a run may take 512 MiB. The largest power of two that fits is 2,048." in text
    assert plan_cases(PrecisionParams(largest_side=2048), machine)


def test_a_preset_leaves_out_what_does_not_fit() -> None:
    """Only a named size is worth an error."""
    cases = plan_cases(PrecisionParams(), make_machine(memory_bytes=GIB))
    assert max(case.x for case in cases if case.series == "fp64") == 2048
    assert max(case.x for case in cases if case.series == "int8") == 4096


@pytest.mark.parametrize(
    "params",
    [{"largest_side": 63}, {"largest_side": 72}, {"largest_side": 8208}, {"inputs": "ones"}, {"dtypes": "fp7"},
     {"dtype": "bf16"}, {"budget_s": 0.4}],
    ids=str,
)  # fmt: skip
def test_params_out_of_range_are_refused(params: dict[str, object]) -> None:
    """By the type, whoever asks."""
    with pytest.raises(ValidationError):
        PrecisionParams.model_validate(params)


# -- what a point notes -------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", Inputs, ids=str)
@pytest.mark.parametrize("overrides", [(), ("NVIDIA_TF32_OVERRIDE=0",), ("A=1", "B=2")], ids=len)
def test_what_is_noted_is_read_back(inputs: Inputs, overrides: tuple[str, ...]) -> None:
    """The inputs, and the variables that decide which precision runs."""
    timing = f"host clock around k calls, divided by k; {note_of(inputs, overrides)}"
    assert (inputs_of(timing), overrides_of(timing)) == (inputs, overrides)


def test_a_note_of_nobody_says_nothing() -> None:
    """A published point."""
    timing = "as published; how the clock was read is not reported"
    assert (inputs_of(timing), overrides_of(timing)) == (None, ())


# -- what a device lacks ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "units", "emulated"),
    [
        (Dtype.BF16, ("AVX2",), True),
        (Dtype.BF16, ("AVX-512", "AVX512-BF16"), False),
        (Dtype.BF16, ("AVX-512", "AMX-BF16"), False),
        (Dtype.FP16, ("AVX-512", "AMX-BF16"), True),
        (Dtype.FP16, ("NEON", "NEON-FP16"), False),
        (Dtype.FP8, ("AVX-512", "AMX-BF16"), True),
        (Dtype.FP8_E5M2, ("AMX-FP8",), False),
        (Dtype.INT8, ("AVX2",), False),
        (Dtype.FP32, ("AVX2",), False),
        (Dtype.BF16, (), False),
    ],
    ids=str,
)
def test_a_cpu_emulates_what_its_units_do_not_name(dtype: Dtype, units: tuple[str, ...], emulated: bool) -> None:
    """By the list, never by the speed; without a list nothing is said."""
    assert bool(find_emulation(dtype, "cpu", make_machine(units=units))) is emulated


def test_outside_linux_the_list_of_units_is_not_trusted() -> None:
    """It names what every core of the kind has, not what this one adds."""
    assert find_emulation(Dtype.BF16, "cpu", make_machine(units=("NEON",), kernel="Darwin 23")) == ""


def test_the_reason_of_an_emulation_names_the_units() -> None:
    """A person can look them up."""
    assert find_emulation(Dtype.BF16, "cpu", make_machine()) == (
        "this CPU has no units for bf16 (it has AVX2): each value is converted"
    )
    turing = make_machine(gpu_free_bytes=GIB, capability="7.5", bf16_native=False)
    assert find_emulation(Dtype.BF16, GPU, turing) == (
        "this GPU (compute capability 7.5) has no bf16 units: each value is converted"
    )
    assert find_emulation(Dtype.FP16, GPU, turing) == ""


@pytest.mark.parametrize(
    ("dtype", "capability", "refused"),
    [
        (Dtype.FP8, "8.0", True),
        (Dtype.FP8_E5M2, "8.6", True),
        (Dtype.FP8, "8.9", False),
        (Dtype.FP8, "9.0", False),
        (Dtype.FP8, "12.0", False),
        (Dtype.FP8, "", False),
        (Dtype.INT8, "7.5", False),
        (Dtype.BF16, "7.5", False),
    ],
    ids=str,
)
def test_fp8_needs_a_new_gpu(dtype: Dtype, capability: str, refused: bool) -> None:
    """Known before torch is asked; where the capability is not known torch decides."""
    machine = make_machine(gpu_free_bytes=GIB, capability=capability)
    reason = find_refusal(dtype, GPU, machine)
    assert bool(reason) is refused
    if refused:
        assert re.fullmatch(
            r"fp8 products need a GPU of compute capability 8\.9 or newer \(Ada, Hopper\); this one has 8\.[06]\. "
            r"Use bf16 or fp16 here\.",
            reason,
        )


def test_nvidias_rule_is_not_applied_to_others() -> None:
    """Nor to the CPU, which has no capability."""
    assert find_refusal(Dtype.FP8, GPU, make_machine(gpu_free_bytes=GIB, rocm="6.4")) == ""
    assert find_refusal(Dtype.FP8, "cpu", make_machine()) == ""
