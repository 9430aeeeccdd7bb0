"""The file of the store is cut off, overwritten, deleted or write-protected: what is left, and who says so?"""

import os
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from faults_made import ROOT, begin_run, make_point, read_elsewhere

from gpuexplain.errors import StoreDamagedError, StoreError
from gpuexplain.settings import Settings
from gpuexplain.store import recovery
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore, open_store

ALL = [list(range(1, 41)), list(range(41, 81))]


def _sizes(settings: Settings) -> list[list[float]]:
    """Return the sizes of the points of every run, the first run first, as another process reads them."""
    return sorted(sizes for _, sizes in read_elsewhere(settings.store_url).values())


def _kept(home: Path) -> list[Path]:
    return sorted(home.glob("gpuexplain-damaged-*.db"))


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _overwrite_head(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"garbage " * 64)


def _overwrite_everything(path: Path) -> None:
    path.write_bytes(b"no database at all " * 500)


@pytest.mark.parametrize(
    ("harm", "damage"),
    [
        (_cut, "database disk image is malformed"),
        (_overwrite_head, "file is not a database"),
        (_overwrite_everything, "file is not a database"),
    ],
    ids=["cut off", "head overwritten", "all overwritten"],
)
def test_a_damaged_file_is_kept_aside_and_a_fresh_one_begun(
    store: RunStore, settings: Settings, store_file: Path, home: Path, harm: Callable[[Path], None], damage: str
) -> None:
    """The old bytes are there under a new name, the new store works, and a notice says all that."""
    store.close()
    harm(store_file)
    before = store_file.read_bytes()
    again = open_store(settings)
    (kept,) = _kept(home)
    assert kept.read_bytes() == before
    (notice,) = again.notices
    assert f"the store was found damaged ({damage}) and a new one was begun" in notice
    assert f"The old one is kept as {kept.name}; delete {kept.stem}.txt to end this notice." in notice
    run_id = begin_run(again, 7)
    assert read_elsewhere(settings.store_url)[run_id] == ("running", [7])
    kept.with_suffix(".txt").unlink()
    assert again.notices == ()
    again.close()


def test_what_can_be_read_from_a_damaged_file_is_in_the_new_one(
    store: RunStore, settings: Settings, store_file: Path, home: Path
) -> None:
    """One page of points is lost: the points on it are missing, the others and all runs are there."""
    store.close()
    with sqlite3.connect(store_file) as file:
        page_size = file.execute("PRAGMA page_size").fetchone()[0]
        root = file.execute("SELECT rootpage FROM sqlite_master WHERE name = 'points'").fetchone()[0]
        n_pages = file.execute("PRAGMA page_count").fetchone()[0]
    content = bytearray(store_file.read_bytes())
    leaves = [n for n in range(root + 1, n_pages + 1) if content[(n - 1) * page_size] == 0x0D]  # of a table
    begin = (leaves[len(leaves) // 2] - 1) * page_size
    content[begin : begin + page_size] = b"\xff" * page_size
    store_file.write_bytes(content)
    damaged = open_store(settings)
    with pytest.raises(StoreDamagedError, match=r"was found damaged and a new one was begun\. Try again"):
        damaged.check_sound()
    found = _sizes(settings)
    n_lost = 80 - sum(map(len, found))
    assert len(found) == 2
    assert 0 < n_lost < 40
    assert all(set(part) <= set(whole) for part, whole in zip(found, ALL, strict=True))
    assert f"2 runs with {80 - n_lost} points could be read from it" in damaged.notices[0]
    assert damaged.generation == 1
    damaged.check_sound()
    damaged.close()


def test_a_row_that_makes_no_sense_is_left_out_alone(store: RunStore, settings: Settings, store_file: Path) -> None:
    """Salvage takes nothing that could not be read later."""
    store.close()
    with sqlite3.connect(store_file) as file:
        file.execute("UPDATE points SET point = '{\"x\": ' WHERE ordinal = 3")
    with store_file.open("r+b") as file:  # the free list's count: found by a check, harmless to reading
        file.seek(36)
        file.write((99).to_bytes(4, "big"))
    again = open_store(settings)
    with pytest.raises(StoreDamagedError):
        again.check_sound()
    assert _sizes(settings) == [[size for size in part if size % 40 != 4] for part in ALL]
    again.close()


def test_an_emptied_file_becomes_a_fresh_store(store: RunStore, settings: Settings, store_file: Path) -> None:
    """There is nothing to keep."""
    store.close()
    store_file.write_bytes(b"")
    again = open_store(settings)
    begin_run(again, 1)
    assert _sizes(settings) == [[1]]
    assert again.notices == ()
    again.close()


def test_damage_is_met_while_the_store_is_in_use(store: RunStore, settings: Settings, store_file: Path) -> None:
    """Whoever meets it is told; the next attempt works, on a fresh store."""
    with sqlite3.connect(store_file) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    _overwrite_head(store_file)
    other = open_store(settings)  # another process meets it first
    run_id = begin_run(store, 5)  # ours takes up the file that lies there now
    assert (other.generation, store.generation) == (0, 1)
    assert read_elsewhere(settings.store_url)[run_id] == ("running", [5])
    other.close()


def test_the_process_that_has_it_open_can_be_the_first_to_meet_damage(
    store: RunStore, settings: Settings, store_file: Path, home: Path
) -> None:
    """The attempt that meets it fails and says so; the next one works."""
    with sqlite3.connect(store_file) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    _cut(store_file)
    with pytest.raises(StoreDamagedError, match=r"was found damaged and a new one was begun\. Try again"):
        [store.load_run(run.id) for run in store.list_runs()]
    run_id = begin_run(store, 5)
    assert read_elsewhere(settings.store_url)[run_id] == ("running", [5])
    assert len(_kept(home)) == len(store.notices) == 1


def test_a_deleted_file_is_made_anew(store: RunStore, settings: Settings, store_file: Path) -> None:
    """What is written afterwards does not go into a file that nobody can find."""
    for path in store_file.parent.iterdir():
        path.unlink()
    run_id = begin_run(store, 5)
    assert store.generation == 1
    assert read_elsewhere(settings.store_url) == {run_id: ("running", [5])}


def test_a_file_of_another_name_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    """A mistyped setting must not rename somebody's thesis."""
    (tmp_path / "thesis.txt").write_text("Chapter 1 " * 500)
    with pytest.raises(StoreError, match=r"not a database.*move it away"):
        RunStore(f"sqlite:///{tmp_path / 'thesis.txt'}")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    assert Settings(home=tmp_path).store_url.endswith(f"/{recovery.OWN_NAME}")


def test_two_processes_that_find_the_damage_keep_one_file(
    store: RunStore, settings: Settings, store_file: Path, home: Path
) -> None:
    """The second opens what the first has begun."""
    store.close()
    _overwrite_everything(store_file)
    code = """
        import sys
        from gpuexplain.store.runs import RunStore
        store = RunStore(sys.argv[1])
        print(store.create_run(experiment="fake", measuring_version=1, key="k", params={}, device="cpu"))
    """
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), settings.store_url],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    ids = {opener.communicate()[0].strip() for opener in openers}
    assert [opener.returncode for opener in openers] == [0, 0, 0]
    assert set(read_elsewhere(settings.store_url)) == ids
    assert len(_kept(home)) == 1


def test_a_read_only_disk_still_shows_what_is_there(small_disk: Callable[[str], Path]) -> None:
    """Nothing can be kept, and the reason says what to do; once the disk can be written, everything works."""
    disk = small_disk("4m")
    settings = Settings(home=disk / "home")
    first = open_store(settings)
    run_id = begin_run(first, 1, 2)
    first.finish_run(run_id, RunState.DONE)
    first.close()
    _remount(disk, "ro")
    shown = open_store(settings)
    assert [point.x for point in shown.load_run(run_id).points] == [1, 2]
    assert "Check that the folder exists and is writable, or set GPUEXPLAIN_HOME" in shown.why_read_only
    with pytest.raises(StoreError, match=r"folder exists and is writable, or set GPUEXPLAIN_HOME"):
        shown.check_writable()
    _remount(disk, "rw")
    shown.save_points(run_id, [make_point(3)])
    assert shown.why_read_only == ""
    assert read_elsewhere(settings.store_url) == {run_id: ("done", [1, 2, 3])}
    shown.close()


def test_a_read_only_disk_without_a_store_is_told(small_disk: Callable[[str], Path]) -> None:
    """There is nothing to show either."""
    disk = small_disk("1m")
    _remount(disk, "ro")
    with pytest.raises(StoreError, match=r"Cannot open the store.*set GPUEXPLAIN_HOME"):
        open_store(Settings(home=disk / "home"))


def test_a_full_disk_without_a_store_is_told(small_disk: Callable[[str], Path]) -> None:
    """The remedy names the variable."""
    disk = small_disk("16k")
    with pytest.raises(
        StoreError, match=r"Cannot open the store.*(check its space|Free some space).*set GPUEXPLAIN_HOME"
    ):
        open_store(Settings(home=disk))


def test_a_store_on_a_full_disk_is_shown(small_disk: Callable[[str], Path]) -> None:
    """SQLite needs a little room only to open a file: without it, the file is read as it is."""
    disk = small_disk("256k")
    settings = Settings(home=disk)
    first = open_store(settings)
    run_id = begin_run(first, 1, 2)
    first.close()
    filler = disk / "filler"
    _fill(filler)
    shown = open_store(settings)
    assert [point.x for point in shown.load_run(run_id).points] == [1, 2]
    with pytest.raises(StoreError, match=r"Free some space|check its space"):
        shown.save_points(run_id, [make_point(size, n_samples=500) for size in range(3, 30)])
    filler.unlink()
    shown.save_points(run_id, [make_point(3)])
    assert read_elsewhere(settings.store_url)[run_id][1] == [1, 2, 3]
    shown.close()


def _remount(disk: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 1024)
        except OSError:
            return
