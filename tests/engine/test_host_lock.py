"""One measurement at a time on a host, and whoever waits knows for whom."""

import os
import stat
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import gpuexplain
from gpuexplain.engine.host_lock import HostLock, lock_path
from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.runner import Runner
from gpuexplain.errors import EngineError

ROOT = Path(gpuexplain.__file__).parent.parent


def _never() -> bool:
    return False


def _ignore(_text: str) -> None:
    return None


def test_the_second_waits_and_says_for_whom(tmp_path: Path) -> None:
    """It goes on when the first has ended."""
    first, second, told = HostLock(tmp_path), HostLock(tmp_path), []
    assert first.acquire("matmul on cpu", _ignore, _never)

    def tell(text: str) -> None:
        told.append(text)
        first.release()

    assert second.acquire("batch on cpu", tell, _never)
    assert "measures matmul on cpu on this machine (process" in told[0]
    assert str(os.getpid()) in told[0]
    second.release()


def test_waiting_can_be_cancelled(tmp_path: Path) -> None:
    """False means: not ours."""
    first, second, cancelled = HostLock(tmp_path), HostLock(tmp_path), threading.Event()
    assert first.acquire("a", _ignore, _never)
    assert not second.acquire("b", lambda _text: cancelled.set(), cancelled.is_set)
    first.release()


def test_every_user_may_use_the_file(tmp_path: Path) -> None:
    """Whatever the umask of the first; the name is that of the host."""
    old = os.umask(0o077)
    try:
        lock = HostLock(tmp_path)
        assert lock.acquire("a", _ignore, _never)
        lock.release()
    finally:
        os.umask(old)
    assert stat.S_IMODE(lock_path(tmp_path).stat().st_mode) == 0o666
    assert os.uname().nodename in lock_path().name


def test_a_named_folder_stands_for_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two containers that share it have host names of their own, and one lock."""
    monkeypatch.setattr("socket.gethostname", lambda: "container-1")
    first, second, told = HostLock(tmp_path), None, []
    monkeypatch.setattr("socket.gethostname", lambda: "container-2")
    second = HostLock(tmp_path)
    assert first.acquire("a", _ignore, _never)
    assert not second.acquire("b", told.append, lambda: bool(told))
    first.release()
    assert len(told) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")
def test_another_users_file_in_a_sticky_folder_can_be_locked(tmp_path: Path) -> None:
    """Linux refuses to create such a file again; opening it is enough."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o055 != 0o055 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    tmp_path.chmod(0o1777)
    lock = HostLock(tmp_path)
    assert lock.acquire("a", _ignore, _never)
    lock.release()
    code = """
        import os, sys
        from pathlib import Path
        from gpuexplain.engine.host_lock import HostLock
        os.setgid(65534); os.setuid(65534)
        lock = HostLock(Path(sys.argv[1]))
        print(lock.acquire("b", print, lambda: False))
    """
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], cwd=ROOT, capture_output=True, text=True
    )
    assert (said.stdout.strip(), said.stderr) == ("True", "")


@pytest.mark.parametrize(
    "note",
    [b"", b"\xff\xfe garbage", b"[1]", b'{"user": 1}', b'{"user":"a","what":"b","pid":"x","since":0}'],
    ids=["empty", "binary", "list", "half", "wrong type"],
)
def test_a_strange_note_is_no_reason_to_fail(tmp_path: Path, note: bytes) -> None:
    """Anybody can write into the file."""
    first, second, told = HostLock(tmp_path), HostLock(tmp_path), []
    assert first.acquire("a", _ignore, _never)
    lock_path(tmp_path).write_bytes(note)
    assert not second.acquire("b", told.append, lambda: bool(told))
    assert told == ["another process on this machine measures"]
    first.release()


def test_a_note_shows_no_control_characters(tmp_path: Path) -> None:
    """Nor more than a line's worth of text."""
    first, second, told = HostLock(tmp_path), HostLock(tmp_path), []
    assert first.acquire("a\n\x1b[31m" + "x" * 200, _ignore, _never)
    assert not second.acquire("b", told.append, lambda: bool(told))
    assert told[0].isprintable()
    assert len(told[0]) < 220
    first.release()


def test_a_tidied_folder_gives_no_two_holders(tmp_path: Path) -> None:
    """A lock on a file that has no name any more counts for nothing."""
    first = HostLock(tmp_path)
    assert first.acquire("a", _ignore, _never)
    lock_path(tmp_path).unlink()
    second, third = HostLock(tmp_path), HostLock(tmp_path)
    assert second.acquire("b", _ignore, _never)
    told: list[str] = []
    assert not third.acquire("c", told.append, lambda: bool(told))
    first.release()
    second.release()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """Nobody makes us write into a file of his choice."""
    (tmp_path / "target").write_text("precious")
    lock_path(tmp_path).symlink_to(tmp_path / "target")
    with pytest.raises(EngineError, match=r"Cannot open the lock file.*remove the file"):
        HostLock(tmp_path).acquire("a", _ignore, _never)
    assert (tmp_path / "target").read_text() == "precious"


def test_two_runners_measure_one_after_the_other(
    make_runner: Callable[..., Runner],
    submit: Callable[..., Job],
    ended: Callable[[Runner, Job], Job],
    until: Callable[..., Job],
    tmp_path: Path,
) -> None:
    """The second waits and says for whom; it can be cancelled, or its turn comes."""
    one, two = make_runner(), make_runner()
    gate = tmp_path / "gate"
    first = until(one, submit(one, f"file={gate}"), lambda j: j.state is JobState.RUNNING)
    gone = until(two, submit(two, "point"), lambda j: j.state is JobState.WAITING)
    assert "measures fake on cpu on this machine (process" in gone.ahead
    assert two.cancel(gone.run_id, "anna")
    assert ended(two, gone).state is JobState.CANCELLED
    second = until(two, submit(two, "point"), lambda j: j.state is JobState.WAITING)
    gate.touch()
    assert ended(one, first).state is JobState.DONE
    done = ended(two, second)
    assert (done.state, done.ahead) == (JobState.DONE, "")


def test_a_killed_holder_frees_the_lock(tmp_path: Path) -> None:
    """The kernel does it."""
    code = """
        import sys, time
        from pathlib import Path
        from gpuexplain.engine.host_lock import HostLock
        lock = HostLock(Path(sys.argv[1]))
        lock.acquire("a", print, lambda: False) and print("held", flush=True)
        time.sleep(600)
    """
    holder = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    holder.kill()
    holder.communicate()
    began = time.monotonic()
    assert HostLock(tmp_path).acquire("b", _ignore, lambda: time.monotonic() - began > 10)
