"""Anybody's numbers on a page: what is read, what is said, what is drawn, and that nothing foreign is obeyed."""

import json
import math
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest
from ui_fakes import FakeRunner, html_of, make_machine, make_points

from gpuexplain.analyse import analyse_file
from gpuexplain.charts.literal import literal
from gpuexplain.engine.jobs import JobState
from gpuexplain.errors import InputError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.experiments.matmul.spec import MatmulParams
from gpuexplain.findings import to_json
from gpuexplain.model import Dtype, Point, Source
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.settings import Settings
from gpuexplain.store.exports import export_csv, export_json
from gpuexplain.store.run import RunState, StoredRun
from gpuexplain.store.series_columns import SERIES_COLUMNS
from gpuexplain.ui import upload_box, upload_files
from gpuexplain.ui.figures import SHARED
from gpuexplain.ui.upload_box import say_reference
from gpuexplain.ui.upload_files import make_dropped
from gpuexplain.ui.upload_names import LABEL_CHARACTERS, file_label, plain_label
from gpuexplain.ui.upload_read import MOST_SIZES, points_of, read_content, thin

Open = Callable[..., AppTest]
CASES = Path(__file__).parents[1] / "cases"
EXPECTED: dict[str, dict[str, Any]] = json.loads((CASES / "expected.json").read_text())
MATMUL = EXPERIMENTS["matmul"]
MINE = b"n,tflops\n64,1\n128,2\n256,4\n"
HOSTILE = "<img src=x onerror=alert(1)>$\\int$*[[gpu:x]]`y`.csv"
PEAK_FIELDS = {"fraction_of_peak", "plausibility", "peak_tflops", "peak_source", "matched_gpu", "ran_as"}
READING = [experiment for experiment in EXPERIMENTS.values() if experiment.points_of_file]


def answered(experiment: Experiment, content: bytes, name: str, gpu: str = "", dtype: Dtype | None = None) -> Any:
    """Return what the page makes of a file."""
    return make_dropped(experiment, read_content(experiment, content, name), gpu, dtype)


def drop(at: AppTest, content: bytes = MINE, name: str = "mine.csv") -> AppTest:
    """Drop a file into the zone that is empty now."""
    at.file_uploader[0].upload(name, content, "text/csv")
    return at.run()


def text_of(at: AppTest) -> str:
    """Return all text of the page, without the numbers that its definitions get anew each time."""
    return re.sub(r"gx-term-\d+", "gx-term", html_of(at))


def figure(at: AppTest, number: int = 0) -> dict[str, Any]:
    """Return a figure of the page as JSON."""
    return json.loads(at.get("plotly_chart")[number].proto.spec)


def names_of(at: AppTest) -> list[str]:
    """Return what is written on the main chart, without bold."""
    texts = [words["text"] for words in figure(at)["layout"]["annotations"]]
    return [text.replace("<b>", "").replace("</b>", "") for text in texts]


def make_run(points: list[Point], experiment: str = "matmul") -> StoredRun:
    """Return a run of another machine."""
    machine = make_machine().model_dump(mode="json")
    machine["platform"] |= {"hostname": "far-away", "machine_id": "m2"}
    return StoredRun(
        id="20260102-150405-ab12", experiment=experiment, measuring_version=1, key="k",
        params=MatmulParams().model_dump(mode="json"), machine=machine, device="cpu",
        state=RunState.DONE, created_at=1.0, n_points=len(points), points=tuple(points),
    )  # fmt: skip


# -- the same findings as on the command line ----------------------------------------------------


def agrees(found: Any, wanted: Any) -> bool:
    """Whether two findings are the same but for the last digits of their numbers."""
    if isinstance(wanted, dict):
        return set(found) == set(wanted) and all(agrees(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, float) and isinstance(found, float):
        return math.isclose(found, wanted, rel_tol=1e-9)
    return bool(found == wanted)


PAGES_CASES = [case for case, entry in EXPECTED.items() if entry["experiment"] in {lab.id for lab in READING}]


@pytest.mark.parametrize("case", PAGES_CASES)
def test_a_page_finds_what_analyse_finds(case: str) -> None:
    """Every finding of every public series, by name."""
    entry = EXPECTED[case]
    experiment, path = EXPERIMENTS[entry["experiment"]], CASES / f"{case}.csv"
    wanted = to_json(analyse_file(experiment.id, path, entry["gpu"] or None, Dtype.FP32).findings)
    found = answered(experiment, path.read_bytes(), path.name, entry["gpu"], Dtype.FP32).findings
    # Where no part is named, the command line judges no peak and a page says that it knows none.
    names = set(wanted) - (PEAK_FIELDS if not entry["gpu"] else set())
    assert set(entry["expected"]) <= names
    assert {name for name in names if not agrees(found[name], wanted[name])} == set()


def test_every_page_that_reads_files_has_cases() -> None:
    """A page that joins is held to the same rules."""
    assert {lab.id for lab in READING} <= {entry["experiment"] for entry in EXPECTED.values()}
    assert {lab.id for lab in READING} == set(SERIES_COLUMNS) & set(EXPERIMENTS)


# -- what is read -------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [export_json, export_csv], ids=["json", "csv"])
def test_an_export_of_ours_keeps_all_its_series(write: Callable[[StoredRun], str]) -> None:
    """Not only the one that a file of strangers would be taken for."""
    run = make_run(make_points(64, 128))
    content = read_content(MATMUL, write(run).encode(), "theirs")
    points = points_of(MATMUL, content, "", None)
    assert {(p.series, p.x) for p in points} == {(p.series, p.x) for p in run.points}
    assert {p.source for p in points} == {Source.RECORDED}
    assert {p.device_name for p in points} == {"Test CPU"}
    medians = {(p.series, p.x): (p.median_s, p.ci_low_s, p.flops) for p in points}
    assert medians == {(p.series, p.x): (p.median_s, p.ci_low_s, p.flops) for p in run.points}


def test_an_export_names_its_machine_where_it_can() -> None:
    """JSON holds the machine; CSV does not."""
    run = make_run(make_points(64))
    notes = [
        points_of(MATMUL, read_content(MATMUL, text.encode(), "theirs"), "", None)[0].source_note
        for text in (export_json(run), export_csv(run))
    ]
    assert notes == ["theirs, measured on far-away", "theirs"]


def test_what_show_prints_is_an_export_too() -> None:
    """`show ID --json` and `run --json` hold points without samples."""
    points = [p.model_dump(mode="json", exclude={"samples_s", "calls_per_sample"}) for p in make_points(64)]
    content = read_content(MATMUL, json.dumps({"id": "x", "points": points}).encode(), "shown.json")
    assert [p.series for p in points_of(MATMUL, content, "", None)] == ["cpu", "cpu_1_thread"]


BAD_EXPORTS = {
    "another experiment": (
        lambda run: export_json(run.model_copy(update={"points": run.points[:1]})).replace('"matmul"', '"transfer"'),
        "Cannot read bad: it holds points of transfer. Another page exported it: drop it on the page 'Transfer'.",
    ),
    "no point": (
        lambda run: export_json(run.model_copy(update={"points": ()})),
        "Cannot read bad: it holds no points. Export a run that has some.",
    ),
    "a negative time": (
        lambda run: re.sub(r'"median_s": [0-9.e-]+', '"median_s": -1', export_json(run), count=1),
        "Cannot read bad, row 1, column 'median_s': -1.0 cannot have been measured. Export the run again.",
    ),
    "an endless time": (
        lambda run: re.sub(r'"median_s": [0-9.e-]+', '"median_s": "Infinity"', export_json(run), count=1),
        "Cannot read bad, row 1, column 'median_s': inf cannot have been measured. Export the run again.",
    ),
    "a cell of a CSV": (
        lambda run: export_csv(run).replace(",fp32,", ",fp7,", 1),
        "Cannot read bad, row 2, column 'dtype': input should be 'fp64', ",
    ),
    "a series of nobody's": (
        lambda run: export_json(run).replace('"cpu_1_thread"', '"evil"').replace('"series": "cpu"', '"series": "odd"'),
        "Cannot use bad: this page knows none of its series (evil, odd).",
    ),
    "too many series": (
        lambda run: export_json(
            run.model_copy(update={"points": tuple(run.points[0].model_copy(update={"series": f"s{i}"}) for i in range(99))})
        ),
        "Cannot read bad: 99 points in 99 series; a run has at most 5,000 points in 60 series.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "message"), BAD_EXPORTS.values(), ids=list(BAD_EXPORTS))
def test_a_spoilt_export_is_refused_with_its_place(spoil: Callable[[StoredRun], str], message: str) -> None:
    """File, row and column, or what it is about."""
    with pytest.raises(InputError) as raised:
        answered(MATMUL, spoil(make_run(make_points(64, 128))).encode(), "bad")
    assert str(raised.value).startswith(message)


WRONG_PAGES = {
    "batch on matmul": (
        "matmul", b"batch,throughput\n1,2\n",
        "Cannot read x.csv, row 1, column 'batch': unknown column. Remove or rename it: matmul reads n, tflops or seconds; ",
        "Its columns look like those of batch: drop it on the page 'Batch size'.",
    ),
    "formats on matmul": (
        "matmul", b"dtype,n,tflops\nfp32,64,1\n", "Cannot read x.csv, row 1, column 'dtype': unknown column. ",
        "Its columns look like those of precision: drop it on the page 'Precision'.",
    ),
    "copies on batch": (
        "batch", b"bytes,gbps\n1024,1\n", "Cannot read x.csv, row 1, column 'bytes': unknown column. ",
        "Its columns look like those of transfer: drop it on the page 'Transfer'.",
    ),
    "a comparison": (
        "matmul", b"n,cpu_seconds,gpu_seconds\n64,1,2\n", "Cannot read x.csv, row 1, column 'cpu_seconds': unknown ",
        "Its columns look like those of crossover: the command `analyse crossover` reads it.",
    ),
    "of nobody": ("matmul", b"what,ever\n1,2\n", "Cannot read x.csv, row 1, column 'what': unknown column. ", "flags."),
    "a bad cell of its own": (
        "matmul", b'n,tflops\n64,1\n128,"1,5"\n', "Cannot read x.csv, row 3, column 'tflops': '1,5' is not a plain number. ",
        "no decimal comma.",
    ),
    "a page that reads exports only": (
        "stopwatch", b"n,tflops\n64,1\n",
        "Cannot read x.csv: this page reads only what it exported itself, as JSON or CSV.",
        "Its columns look like those of matmul: drop it on the page 'Matrix multiply'.",
    ),
    "a pickle": ("matmul", b"\x80\x04\x95n,tflops", "Cannot read x.csv, row 1: binary content (byte 0x04). ", "opened."),
    "too large": ("matmul", b"n,tflops\n" + b" " * 10_000_000, "Cannot read x.csv: 10.0 MB are too many", "."),
    "too large for an export": (
        "matmul", b'{"format": "gpuexplain-run"' + b" " * 10_000_000, "Cannot read x.csv: 10.0 MB are too many", "points.",
    ),
    "nested without end": ("matmul", b"[" * 100_000, "Cannot read x.csv, row 1: ", "."),
}  # fmt: skip


@pytest.mark.parametrize(("experiment_id", "content", "start", "end"), WRONG_PAGES.values(), ids=list(WRONG_PAGES))
def test_a_file_that_cannot_be_used_says_where_and_whither(
    experiment_id: str, content: bytes, start: str, end: str
) -> None:
    """The reader's error, and the page that the file seems made for."""
    with pytest.raises(InputError) as raised:
        answered(EXPERIMENTS[experiment_id], content, "x.csv")
    assert str(raised.value).startswith(start)
    assert str(raised.value).endswith(end)


def test_nvbandwidth_is_read_on_its_page_and_recognised_elsewhere() -> None:
    """One size, no curve; the note says so."""
    test = {"name": "host_to_device_memcpy_ce", "status": "Passed", "bandwidth_matrix": [["25.5"]]}
    content = json.dumps({"nvbandwidth": {"testcases": [test]}}).encode()
    dropped = answered(EXPERIMENTS["transfer"], content, "nv.json")
    assert dropped.points[0].rate_bytes == pytest.approx(25.5e9)
    assert any("one size shows no curve" in note for note in dropped.content.notes)
    with pytest.raises(InputError, match="It is what nvbandwidth prints: drop it on the page 'Transfer'"):
        answered(MATMUL, content, "nv.json")


@settings(deadline=None)
@given(st.binary(max_size=200), st.sampled_from(READING))
def test_no_content_brings_a_page_down(content: bytes, experiment: Experiment) -> None:
    """It is either read or refused."""
    try:
        answered(experiment, content, "any")
    except InputError as error:
        assert "any" in str(error)  # noqa: PT017 - either outcome is right


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(["x", "median_s", "flops", "ci_low_s", "series", "device", "dtype"]),
        st.one_of(st.floats(), st.text(max_size=5), st.none(), st.just([]), st.integers(-5, 10**30)),
        max_size=3,
    )
)
def test_no_export_brings_a_page_down(changes: dict[str, Any]) -> None:
    """Whatever stands in a point."""
    document = json.loads(export_json(make_run(make_points(64, 128))))
    document["points"][0] |= changes
    try:
        answered(MATMUL, json.dumps(document).encode(), "any")
    except InputError as error:
        assert "any" in str(error)  # noqa: PT017 - either outcome is right


def test_of_very_many_sizes_an_even_part_is_taken_and_said() -> None:
    """A page that draws them all would be none."""
    n_sizes = 3 * MOST_SIZES
    content = b"n,tflops\n" + b"".join(b"%d,1\n" % n for n in range(1, n_sizes + 1))
    dropped = answered(MATMUL, content, "many.csv")
    assert len(dropped.points) == MOST_SIZES
    assert (dropped.points[0].x, dropped.points[-1].x) == (1, n_sizes)
    assert "3,000 sizes: 1,000 of them taken, evenly spread; `analyse` takes all" in dropped.content.notes


def test_each_series_of_an_export_is_thinned_by_itself() -> None:
    """The first and the last size stay."""
    points = make_points(*range(16, 66))
    kept = thin(points, most=5)
    assert [p.x for p in kept if p.series == "cpu"] == [16, 28, 40, 53, 65]
    assert len(kept) == 10


# -- names --------------------------------------------------------------------------------------


def test_a_label_has_one_line_without_marks_or_invisible_characters() -> None:
    """Look-alikes stand in for what our own sentences read as marks."""
    assert plain_label("a[b]*c*`d`") == "a(b)∗c∗ʼdʼ"
    assert plain_label("a\x00b\n\u202ecsv.exe\u200b") == "a b csv.exe"
    assert plain_label("<i>$x$</i>") == "<i>$x$</i>"


def test_a_long_name_keeps_its_beginning_and_its_end() -> None:
    """So that the extension and a number before it tell files apart."""
    label = file_label("a" * 293 + "_17.csv")
    assert (len(label), label[-12:], label[:3]) == (LABEL_CHARACTERS, "aaaaa_17.csv", "aaa")


def test_files_of_one_name_are_numbered() -> None:
    """The first has none."""
    assert file_label("mine.csv") == "mine.csv"
    assert file_label("mine.csv", ["mine.csv", "mine.csv (2)"]) == "mine.csv (3)"
    assert file_label("\x00") == "unnamed file"


# -- the page -----------------------------------------------------------------------------------


def test_a_file_is_drawn_badged_and_answers_for_itself(open_page: Open, keep_run: Callable[..., str]) -> None:
    """Its own box, its own answer, its line as a ghost named by it; the page's answer stays this machine's."""
    keep_run(MatmulParams(), make_points(64, 128, 256))
    at = drop(open_page("matmul"))
    assert not at.exception
    text = html_of(at)
    assert ":violet-badge[beside it: mine.csv]" in text
    assert "**mine.csv:** A recorded :blue[mine.csv], not in this machine, reaches 4.00\xa0TFLOP/s" in text
    assert "press Run to measure here" not in text
    assert "On this machine" in text
    ghosts = [trace for trace in figure(at)["data"] if trace["line"].get("dash") == "dot"]
    assert [trace["name"] for trace in ghosts] == ["GPU"]
    assert "mine.csv" in names_of(at)


def test_the_words_compare_with_the_file(open_page: Open, keep_run: Callable[..., str]) -> None:
    """Where the findings allow it: one device measured here, the same number format."""
    keep_run(MatmulParams(), make_points(64, 128, 256))
    at = drop(open_page("matmul"))
    assert "Compared with a recorded" in html_of(at)
    at.selectbox(key=_key(at, "-dtype")).set_value("bf16").run()
    assert "Compared with a recorded" not in html_of(at)


def _key(at: AppTest, end: str) -> str:
    """Return the key of the widget of the only file that ends so."""
    found = [widget.key for kind in (at.selectbox, at.button) for widget in kind if (widget.key or "").endswith(end)]
    assert len(found) == 1, found
    return str(found[0])


def test_a_named_part_is_judged_by_its_peak(open_page: Open) -> None:
    """As with --gpu and --dtype on the command line."""
    content = b"n,tflops\n1024,20\n2048,40\n"
    at = drop(open_page("matmul"), content)
    assert "reference peak" not in html_of(at)
    at.selectbox(key=_key(at, "-gpu")).set_value("NVIDIA GeForce RTX 4090").run()
    assert "The best is 48.4\xa0% of the reference peak of NVIDIA GeForce RTX 4090, 82.6 TFLOP/s." in html_of(at)
    at.selectbox(key=_key(at, "-gpu")).set_value("NVIDIA GeForce RTX 3060").run()
    assert "withheld" in html_of(at)


def test_a_part_that_the_table_lacks_is_not_judged(open_page: Open) -> None:
    """Nothing is guessed."""
    dropped = answered(MATMUL, MINE, "mine.csv", "Mystery 9000", Dtype.FP32)
    assert say_reference(dropped) == (
        "Mystery 9000 is not in the reference table: whether the numbers can be is not judged."
    )
    assert say_reference(answered(MATMUL, MINE, "mine.csv", "", Dtype.FP32)) == ""


def test_notes_of_the_reading_are_shown(open_page: Open) -> None:
    """Units, duplicates, order: nothing is done silently."""
    at = drop(open_page("matmul"), b"n,gflops\n128,2000\n64,1000\n64,1100\n")
    text = html_of(at)
    for note in ("gflops read as tflops (x 0.001)", "rows sorted by n", "n 64 given more than once: median taken"):
        assert f"Note: {note}." in text


def test_a_bad_file_changes_nothing_else(open_page: Open, keep_run: Callable[..., str]) -> None:
    """The reader's error where it happened; charts, words and earlier files stay."""
    keep_run(MatmulParams(), make_points(64, 128, 256))
    at = drop(open_page("matmul"))
    before = (text_of(at), figure(at), figure(at, 1))
    at = drop(at, b'n,tflops\n64,"1,5"\n', "bad.csv")
    assert [error.value for error in at.error] == [
        r"Cannot read bad.csv, row 2, column 'tflops': '1,5' is not a plain number. "
        r"Write 1024.5: no thousands separators, no decimal comma."
    ]
    assert (text_of(at), figure(at), figure(at, 1)) == before
    at = drop(at, MINE.replace(b"4", b"5"), "good.csv")
    assert not at.error


def test_a_file_can_be_removed(open_page: Open, keep_run: Callable[..., str]) -> None:
    """Then the page is as it was."""
    keep_run(MatmulParams(), make_points(64, 128, 256))
    at = open_page("matmul")
    before = (text_of(at), figure(at))
    at = drop(at)
    at.button(key=_key(at, "-remove")).click().run()
    assert (text_of(at), figure(at)) == before


def test_the_same_file_again_replaces_itself_and_another_of_its_name_does_not(open_page: Open) -> None:
    """At most four at a time."""
    at = drop(drop(open_page("matmul")))
    assert html_of(at).count("**mine.csv:**") == 1
    for speed in (b"5", b"6", b"7"):
        at = drop(at, MINE.replace(b"4\n", speed + b"\n"))
    assert "**mine.csv (2):**" in html_of(at)
    assert not at.error
    at = drop(at, MINE.replace(b"4\n", b"8\n"))
    assert [error.value for error in at.error] == ["4 files are on this page: remove one first."]


def test_a_file_stays_through_reruns_pages_and_a_running_job(open_page: Open, runner: FakeRunner) -> None:
    """It belongs to the session, not to a run of the script."""
    at = drop(open_page("matmul"))
    at.run()
    at.button(key="run").click().run()
    runner.change("run-1", points=tuple(make_points(64, 128, 256)))
    at.run()
    assert "measuring here, now" in html_of(at)
    assert "mine.csv" in names_of(at)
    runner.change("run-1", state=JobState.DONE, finished_at=time.time())
    at.switch_page("../../pages/method.py").run()
    at.switch_page("../../pages/matmul.py").run()
    assert "**mine.csv:**" in html_of(at)


def test_a_file_is_of_one_page_and_one_session(open_page: Open) -> None:
    """Two tabs do not see each other's, nor does another page; nothing of it is in the shared cache."""
    at = drop(open_page("matmul"))
    assert "mine.csv" not in html_of(open_page("matmul"))
    assert not [key for key in SHARED._drawings if "mine.csv" in repr(key)]
    at.switch_page("../../pages/transfer.py").run()
    assert "mine.csv" not in html_of(at)


def test_two_sessions_with_files_of_one_name_see_their_own(open_page: Open) -> None:
    """A drawing is not shared by name."""
    first, second = drop(open_page("matmul")), drop(open_page("matmul"), MINE.replace(b"4\n", b"9\n"))
    assert figure(first)["data"] != figure(second)["data"]


def test_a_read_only_installation_reads_files(open_page: Open, runner: FakeRunner) -> None:
    """It measures nothing, and analyses everything."""
    runner.read_only = True
    at = drop(open_page("matmul"))
    assert "**mine.csv:**" in html_of(at)


@pytest.mark.parametrize("name", [HOSTILE, "a" * 300 + ".csv", "\u202e\n\x07.csv", "**b** _i_ ~~s~~ &amp; #h |.csv"])
def test_no_name_of_a_file_is_obeyed(open_page: Open, keep_run: Callable[..., str], name: str) -> None:
    """HTML, Markdown, charts: it is shown, short and as it stands."""
    keep_run(MatmulParams(), make_points(64, 128, 256))
    at = drop(drop(open_page("matmul"), name=name), b"n\n", name)
    assert not at.exception
    assert len(at.error) == 1
    for text in (
        html_of(at),
        *(error.value for error in at.error),
        *(figure(at, i) and json.dumps(figure(at, i)) for i in (0, 1)),
    ):
        assert "<img" not in text.replace(r"\<img", "")
        assert "[[" not in text.replace(r"\[\[", "")
        assert "**b**" not in text
        assert "a" * 100 not in text
        assert "\u202e" not in text
    charts = [text for i in (0, 1) for text in _texts(figure(at, i))]
    assert not [text for text in charts if re.search(r"<(?!/?(b|br|span)\b)", text)]
    assert not [text for text in charts if "$" in text]
    assert any(literal(file_label(name)[:10]) in text for text in charts)


def _texts(content: Any) -> list[str]:
    """Return every text in a chart's JSON."""
    if isinstance(content, str):
        return [content]
    parts = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    return [text for part in parts for text in _texts(part)]


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda e: e.id)
def test_every_page_has_a_place_for_files_and_takes_its_own_kind(open_page: Open, experiment: Experiment) -> None:
    """A case of its experiment, or an honest refusal where it reads exports only."""
    case = next((case for case, entry in EXPECTED.items() if entry["experiment"] == experiment.id), None)
    content = (CASES / f"{case}.csv").read_bytes() if case else MINE
    at = drop(open_page(experiment.id), content, "public.csv")
    assert not at.exception
    assert bool(at.error) is (case is None)
    assert (":violet-badge[beside it: public.csv]" in html_of(at)) is (case is not None)


@pytest.mark.parametrize("experiment", READING, ids=lambda e: e.id)
def test_every_page_names_the_line_of_a_file(open_page: Open, experiment: Experiment) -> None:
    """Beside the published series that the page shows first."""
    case = next(case for case, entry in EXPECTED.items() if entry["experiment"] == experiment.id)
    at = drop(open_page(experiment.id), (CASES / f"{case}.csv").read_bytes(), "public.csv")
    written = [text for i in (0, 1) for text in _texts(figure(at, i))]
    assert any("public.csv" in text for text in written)


def test_a_drawn_point_is_called_by_its_file_and_keeps_its_part_in_the_note(open_page: Open) -> None:
    """Whatever the part that a visitor named."""
    at = drop(open_page("matmul"))
    at.selectbox(key=_key(at, "-gpu")).set_value("NVIDIA GeForce RTX 4090").run()
    assert "mine.csv" in names_of(at)
    hovers = [text for text in _texts(figure(at)) if "recorded (" in text]
    assert {text.split("<br>")[-1] for text in hovers} == {"recorded (mine.csv, NVIDIA GeForce RTX 4090)"}


def test_only_rates_of_operations_ask_for_a_number_format(open_page: Open) -> None:
    """A step or a copy has none that matters."""
    for experiment_id, asks in (("matmul", True), ("batch", False), ("transfer", False), ("precision", False)):
        case = next(case for case, entry in EXPECTED.items() if entry["experiment"] == experiment_id)
        at = drop(open_page(experiment_id), (CASES / f"{case}.csv").read_bytes())
        keys = [box.key or "" for box in at.selectbox]
        assert any(key.endswith("-gpu") for key in keys)
        assert any(key.endswith("-dtype") for key in keys) is asks


def test_the_server_lets_the_bytes_go(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many files a visitor drops, good or bad."""
    removed: list[str] = []
    monkeypatch.setattr(
        MemoryUploadedFileManager, "remove_file", lambda _self, _session, file_id: removed.append(file_id)
    )
    at = drop(drop(open_page("matmul")), b"n\n", "bad.csv")
    assert len(set(removed)) == 2
    assert at.file_uploader[0].value is None


def test_an_operator_may_set_a_lower_limit(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The zone says it, and refuses what is larger."""
    for module in (upload_box, upload_files):
        monkeypatch.setattr(module, "load_settings", lambda: Settings(max_upload_mb=1))
    at = open_page("matmul")
    assert any("At most 1 MB and 100,000 rows." in caption.value for caption in at.caption)
    assert at.file_uploader[0].proto.max_upload_size_mb == 1
    at = drop(at, MINE + b" " * 1_000_000)
    assert [error.value for error in at.error] == [
        "mine.csv has 1.0 MB, the limit here is 1 MB. Keep one row per size."
    ]
