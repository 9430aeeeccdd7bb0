"""Anybody's files: what is accepted with a note, what is refused and how it is told."""

import json
import pickle
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuexplain.errors import InputError
from gpuexplain.store.series_files import SeriesFile, read_series, read_series_file
from gpuexplain.store.series_table import LARGEST_FILE_BYTES, MOST_ROWS


def read(text: str | bytes, experiment: str = "matmul", name: str = "runs.csv") -> SeriesFile:
    """Return the measurements in ``text``."""
    return read_series(experiment, text.encode() if isinstance(text, str) else text, name)


def column(found: SeriesFile, name: str) -> list[float]:
    """Return one column of the frame."""
    return [float(cell) for cell in found.frame[name]]


def test_plain_csv_needs_no_note() -> None:
    """Nothing was changed, nothing is said."""
    found = read("n,tflops\n512,5.0\n1024,9.5\n")
    assert found.notes == ()
    assert (column(found, "n"), column(found, "tflops")) == ([512, 1024], [5.0, 9.5])
    assert list(found.frame["status"]) == ["ok", "ok"]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        pytest.param("\ufeffn,tflops\n512,5\n1024,9\n", "byte order mark ignored", id="BOM"),
        pytest.param("n,tflops\r\n512,5\r\n1024,9\r\n", "Windows line ends (CRLF) read as line ends", id="CRLF"),
        pytest.param("n,tflops\n1024,9\n512,5\n", "rows sorted by n", id="unsorted"),
        pytest.param(
            "n,tflops\n512,4\n1024,9\n512,5\n512,8\n",
            "n 512 given more than once: median taken",
            id="duplicates",
        ),
        pytest.param("n,gflops\n512,5000\n1024,9000\n", "gflops read as tflops (x 0.001)", id="gflops"),
    ],
)
def test_accepted_with_a_note(text: str, note: str) -> None:
    """The figures come out the same whatever was forgiven."""
    found = read(text)
    assert note in found.notes
    assert (column(found, "n"), column(found, "tflops")) == ([512, 1024], [5.0, 9.0])


@pytest.mark.parametrize(
    ("experiment", "header", "expected", "factor"),
    [
        ("transfer", "bytes,gibps", "gbps", 1.073741824),
        ("transfer", "bytes,mbps", "gbps", 1e-3),
        ("transfer", "bytes,microseconds", "seconds", 1e-6),
        ("matmul", "n,milliseconds", "seconds", 1e-3),
        ("batch", "batch,milliseconds", "seconds", 1e-3),
        ("matmul", " N , TFLOPS ", "tflops", 1.0),
    ],
)
def test_unit_columns_are_converted(experiment: str, header: str, expected: str, factor: float) -> None:
    """GiB are 2^30 bytes, MB 1e6; capitals and spaces in a header do not matter."""
    assert column(read(f"{header}\n512,5\n", experiment), expected) == [pytest.approx(5 * factor)]


def test_unit_columns_of_a_crossover_and_of_bounds() -> None:
    """Milliseconds beside microseconds, bounds too."""
    text = "n,cpu_milliseconds,gpu_microseconds,gpu_microseconds_lo\n64,1,5,4\n"
    found = read(text, "crossover")
    assert column(found, "cpu_seconds") == [1e-3]
    assert column(found, "gpu_seconds") == [pytest.approx(5e-6)]
    assert column(found, "gpu_seconds_lo") == [pytest.approx(4e-6)]


def test_batch_written_with_decimals_is_a_whole_number() -> None:
    """1024.0 is 1024, and said so."""
    found = read("batch,throughput\n512,5\n1024.0,6\n", "batch")
    assert column(found, "batch") == [512, 1024]
    assert found.notes == ("batch sizes written with decimals read as whole numbers",)


@pytest.mark.parametrize(
    ("cell", "status"),
    [
        ("OOM", "oom"), ("out of memory", "oom"), ("N/A", "unsupported"), ("n/a", "unsupported"),
        ("skipped", "skipped"), ("failed", "failed"), ("launch_limit", "launch_limit"),
    ],
)  # fmt: skip
def test_status_in_a_numeric_cell_makes_a_row_of_that_status(cell: str, status: str) -> None:
    """The number is missing, the row stays."""
    found = read(f"n,tflops\n512,5\n1024,9\n2048,{cell}\n")
    assert list(found.frame["status"]) == ["ok", "ok", status]
    assert pd.isna(found.frame["tflops"].iloc[2])
    assert found.notes == (f"1 row(s) of status {status} (first: row 4) left out",)


def test_status_column_excuses_an_empty_cell() -> None:
    """A row that failed has no figure."""
    found = read("n,tflops,status\n512,5,ok\n1024,,oom\n")
    assert list(found.frame["status"]) == ["ok", "oom"]


def test_one_point_is_accepted_and_said_to_be_too_few() -> None:
    """It is shown, nothing changes along it."""
    assert read("n,tflops\n512,5\n").notes == ("1 usable point(s): too few to see a change with n (too_few_points)",)


def test_duplicate_that_failed_or_was_throttled_does_not_enter_the_median() -> None:
    """The usable rows of a size speak for it."""
    found = read("n,tflops,flags\n512,4,\n512,100,throttled\n512,OOM,\n512,6,\n1024,9,\n")
    assert column(found, "tflops") == [5.0, 9.0]
    assert list(found.frame["status"]) == ["ok", "ok"]


def test_precision_sizes_are_merged_and_sorted_per_dtype() -> None:
    """The same n in two dtypes is no duplicate."""
    found = read("dtype,n,tflops\nfp32,64,1\nFP16,64,2\nfp32,32,3\nfp32,64,5\n", "precision")
    rows = found.frame[["dtype", "n", "tflops"]].to_numpy().tolist()
    assert rows == [["fp32", 32, 3], ["fp32", 64, 3], ["fp16", 64, 2]]


def test_blank_lines_do_not_count_as_rows() -> None:
    """But as lines."""
    with pytest.raises(InputError, match="row 5, column 'tflops'"):
        read("n,tflops\n\n512,5\n\n1024,x\n")


def test_row_is_the_line_where_a_quoted_record_starts() -> None:
    """A quoted line break inside an earlier reason shifts the numbers as an editor shows them."""
    with pytest.raises(InputError, match="row 4, column 'tflops'"):
        read('n,tflops,reason\n512,5,"two\nlines"\n1024,x,\n')


PLACES = [
    pytest.param("", ", row 1", "the file is empty", id="empty"),
    pytest.param(" \n\n", ", row 1", "the file is empty", id="blank"),
    pytest.param("n,tflops\n", ", row 2", "no rows under the header", id="header only"),
    pytest.param("n,tflops,colour\n1,2,3\n", ", row 1, column 'colour'", "unknown column", id="unknown column"),
    pytest.param("n\n1\n", ", row 1, column 'tflops or seconds'", "missing column", id="no figure"),
    pytest.param("tflops\n1\n", ", row 1, column 'n'", "missing column", id="no size"),
    pytest.param("n,n,tflops\n1,1,2\n", ", row 1, column 'n'", "named twice", id="column twice"),
    pytest.param(
        "n,tflops,gflops\n1,2,3\n",
        ", row 1, column 'gflops'",
        "second column for tflops",
        id="two units of one figure",
    ),
    pytest.param("n,tflops\n512,5\n1024,fast\n", ", row 3, column 'tflops'", "'fast'", id="text"),
    pytest.param("n,tflops\nbig,5\n", ", row 2, column 'n'", "'big'", id="text as size"),
    pytest.param("n,tflops\nOOM,5\n", ", row 2, column 'n'", "'OOM'", id="status as size"),
    pytest.param("n,tflops\n512,NaN\n", ", row 2, column 'tflops'", "'NaN'", id="NaN"),
    pytest.param("n,tflops\n512,-inf\n", ", row 2, column 'tflops'", "'-inf'", id="inf"),
    pytest.param("n,tflops\n512,Infinity\n", ", row 2, column 'tflops'", "'Infinity'", id="Infinity"),
    pytest.param("n,tflops\n512,1e999\n", ", row 2, column 'tflops'", "out of range", id="overflow"),
    pytest.param("n,tflops\n512,1e-999\n", ", row 2, column 'tflops'", "above zero", id="underflow"),
    pytest.param("n,seconds\n512,0\n", ", row 2, column 'seconds'", "above zero", id="zero"),
    pytest.param("n,seconds\n512,-1\n", ", row 2, column 'seconds'", "above zero", id="negative"),
    pytest.param("n,tflops\n0,1\n", ", row 2, column 'n'", "above zero", id="size zero"),
    pytest.param("n,tflops\n512,\n", ", row 2, column 'tflops'", "empty", id="empty cell"),
    pytest.param('n,tflops\n"1,024",5\n', ", row 2, column 'n'", "no thousands", id="thousands comma"),
    pytest.param("n,tflops\n1 024,5\n", ", row 2, column 'n'", "no thousands", id="thousands space"),
    pytest.param("n,tflops\n1_024,5\n", ", row 2, column 'n'", "not a plain number", id="underscore"),
    pytest.param("n,tflops\n1.024.000,5\n", ", row 2, column 'n'", "no thousands", id="thousands points"),
    pytest.param('n,tflops\n512,"5,3"\n', ", row 2, column 'tflops'", "no decimal comma", id="decimal comma"),
    pytest.param("n,tflops\n512,5,3\n", ", row 2, column 'tflops'", "decimal comma", id="bare decimal comma"),
    pytest.param("n;tflops\n512;5,3\n", ", row 1, column 'n;tflops'", "separator", id="semicolons"),
    pytest.param("n,tflops\n512\n", ", row 2, column 'tflops'", "1 cells", id="short row"),
    pytest.param("n,tflops\n٥,1\n", ", row 2, column 'n'", "not a plain number", id="other digits"),
    pytest.param('n,tflops\n512,"5\n', ", row 2", "malformed CSV", id="open quote"),
    pytest.param("n,tflops,status\n512,5,fine\n", ", row 2, column 'status'", "'fine'", id="unknown status"),
    pytest.param("n,tflops,flags\n512,5,odd\n", ", row 2, column 'flags'", "'odd'", id="unknown flag"),
    pytest.param("n,tflops,tflops_lo\n512,5,6\n", ", row 2, column 'tflops_lo'", "wrong side", id="bound above figure"),
    pytest.param("n,tflops,tflops_hi\n512,5,4\n", ", row 2, column 'tflops_hi'", "wrong side", id="bound below figure"),
    pytest.param("n,tflops,seconds_lo\n512,5,4\n", ", row 1, column 'seconds_lo'", "is missing", id="bound of nothing"),
]


@pytest.mark.parametrize(("text", "place", "problem"), PLACES)
def test_refused_with_file_row_and_column(text: str, place: str, problem: str) -> None:
    """The error names the place as an editor shows it, the problem and a remedy."""
    with pytest.raises(InputError) as caught:
        read(text)
    told = str(caught.value)
    assert told.startswith(f"Cannot read runs.csv{place}: ")
    assert problem in told
    assert told.endswith(".")


def test_batch_must_be_whole() -> None:
    """Half a sample cannot be tested."""
    with pytest.raises(InputError, match=r"row 2, column 'batch': '1\.5' is no whole number"):
        read("batch,throughput\n1.5,3\n", "batch")


def test_unknown_dtype_is_refused() -> None:
    """The text lists the known ones."""
    with pytest.raises(InputError, match=r"row 2, column 'dtype': unknown dtype 'half'\. Write one of fp64"):
        read("dtype,n,tflops\nhalf,64,1\n", "precision")


def test_unknown_experiment_is_refused() -> None:
    """The text lists the known ones."""
    with pytest.raises(InputError, match="Choose one of matmul, precision, batch, transfer, crossover"):
        read("n,tflops\n1,2\n", "gaming")


class _Bomb:
    """Unpickling this would fail the test."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (pytest.fail, ("the file was unpickled",))


@pytest.mark.parametrize("name", ["runs.csv", "runs.json", "runs.pkl"])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused_under_any_name(name: str, protocol: int) -> None:
    """By content, and never opened."""
    with pytest.raises(InputError, match=f"Cannot read {name}"):
        read(pickle.dumps(_Bomb(), protocol=protocol), name=name)


@pytest.mark.parametrize(
    "content",
    [
        b"PAR1\x00\x01",
        b"PK\x03\x04",
        b"n,tflops\n1,\xff\n",
        "n,tflops\n1,2\n".encode("utf-16"),
        b"\x1f\x8b\x08",
    ],
    ids=["parquet", "zip", "latin", "utf-16", "gzip"],
)
def test_binary_content_is_refused(content: bytes) -> None:
    """With the row where it shows."""
    with pytest.raises(InputError, match=r"Cannot read runs\.csv, row \d: .*Export it as CSV or JSON text"):
        read(content)


def test_over_10_mb_is_refused(tmp_path: Path) -> None:
    """Before it is read."""
    path = tmp_path / "big.csv"
    path.write_bytes(b"n,tflops\n" + b"1,2\n" * (LARGEST_FILE_BYTES // 4))
    with pytest.raises(InputError, match=r"big\.csv: 10\.0 MB are too many, the limit is 10 MB"):
        read_series_file("matmul", path)
    with pytest.raises(InputError, match="the limit is 10 MB"):
        read(path.read_bytes())


@pytest.mark.parametrize("extra", [0, 1])
def test_100_000_rows_are_the_limit(extra: int) -> None:
    """One more is refused, at its row."""
    text = "n,tflops\n" + "".join(f"{n},1\n" for n in range(1, MOST_ROWS + extra + 1))
    if extra:
        with pytest.raises(InputError, match="row 100002: more than 100,000 rows"):
            read(text)
    else:
        assert len(read(text).frame) == MOST_ROWS


def test_missing_file_and_folder_are_told(tmp_path: Path) -> None:
    """With what to give instead."""
    with pytest.raises(InputError, match=r"none\.csv: No such file.*Give the path of a CSV or JSON file"):
        read_series_file("matmul", tmp_path / "none.csv")
    with pytest.raises(InputError, match="Is a directory"):
        read_series_file("matmul", tmp_path)


@pytest.mark.parametrize(
    "document",
    [
        [{"n": 512, "tflops": 5}, {"n": 1024, "tflops": "9.5"}],
        {"n": [512, 1024], "tflops": [5, 9.5]},
    ],
    ids=["rows", "columns"],
)
def test_json_rows_and_columns(document: object) -> None:
    """Both shapes read like the CSV."""
    found = read(json.dumps(document), name="runs.json")
    assert (column(found, "n"), column(found, "tflops")) == ([512, 1024], [5.0, 9.5])


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        pytest.param('[{"n": 1, "tflops": NaN}]', ", row 1, column 'tflops'", "'NaN'", id="NaN"),
        pytest.param('[{"n": 1, "tflops": 1e999}]', ", row 1, column 'tflops'", "out of range", id="overflow"),
        pytest.param('[{"n": 1, "tflops": true}]', ", row 1, column 'tflops'", "'true'", id="true"),
        pytest.param('[{"n": 1, "tflops": null}]', ", row 1, column 'tflops'", "empty", id="null"),
        pytest.param('[{"n": 1, "tflops": [2]}]', ", row 1, column 'tflops'", "not a plain", id="nested"),
        pytest.param('[{"n": 1, "tflops": 2}, {"n": 2}]', ", row 2, column 'tflops'", "empty", id="hole"),
        pytest.param('[{"n": 1, "n": 2}]', ", row 1, column 'n'", "named twice", id="key twice"),
        pytest.param('{"n": [1, 2], "tflops": [1]}', ", row 2, column 'tflops'", "length", id="lengths"),
        pytest.param('{"n": 1, "tflops": 2}', ", row 1, column 'n'", "not a list", id="scalars"),
        pytest.param("[1, 2]", ", row 1", "must be an object", id="numbers"),
        pytest.param('[{"n": 1},\n{"n" 2}]', ", row 2", "malformed JSON", id="malformed"),
        pytest.param("[" * 100_000, ", row 1", "nested too deeply", id="deep"),
        pytest.param("[]", ", row 1, column 'n'", "missing column", id="nothing"),
    ],
)
def test_bad_json_is_refused(text: str, place: str, problem: str) -> None:
    """Row is the object's place in the list, or the line of a mistake in the syntax."""
    with pytest.raises(InputError) as caught:
        read(text, name="runs.json")
    assert str(caught.value).startswith(f"Cannot read runs.json{place}: ")
    assert problem in str(caught.value)


def exported(series: str, x: float, median_s: float | None, **more: object) -> dict[str, object]:
    """Return one exported point, with the columns nobody analyses."""
    point = {"experiment": "matmul", "series": series, "x": x, "median_s": median_s, "ci_low_s": None}
    return {**point, "ci_high_s": None, "status": "ok", "flags": [], "dtype": "fp32", "timing": "x", **more}


def test_export_of_one_series_is_read() -> None:
    """Sizes, times, flags and status come along."""
    points = [
        exported("cpu", 64, 1e-3, ci_low_s=0.9e-3, ci_high_s=1.1e-3),
        exported("cpu", 128, 2e-3, flags=["throttled", "few_samples"]),
        exported("cpu", 256, None, status="oom"),
        {**exported("h2d", 1, 1.0), "experiment": "transfer"},
    ]
    found = read(json.dumps({"points": points}), name="run.json")
    assert column(found, "n") == [64, 128, 256]
    assert column(found, "seconds")[:2] == [1e-3, 2e-3]
    assert list(found.frame["flags"]) == ["", "throttled few_samples", ""]
    assert list(found.frame["status"]) == ["ok", "ok", "oom"]


def test_export_of_several_series_takes_the_device_time_and_says_so() -> None:
    """GPU before CPU."""
    points = [exported("cpu", 64, 1.0), exported("gpu_call", 64, 0.5), exported("gpu_device", 64, 0.1)]
    found = read(json.dumps({"points": points}))
    assert column(found, "seconds") == [0.1]
    assert "series gpu_device taken, of cpu, gpu_call, gpu_device" in found.notes


def test_export_gives_a_crossover() -> None:
    """CPU against GPU at the sizes both ran, copies included where measured."""
    points = [exported("cpu", n, 1.0) for n in (64, 128, 256)]
    points += [exported("gpu_call", n, 0.5, ci_low_s=0.4, ci_high_s=0.6) for n in (64, 128)]
    points += [exported("gpu_with_transfer", 128, 0.7)]
    found = read(json.dumps({"points": points}), "crossover")
    assert column(found, "n") == [64, 128]
    assert column(found, "gpu_seconds_hi") == [0.6, 0.6]
    assert column(found, "gpu_with_transfer_seconds")[1] == 0.7


def test_a_crossover_of_an_export_is_as_disturbed_as_its_worse_side() -> None:
    """Each flag once."""
    points = [exported("cpu", 64, 1.0, flags=["under_load", "few_samples"]), exported("cpu", 128, 1.0)]
    points += [exported("gpu_call", n, 0.5, flags=["few_samples"]) for n in (64, 128)]
    found = read(json.dumps({"points": points}), "crossover")
    assert list(found.frame["flags"]) == ["under_load few_samples", "few_samples"]


@pytest.mark.parametrize(
    ("flags", "note"),
    [
        ("under_load", "all points were taken under load: provisional"),
        ("under_load drifting", "all points were taken under load or while drifting: provisional"),
        ("throttled few_samples", "all points were taken throttled: provisional"),
    ],
)
def test_a_file_without_a_quiet_point_is_provisional(flags: str, note: str) -> None:
    """Better an answer that says so than none; the flags stay in the frame."""
    found = read(f"n,seconds,flags\n64,1,{flags}\n128,2,{flags}\n")
    assert found.notes == (note,)
    assert list(found.frame["flags"]) == [flags, flags]


def test_one_quiet_point_is_enough_to_conclude_from() -> None:
    """A disturbed one never stands beside it."""
    found = read("n,seconds,flags\n64,1,under_load\n128,2,\n")
    assert found.notes == ("1 usable point(s): too few to see a change with n (too_few_points)",)


def test_a_number_format_without_a_quiet_point_is_named() -> None:
    """Each format is a series of its own."""
    found = read("dtype,n,seconds,flags\nfp32,64,1,\nfp32,128,2,\nbf16,64,1,under_load\n", "precision")
    assert found.notes == ("all points of bf16 were taken under load: provisional",)


@pytest.mark.parametrize(
    ("experiment", "points", "problem"),
    [
        ("batch", [exported("cpu", 1, 1.0)], r"no points of 'batch' \(have matmul\)"),
        ("crossover", [exported("cpu", 1, 1.0)], r"no series for gpu_seconds \(have cpu\)"),
        ("matmul", [exported("a", 1, 1.0), exported("b", 1, 1.0)], r"several series \(a, b\)"),
    ],
)
def test_export_without_an_answer_is_refused(experiment: str, points: list[object], problem: str) -> None:
    """With what it holds."""
    with pytest.raises(InputError, match=problem):
        read(json.dumps({"points": points}), experiment)


@given(st.dictionaries(st.integers(1, 10**6), st.floats(1e-12, 1e6), min_size=1, max_size=20))
def test_what_was_written_is_read_back(points: dict[int, float]) -> None:
    """Every positive number survives, in any order."""
    text = "n,seconds\n" + "".join(f"{n},{t!r}\n" for n, t in points.items())
    found = read(text)
    assert column(found, "n") == sorted(points)
    assert column(found, "seconds") == [points[n] for n in sorted(points)]


@given(st.binary(max_size=200))
def test_no_content_brings_down_the_reader(content: bytes) -> None:
    """Anything is either read or refused with an InputError."""
    try:
        read(content)
    except InputError as error:
        assert str(error).startswith("Cannot read runs.csv")  # noqa: PT017 - either outcome is right


@given(st.text(alphabet='n,tflops\n\r"0123456789.eE+-;[]{}: naif', max_size=80))
def test_no_text_brings_down_the_reader(text: str) -> None:
    """Nearly valid files, too."""
    for body in (text, "n,tflops\n" + text, "[" + text, '{"points": [' + text):
        try:
            read(body)
        except InputError as error:
            assert str(error).startswith("Cannot read runs.csv")  # noqa: PT017 - either outcome is right
