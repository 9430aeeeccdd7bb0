"""Published GPUs and anybody's file, as points that the same conclusions are drawn from."""

import json
from pathlib import Path

import pytest

from gpuexplain.analyse import analyse_file
from gpuexplain.experiments.contract import FileOrigin
from gpuexplain.experiments.precision.conclude import find_precision_findings, findings_json
from gpuexplain.experiments.precision.published import default_published, points_of_file, published_results
from gpuexplain.experiments.precision.spec import Inputs, PrecisionParams
from gpuexplain.experiments.precision.words import tell_answer
from gpuexplain.findings import to_json
from gpuexplain.model import Source, Status
from gpuexplain.store.series_files import read_series, read_series_file
from gpuexplain.units import NBSP
from gpuexplain.wording.markup import plain

CASES = Path(__file__).parents[2] / "cases"
EXPECTED = json.loads((CASES / "expected.json").read_text())
PRECISION = [name for name, entry in EXPECTED.items() if entry["experiment"] == "precision"]


def test_published_gpus_have_several_formats_and_a_source() -> None:
    """Each under the name that goes into an address."""
    results = {result.key: result for result in published_results()}
    assert {key: sorted({p.series for p in result.points}) for key, result in results.items()} == {
        "NVIDIA GeForce RTX 4090": ["bf16", "fp16", "fp32", "tf32"],
        "NVIDIA GeForce RTX 3080": ["fp16", "fp32"],
        "NVIDIA GeForce RTX 3060": ["fp32", "tf32"],
        "Apple M4 Max": ["fp16", "fp32", "tf32"],
        "RTX 4060 Ti": ["fp32", "tf32"],
    }
    for result in results.values():
        assert {(p.source, p.source_note, p.experiment) for p in result.points} == {
            (Source.PUBLISHED, result.source, "precision")
        }
        assert all(p.rel_error is None and p.flops and p.median_s for p in result.points)


@pytest.mark.parametrize("inputs", Inputs, ids=str)
def test_the_default_is_one_that_can_be_ranked(inputs: Inputs) -> None:
    """Whatever was asked for: a machine without a GPU sees four formats of one."""
    result = default_published(PrecisionParams(inputs=inputs))
    assert result is not None
    device = find_precision_findings(result.points).headline
    assert device is not None
    assert plain(tell_answer(device)).replace(NBSP, " ") == (
        "A published NVIDIA GeForce RTX 4090 reaches 168 TFLOP/s in fp16, 3.05 × its fp32 at n = 10,240; press Run to "
        "measure here."
    )


@pytest.mark.parametrize("case", PRECISION)
def test_a_file_on_the_page_says_what_the_command_line_says(case: str) -> None:
    """The public series, through points and through frames, with the published verdict."""
    gpu = EXPECTED[case]["gpu"]
    path = CASES / f"{case}.csv"
    points = points_of_file(read_series_file("precision", path), FileOrigin(path.name, gpu))
    told = findings_json(find_precision_findings(points))
    analysed = to_json(analyse_file("precision", path, gpu).findings)
    for name, expected in EXPECTED[case]["expected"].items():
        if name == "best_tflops_by_dtype":
            assert told[name] == pytest.approx(expected, rel=0.01)
        else:
            assert told[name] == expected == analysed[name]


def test_rows_of_a_file_become_recorded_points() -> None:
    """Format, size, time and its interval, status and flags, and the file's name."""
    text = (
        "dtype,n,tflops,tflops_lo,tflops_hi,rel_error,status,reason,flags\n"
        "fp32,1024,10,9,11,3e-7,,,\n"
        "fp8_e5m2,1024,20,19,21,5e-2,,,under_load\n"
        "int8,1024,N/A,,,,unsupported,too old,\n"
    )
    points = points_of_file(read_series("precision", text.encode(), "mine.csv"), FileOrigin("mine.csv"))
    first, second, third = points
    assert (first.series, first.x, first.rel_error) == ("fp32", 1024.0, 3e-7)
    assert first.rate_flops == pytest.approx(10e12)
    assert (first.ci_low_s, first.ci_high_s) == (pytest.approx(2 * 1024**3 / 11e12), pytest.approx(2 * 1024**3 / 9e12))
    assert (first.source, first.source_note, first.device) == (Source.RECORDED, "mine.csv", "file:mine.csv")
    assert (second.series, second.is_hollow) == ("fp8_e5m2", True)
    assert (third.status, third.reason, third.median_s) == (Status.UNSUPPORTED, "too old", None)


def test_a_file_of_no_named_part_is_not_judged_as_a_gpu() -> None:
    """A decline of 40 % withholds a GPU's ranking, not that of who knows what."""
    text = "dtype,n,tflops\nfp32,1024,10\nfp32,2048,6\nbf16,1024,20\nbf16,2048,20\n"
    series = read_series("precision", text.encode(), "mine.csv")
    unnamed = find_precision_findings(points_of_file(series, FileOrigin("mine.csv")))
    named = find_precision_findings(points_of_file(series, FileOrigin("mine.csv", "NVIDIA A100-SXM4-80GB")))
    assert findings_json(unnamed)["withheld"] is False
    assert findings_json(named)["withheld"] is True
