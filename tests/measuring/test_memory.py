"""Peak memory and the soft limit, with a fake /proc and a fake CUDA."""

import sys
from pathlib import Path

import pytest

from gpuexplain.measuring import memory
from gpuexplain.measuring.memory import (
    NO_PROC,
    SHARED_DEVICE,
    DeviceMemory,
    ResidentMemory,
    can_limit_data,
    data_limit,
    no_data_limit,
    read_freed_bytes,
    read_process_bytes,
)

MIB = 2**20
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_DATA counts mappings on Linux only")


class FakeProc:
    """A /proc whose status a test writes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "proc" / "self"
        self.folder.mkdir(parents=True)
        (self.folder / "clear_refs").write_text("")
        self.write(resident=100, peak=100)

    def write(self, *, resident: int, peak: int) -> None:
        """Set the resident set and its peak (MiB)."""
        text = f"Name:\tpython\nVmHWM:\t{peak * 1024} kB\nVmRSS:\t{resident * 1024} kB\nVmData:\t{300 * 1024} kB\n"
        (self.folder / "status").write_text(text)


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    """A process that holds 100 MiB."""
    return FakeProc(tmp_path)


def test_sizes_are_read_in_bytes(proc: FakeProc) -> None:
    """The kernel writes kB of 1,024 bytes."""
    assert read_process_bytes("VmRSS", proc.root) == 100 * MIB
    assert read_process_bytes("VmData", proc.root) == 300 * MIB
    assert read_process_bytes("VmNone", proc.root) is None
    assert read_process_bytes("VmRSS", proc.root / "nowhere") is None


def test_a_peak_is_what_is_kept_plus_own_inputs_plus_what_the_call_adds(proc: FakeProc) -> None:
    """40 MiB kept for the model, 8 of 20 MiB of examples its own, 25 MiB more at the peak."""
    watched = ResidentMemory(proc.root)
    proc.write(resident=160, peak=400)  # the model, and examples of 20 MiB

    def call() -> None:
        proc.write(resident=165, peak=185)

    gauges = watched.measure_peak(call, all_inputs_bytes=20 * MIB, own_inputs_bytes=8 * MIB)
    assert gauges.memory_resident_bytes == (40 + 8 + 25) * MIB
    assert (proc.folder / "clear_refs").read_text() == "5"
    assert gauges.not_reported == {}


def test_caches_that_grow_are_not_put_down_to_later_calls(proc: FakeProc) -> None:
    """What is kept is read once."""
    watched = ResidentMemory(proc.root)
    proc.write(resident=140, peak=140)
    first = watched.measure_peak(lambda: proc.write(resident=140, peak=150))
    proc.write(resident=190, peak=190)
    later = watched.measure_peak(lambda: proc.write(resident=190, peak=200))
    assert first.memory_resident_bytes == later.memory_resident_bytes == 50 * MIB


def test_a_peak_that_cannot_be_reset_is_not_reported(proc: FakeProc) -> None:
    """The reason is the system's, and the call ran all the same."""
    watched = ResidentMemory(proc.root)
    (proc.folder / "clear_refs").unlink()
    (proc.folder / "clear_refs").mkdir()
    ran = []
    gauges = watched.measure_peak(lambda: ran.append(1))
    assert gauges.memory_resident_bytes is None
    assert gauges.not_reported["memory_resident_bytes"].startswith("the peak cannot be reset: ")
    assert ran == [1]


def test_without_proc_nothing_is_reported(tmp_path: Path) -> None:
    """Another system."""
    (tmp_path / "proc" / "self").mkdir(parents=True)
    gauges = ResidentMemory(tmp_path).measure_peak(lambda: None)
    assert gauges.not_reported == {"memory_resident_bytes": NO_PROC}


class FakeCuda:
    """An allocator that holds what a test says (MiB), of a device of 80 GiB."""

    def __init__(self) -> None:
        self.held = {"allocated": 10, "reserved": 20}
        self.peaks = {"allocated": 0, "reserved": 0}
        self.free = 70 * 1024
        self.log: list[str] = []

    def empty_cache(self) -> None:
        self.log.append("empty_cache")

    def synchronize(self, device: str) -> None:
        self.log.append("synchronize")

    def reset_peak_memory_stats(self, device: str) -> None:
        self.log.append("reset")
        self.peaks = dict(self.held)

    def memory_allocated(self, device: str) -> int:
        return self.held["allocated"] * MIB

    def memory_reserved(self, device: str) -> int:
        return self.held["reserved"] * MIB

    def max_memory_allocated(self, device: str) -> int:
        return self.peaks["allocated"] * MIB

    def max_memory_reserved(self, device: str) -> int:
        return self.peaks["reserved"] * MIB

    def mem_get_info(self, device: str) -> tuple[int, int]:
        return self.free * MIB, 80 * 1024 * MIB


def test_a_device_tells_allocated_reserved_and_the_context_apart() -> None:
    """Above what was there before; the examples of other batches are not counted."""
    cuda = FakeCuda()
    watched = DeviceMemory("cuda:0", cuda)

    def call() -> None:
        cuda.log.append("call")
        cuda.peaks = {"allocated": 510, "reserved": 620}
        cuda.held["reserved"] = 620
        cuda.free = 80 * 1024 - 620 - 450

    gauges = watched.measure_peak(call, all_inputs_bytes=120 * MIB, own_inputs_bytes=20 * MIB, has_device_alone=True)
    assert gauges.memory_allocated_bytes == (510 - 10 - 100) * MIB
    assert gauges.memory_reserved_bytes == (620 - 20 - 100) * MIB
    assert gauges.memory_context_bytes == 450 * MIB
    assert gauges.not_reported == {}
    assert cuda.log == ["empty_cache", "empty_cache", "reset", "call", "synchronize"]


def test_a_shared_device_does_not_tell_the_context() -> None:
    """Everybody's memory is in the same sum."""
    gauges = DeviceMemory("cuda:0", FakeCuda()).measure_peak(lambda: None)
    assert gauges.memory_context_bytes is None
    assert gauges.not_reported == {"memory_context_bytes": SHARED_DEVICE}


@on_linux
def test_freed_memory_is_what_the_allocator_keeps() -> None:
    """Thousands of small blocks are kept for reuse when they are freed."""
    blocks = [bytes(600) for _ in range(200_000)]
    before = read_freed_bytes()
    del blocks[::2]  # every second one: nothing can be given back as a whole
    assert read_freed_bytes() - before > 20 * MIB


@on_linux
def test_a_limit_is_soft_and_given_back() -> None:
    """Nested ones keep the tighter; none lifts it; an error inside gives it back too."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    with data_limit(2**40):
        assert resource.getrlimit(resource.RLIMIT_DATA) == (2**40, before[1])
        with data_limit(2**41):
            assert resource.getrlimit(resource.RLIMIT_DATA)[0] == 2**40
        with no_data_limit():
            assert resource.getrlimit(resource.RLIMIT_DATA)[0] == before[1]
        assert resource.getrlimit(resource.RLIMIT_DATA)[0] == 2**40
    with pytest.raises(ValueError, match="inside"), data_limit(2**40):
        raise ValueError("inside")
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert can_limit_data()


def test_without_a_limit_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """No number, or another system."""
    with data_limit(None):
        pass
    monkeypatch.setattr(memory.sys, "platform", "win32")
    assert not can_limit_data()
    with data_limit(1), no_data_limit():
        assert bytearray(2**20)
