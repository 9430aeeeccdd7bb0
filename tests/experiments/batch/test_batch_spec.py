"""What may be asked, what it costs by hand, and which batches are planned."""

import pytest
from batch_made import GIB, MIB, make_machine
from pydantic import ValidationError

from gpuexplain.errors import InputError
from gpuexplain.experiments.batch.plan import (
    BASELINE_BATCHES,
    ceiling_limits,
    half_dtype,
    make_case,
    plan_cases,
    plan_zoom,
    sweep_limits,
)
from gpuexplain.experiments.batch.spec import (
    ARTICLE_PRESET,
    CEILING_PRESET,
    LARGEST_BATCH,
    LARGEST_USUAL_BATCH,
    TOUR_PARAMS,
    BatchParams,
)
from gpuexplain.measuring.model_sizes import size_of
from gpuexplain.model import Clock, Dtype

# -- params -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"model": "mlp", "width": 7}, "the width of a model of kind mlp goes from 8 to 16384"),
        ({"model": "convnet", "width": 513}, "the width of a model of kind convnet goes from 4 to 512"),
        ({"model": "convnet", "depth": 19}, "the depth of a model of kind convnet goes from 1 to 18"),
        ({"model": "transformer", "width": 100}, "the width of a model of kind transformer goes from 64 to 8192 in steps of 64"),
        ({"model": "transformer", "depth": 97}, "the depth of a model of kind transformer goes from 1 to 96"),
    ],
    ids=["narrow mlp", "wide convnet", "deep convnet", "heads do not fit", "deep transformer"],
)  # fmt: skip
def test_a_shape_must_suit_its_model(given: dict[str, object], text: str) -> None:
    """The error names what is allowed."""
    with pytest.raises(ValidationError, match=text):
        BatchParams.model_validate(given)


@pytest.mark.parametrize(
    "given",
    [
        {"largest_batch": 0},
        {"largest_batch": LARGEST_BATCH + 1},
        {"width": 3},
        {"width": 16_385},
        {"depth": 0},
        {"depth": 201},
        {"ceiling_mib": 63},
        {"ceiling_mib": 2**20 + 1},
        {"model": "vgg"},
        {"mode": "dreaming"},
        {"dtype": "fp16"},
    ],
    ids=str,
)
def test_every_parameter_is_bounded(given: dict[str, object]) -> None:
    """Nothing reaches torch that nobody can measure."""
    with pytest.raises(ValidationError):
        BatchParams.model_validate(given)


def test_a_ceiling_named_is_a_ceiling_searched() -> None:
    """No combination is invalid."""
    assert [BatchParams(**given).seeks_ceiling for given in ({}, {"ceiling_search": True}, {"ceiling_mib": 64})] == [
        False,
        True,
        True,
    ]


def test_the_articles_example_is_as_the_article_has_it() -> None:
    """Batch 256, 1024 inputs and outputs, 50 layers."""
    params = ARTICLE_PRESET
    assert (params.model, params.shape, params.largest_batch) == ("mlp", (1024, 50), 256)
    assert plan_cases(params, make_machine())[-1].x == 256


def test_the_tour_asks_the_usual_question_in_eleven_seconds() -> None:
    """So that its answer is the page's."""
    assert BatchParams(budget_s=11.0) == TOUR_PARAMS


# -- by hand ------------------------------------------------------------------------------------------


def test_a_layer_is_counted_by_hand() -> None:
    """512 inputs and outputs: 512 x 512 multiply-adds an example; a first layer's input needs no gradient."""
    size = size_of("mlp", 512, 1)
    assert size.forward_flops == 2 * 512 * 512
    assert size.weights == 512 * 512 + 512
    assert size.step_flops(10, is_training=False) == 10 * 2 * 512 * 512
    assert size.step_flops(10, is_training=True) == 10 * 2 * (2 * 512 * 512)


def test_training_holds_four_copies_of_the_weights() -> None:
    """Weights, gradients, two moments; autocast half a copy more."""
    size = size_of("mlp", 1024, 50)
    inference, training = (size.step_bytes(0, is_training=t, is_autocast=False) for t in (False, True))
    assert (inference, training) == (4 * size.weights, 16 * size.weights)
    assert size.step_bytes(0, is_training=False, is_autocast=True) == 6 * size.weights


@pytest.mark.parametrize("model", ["mlp", "convnet", "transformer"])
def test_memory_grows_with_the_batch(model: str) -> None:
    """And more of it in training."""
    size = size_of(model, *BatchParams(model=model).shape)
    for is_training in (False, True):
        held = [size.step_bytes(batch, is_training=is_training, is_autocast=False) for batch in (1, 64, 4096)]
        assert held == sorted(held)
    assert size.training_live > size.inference_live or model == "mlp"


# -- plans --------------------------------------------------------------------------------------------


def test_without_a_gpu_powers_of_two_run_on_all_threads() -> None:
    """Up to the usual largest batch or the memory of a preset."""
    cases = plan_cases(BatchParams(), make_machine(threads=3))
    assert {case.series for case in cases} == {"mlp_training_cpu"}
    assert [case.x for case in cases][:4] == [1, 2, 4, 8]
    assert {(case.threads, case.clock, case.dtype) for case in cases} == {(3, Clock.CALL, Dtype.FP32)}
    assert all(case.memory_bytes <= 2 * GIB for case in cases)
    assert [int(case.x) for case in cases if case.explicit] == [1, 2, 4, 8, 16]
    first = cases[0]
    assert (first.items, first.shape, first.id) == (1.0, (1, 512, 4), "mlp_training_cpu|cpu|fp32|1x512x4")


def test_beside_a_gpu_the_cpu_is_a_small_baseline() -> None:
    """Every second power of two, up to 256, never with few samples."""
    cases = plan_cases(BatchParams(largest_batch=1024), make_machine(gpu_free_bytes=70 * GIB))
    by_device = {device: [c for c in cases if c.device == device] for device in ("cpu", "cuda:0")}
    assert [int(case.x) for case in by_device["cpu"]] == list(BASELINE_BATCHES)
    assert [int(case.x) for case in by_device["cuda:0"]] == [2**power for power in range(11)]
    assert {case.series for case in cases} == {"mlp_training_cpu", "mlp_training_gpu"}
    assert not any(case.explicit for case in by_device["cpu"])
    assert all(case.explicit for case in by_device["cuda:0"])


def test_a_usual_sweep_stops_at_a_quarter_of_the_memory() -> None:
    """Of a GPU with little left."""
    machine = make_machine(gpu_free_bytes=2 * GIB)
    cases = [c for c in plan_cases(BatchParams(), machine) if c.device == "cuda:0"]
    assert max(case.memory_bytes for case in cases) <= 0.5 * GIB
    assert max(case.x for case in cases) < LARGEST_USUAL_BATCH
    assert sweep_limits(BatchParams(), machine)["cuda:0"] == int(0.5 * GIB)


def test_a_ceiling_search_goes_beyond_the_limit() -> None:
    """Something must fail before a ceiling is found; every case may run with few samples."""
    params = BatchParams(ceiling_mib=256)
    machine = make_machine()
    cases = plan_cases(params, machine)
    assert ceiling_limits(params, machine) == {"cpu": 256 * MIB}
    assert max(case.memory_bytes for case in cases) > 256 * MIB
    assert all(case.explicit for case in cases)
    assert plan_cases(CEILING_PRESET, machine)[-1].memory_bytes > 512 * MIB


def test_what_a_run_may_fill_is_half_of_a_cpu_and_the_usual_share_of_a_gpu() -> None:
    """The limits that a predicted ceiling is measured against."""
    limits = ceiling_limits(BatchParams(), make_machine(gpu_free_bytes=70 * GIB))
    assert limits == {"cpu": 8 * GIB, "cuda:0": int(0.8 * 70 * GIB)}


def test_a_named_batch_that_does_not_fit_is_refused_with_the_one_that_does() -> None:
    """The whole sentence."""
    with pytest.raises(InputError) as error:
        plan_cases(BatchParams(model="convnet", largest_batch=65536), make_machine())
    text = str(error.value).replace("\u00a0", " ")
    assert text.startswith("One training step of this convnet with batch 65,536 needs about 139 GiB on cpu, ")
    assert "of which a run may take 4.00 GiB. The largest batch that fits is 1,887." in text
    assert text.endswith("To go beyond, switch the ceiling search on.")


def test_the_batch_that_is_said_to_fit_fits() -> None:
    """And one more does not."""
    params = BatchParams(model="transformer", mode="inference", largest_batch=100_000)
    with pytest.raises(InputError, match="The largest batch that fits is") as error:
        plan_cases(params, make_machine())
    fits = int(str(error.value).split("fits is ")[1].split(".")[0].replace(",", ""))
    limit = sweep_limits(params, make_machine())["cpu"]
    assert params.step_bytes(fits) <= limit < params.step_bytes(fits + 1)


@pytest.mark.parametrize(
    ("params", "remedy"),
    [
        (BatchParams(width=16_384, depth=200), "At this width depth 1 fits."),
        (BatchParams(model="transformer", width=8192, depth=96), "Depth 1 with width 5120 fits."),
    ],
    ids=["fewer layers", "narrower"],
)
def test_a_model_that_does_not_fit_is_refused_with_one_that_does(params: BatchParams, remedy: str) -> None:
    """Fewer layers first, then a narrower model."""
    machine = make_machine(memory_bytes=20 * GIB)
    with pytest.raises(InputError, match="needs about") as error:
        plan_cases(params, machine)
    assert str(error.value).endswith(remedy)
    number = [int(word) for word in remedy.replace(".", "").split() if word.isdigit()]
    shape = {"depth": number[0]} if len(number) == 1 else {"depth": number[0], "width": number[1]}
    assert plan_cases(params.model_copy(update=shape), machine)


def test_no_model_of_a_kind_may_fit() -> None:
    """A machine with a few MiB left."""
    with pytest.raises(InputError, match=r"No model of this kind fits\."):
        plan_cases(BatchParams(model="transformer"), make_machine(memory_bytes=4 * MIB))


@pytest.mark.parametrize(
    ("processes", "free", "refusal"),
    [
        (1, 70, "another process uses it"),
        (3, 70, "3 others use it"),
        (None, 60, "much of its memory is taken, and by whom cannot be told from here"),
        (None, 78, None),
        (0, 60, None),
    ],
    ids=["one", "three", "unknown but taken", "unknown but free", "alone"],
)
def test_a_ceiling_search_leaves_others_their_memory(processes: int | None, free: int, refusal: str | None) -> None:
    """Refused with the reason and what to do; other runs go on."""
    machine = make_machine(gpu_free_bytes=free * GIB, gpu_processes=processes)
    assert plan_cases(BatchParams(), machine)
    if refusal is None:
        assert plan_cases(BatchParams(ceiling_search=True), machine)
        return
    with pytest.raises(InputError) as error:
        plan_cases(BatchParams(ceiling_search=True), machine)
    assert str(error.value) == (
        f"The ceiling search would fill the memory of cuda:0, but {refusal}. Switch the search off, or wait until the "
        "device is free."
    )
    assert plan_cases(BatchParams(ceiling_search=True, device="cpu"), machine)


def test_a_missing_device_is_refused() -> None:
    """With the reason and what there is."""
    with pytest.raises(InputError, match=r"No NVIDIA driver was found\. Allowed here: auto, cpu\."):
        plan_cases(BatchParams(device="cuda:0"), make_machine())


@pytest.mark.parametrize(
    ("native", "capability", "dtype"),
    [(True, "8.0", Dtype.BF16), (False, "7.5", Dtype.FP16), (None, "9.0", Dtype.BF16), (None, "7.0", Dtype.FP16)],
    ids=["native", "emulated", "unknown but new", "unknown and old"],
)
def test_autocast_takes_bf16_where_it_is_native(native: bool | None, capability: str, dtype: Dtype) -> None:
    """Else fp16; a CPU always has bf16."""
    machine = make_machine(gpu_free_bytes=70 * GIB, bf16_native=native, capability=capability)
    assert half_dtype("cuda:0", machine) is dtype
    assert half_dtype("cpu", machine) is Dtype.BF16
    assert make_case(BatchParams(dtype="autocast"), machine, "cuda:0", 8).dtype is dtype
    assert make_case(BatchParams(), machine, "cuda:0", 8).dtype is Dtype.FP32


@pytest.mark.parametrize(
    ("knee", "added"),
    [
        (64, [40, 48, 56, 63, 65, 80, 96, 112, 127, 129]),
        (4, [3, 5, 6, 7, 9]),
        (1, []),
    ],
    ids=["64", "4", "1"],
)
def test_the_zoom_looks_around_the_knee(knee: int, added: list[int]) -> None:
    """Between half and twice of it, and next to it and its double."""
    known = [1, 2, 4, 8, 16, 32, 64, 128]
    assert plan_zoom(knee, known) == added
