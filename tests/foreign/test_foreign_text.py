"""Foreign text is shown, never obeyed: on pages, in charts, files, scripts and terminals."""

import ast
import csv
import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from foreign_made import EVIL, HOSTILE, make_run
from streamlit.testing.v1 import AppTest

from gpuexplain.errors import InputError
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.report.page import write_run
from gpuexplain.store.exports import export_csv, export_json, read_json
from gpuexplain.store.foreign import LONGEST_TEXT, clean_text
from gpuexplain.store.runs import RunStore
from gpuexplain.ui import engine_access, tab_code
from gpuexplain.ui.figures import SHARED
from gpuexplain.ui.result import _load_ended

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "ui"))
from ui_fakes import FakeRunner, make_machine  # noqa: E402

TABS = ("How it was measured", "Data", "Code", "Compare")
WHOLE = {"words only": False, "names too": True}


class Tags(HTMLParser):
    """The elements of a piece of HTML, and the addresses in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.names.append(tag)
        self.attributes += attrs


def assert_harmless_html(text: str) -> None:
    """No element that the hostile text asks for, no handler, no address of it."""
    tags = Tags(text)
    assert not {"script", "img", "a", "iframe"}.intersection(tags.names)
    assert not [name for name, _ in tags.attributes if name.startswith("on")]
    assert not [value for _, value in tags.attributes if value and EVIL in value]


def assert_harmless_markdown(text: str) -> None:
    """No link, image, formula, code or element: every sign that could begin one is escaped."""
    bare = re.sub(r"\\[\\`_\[\]$<>#~|&*]", "", text)
    assert "click](" not in bare
    assert "![" not in bare
    assert "<img" not in bare
    assert "<script" not in bare
    assert r"\frac" not in bare.replace("\\", "\\") or "$" not in bare


def texts_of(content: Any) -> Iterator[str]:
    """Yield every text in a chart's JSON."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        for value in content.values():
            yield from texts_of(value)
    elif isinstance(content, list):
        for value in content:
            yield from texts_of(value)


def assert_harmless_chart(spec: str) -> None:
    """Plotly reads tags in every text: none of the hostile ones is left."""
    for text in texts_of(json.loads(spec)):
        assert not re.search(r"<(a|img|script|iframe|/style|/title)", text, re.IGNORECASE), text[:300]
        assert not ("evil.example" in text and "$" in text), text[:300]


@pytest.fixture
def open_hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., AppTest]]:
    """Return a function that opens a page on a store with hostile runs."""
    machine = make_machine()
    store = RunStore(f"sqlite:///{tmp_path / 'runs.db'}")
    runner = FakeRunner(store)
    monkeypatch.setattr(engine_access, "get_machine", lambda: machine)
    monkeypatch.setattr(engine_access, "get_store", lambda: store)
    monkeypatch.setattr(engine_access, "get_runner", lambda: runner)
    SHARED.clear()
    _load_ended.cache_clear()

    def open_(name: str, everything: bool, **query: str) -> AppTest:
        if name in EXPERIMENTS:
            store.add_run(make_run(EXPERIMENTS[name], machine, "run-1", everything=everything))
            store.add_run(make_run(EXPERIMENTS[name], machine, "run-2", everything=not everything))
        at = AppTest.from_file(str(ROOT / "gpuexplain" / "ui" / "router.py"), default_timeout=30)
        at.run()
        for key, text in query.items():
            at.query_params[key] = text
        at.switch_page(f"../../pages/{name}.py").run()
        return at

    yield open_
    _load_ended.cache_clear()
    store.close()


def assert_harmless(at: AppTest) -> None:
    """Nothing on the page obeys the hostile text."""
    assert not at.exception, at.exception
    for block in at.get("html"):
        body = block.proto.body
        if "<style>" not in body:
            assert_harmless_html(body)
    for kind in ("markdown", "caption", "error", "warning", "info", "success", "title", "subheader"):
        for element in getattr(at, kind):
            assert_harmless_markdown(element.value)
    for chart in at.get("plotly_chart"):
        assert_harmless_chart(chart.proto.spec)


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_a_lab_shows_hostile_runs_as_text(open_hostile: Callable[..., AppTest], name: str, tab: str) -> None:
    """Every lab and tab, with a second such run drawn beside it."""
    assert_harmless(open_hostile(name, False, tab=tab, compare="run-2"))


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_a_lab_survives_hostile_names_in_its_store(open_hostile: Callable[..., AppTest], name: str) -> None:
    """Series and devices that no import lets in: the page opens, and shows what it shows as text."""
    assert_harmless(open_hostile(name, True, compare="run-2"))


@pytest.mark.parametrize("name", ["home", *sorted(EXPERIMENTS)])
def test_a_hostile_address_is_shown_as_text(open_hostile: Callable[..., AppTest], name: str) -> None:
    """Every control's value, and the run to compare with."""
    at = open_hostile("home", False)
    fields = EXPERIMENTS[name].params_type.model_fields if name in EXPERIMENTS else ("preset",)
    for field in (*fields, "compare", "tab", "present"):
        at.query_params[field] = HOSTILE
    at.switch_page(f"../../pages/{name}.py").run()
    assert_harmless(at)


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_the_page_that_is_kept_shows_it_as_text(name: str) -> None:
    """The HTML export runs no script but its own, and has no address of the file's."""
    run = make_run(EXPERIMENTS[name], make_machine(), "run-1", everything=False)
    page = write_run(EXPERIMENTS[name], run, time.time())
    usual = write_run(EXPERIMENTS[name], run.model_copy(update={"points": (), "reason": "", "machine": None}), 0.0)
    tags = Tags(page)
    assert tags.names.count("script") == Tags(usual).names.count("script")
    assert "img" not in tags.names
    assert not [value for attribute, value in tags.attributes if attribute in ("href", "src") and "evil" in str(value)]
    assert not [attribute for attribute, _ in tags.attributes if attribute.startswith("on")]


@pytest.mark.parametrize("everything", WHOLE.values(), ids=WHOLE)
def test_a_spreadsheet_computes_nothing(everything: bool) -> None:
    """No cell begins like a formula, but for numbers."""
    run = make_run(EXPERIMENTS["matmul"], make_machine(), "run-1", everything=everything)
    rows = list(csv.reader(io.StringIO(export_csv(run))))
    cells = [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert [cell for cell in cells if not re.fullmatch(r"-?[\d.e+-]+|-inf", cell)] == []


@pytest.mark.parametrize("everything", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_a_script_has_no_code_of_the_point(monkeypatch: pytest.MonkeyPatch, name: str, everything: bool) -> None:
    """The standalone script is Python of ours, whatever the point's texts hold."""
    experiment, written = EXPERIMENTS[name], []
    run = make_run(experiment, make_machine(), "run-1", everything=everything)
    monkeypatch.setattr("streamlit.code", lambda script, **_: written.append(script))
    for point in run.points[:3]:
        monkeypatch.setattr(tab_code, "choose_point", lambda *_, point=point: point)
        tab_code.show_code(experiment, experiment.params_type(), None)
    for script in written:
        calls = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Call)]
        assert "os.system" not in [ast.unparse(call.func) for call in calls]
    assert len(written) == len(run.points[:3])


def run_command(home: Path, *command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command of ours on a store of its own."""
    environment = {**os.environ, "GPUEXPLAIN_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-m", "gpuexplain", *command], capture_output=True, cwd=ROOT, env=environment, timeout=60
    )


@pytest.mark.parametrize("name", ["matmul", "precision"])
def test_a_terminal_shows_it_as_text(tmp_path: Path, name: str) -> None:
    """No control character of a file reaches the terminal: it was cleaned when it came in."""
    file = tmp_path / "run.json"
    file.write_text(export_json(make_run(EXPERIMENTS[name], make_machine(), "run-1", everything=False)))
    for command in (["import", str(file)], ["runs"], ["show", "run-1"]):
        run = run_command(tmp_path, *command)
        assert run.returncode == 0, run.stderr.decode()
        assert b"\x1b" not in run.stdout + run.stderr


def test_a_file_with_foreign_names_is_refused_in_one_line(tmp_path: Path) -> None:
    """Hostile names of series and devices, an unknown experiment."""
    good = make_run(EXPERIMENTS["matmul"], make_machine(), "run-1", everything=False)
    bad = {
        "no name of ours": make_run(EXPERIMENTS["matmul"], make_machine(), "run-1", everything=True),
        "experiment='other' cannot be used": good.model_copy(update={"experiment": "other"}),
    }
    for says, run in bad.items():
        file = tmp_path / "run.json"
        file.write_text(export_json(run))
        refused = run_command(tmp_path, "import", str(file))
        assert refused.returncode == 2, refused.stdout
        assert says in refused.stderr.decode()
        assert b"\x1b" not in refused.stderr
        assert b"Traceback" not in refused.stderr


@pytest.mark.parametrize("name", ["matmul", "batch", "transfer"])
def test_a_series_of_another_release_is_refused_or_shown(tmp_path: Path, name: str) -> None:
    """Never taken first and then a traceback: what is imported can be shown."""
    run = make_run(EXPERIMENTS[name], make_machine(), "run-1", everything=False)
    renamed = tuple(point.model_copy(update={"series": "cpu_9_threads"}) for point in run.points)
    file = tmp_path / "run.json"
    file.write_text(export_json(run.model_copy(update={"points": renamed})))
    taken = run_command(tmp_path, "import", str(file))
    if taken.returncode == 0:
        taken = run_command(tmp_path, "show", "run-1")
        assert taken.returncode == 0, taken.stderr.decode()
    else:
        assert taken.returncode == 2
        assert "this release does not know 'cpu_9_threads' in it" in taken.stderr.decode()
    assert b"Traceback" not in taken.stderr


def test_an_imported_run_is_cleaned_and_bounded() -> None:
    """Control and direction characters go, long texts and ids that are paths are refused; the rest stays."""
    run = make_run(EXPERIMENTS["matmul"], make_machine(), "run-1", everything=False)
    read = read_json(export_json(run))
    assert read.points[0].device_name == clean_text(HOSTILE)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", read.reason + read.key + read.machine["driver_version"])
    ours = make_run(EXPERIMENTS["matmul"], make_machine(), "run-1", everything=False)
    plain = ours.model_copy(update={"reason": "two\nlines, µs ± 3 %", "points": (), "machine": None, "key": "k"})
    assert read_json(export_json(plain)) == plain
    for bad in ("../../etc/x", "a b", "", "x" * 65, "a/b", "<b>"):
        with pytest.raises(InputError, match="the run's id may have letters"):
            read_json(export_json(run.model_copy(update={"id": bad})))
    with pytest.raises(InputError, match="more than 4000 characters"):
        read_json(export_json(run.model_copy(update={"reason": "x" * (LONGEST_TEXT + 1)})))
