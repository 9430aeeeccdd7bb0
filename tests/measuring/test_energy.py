"""Energy of one call: counters that move in steps, wrap around, or are not there."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pynvml
import pytest

from gpuexplain.measuring.energy import (
    EnergyReading,
    NotReported,
    NvmlEnergyCounter,
    measure_energy,
    open_cpu_counter,
    open_gpu_counter,
)

UUID = "GPU-5b0a1c2d"


@dataclass
class SteppingCounter:
    """A part of so many watts whose counter moves every ``step_s`` only."""

    power_w: float
    step_s: float
    now_s: float = 0.0
    scope: str = "a test"
    calls: list[int] = field(default_factory=list)

    def read_j(self) -> float:
        return self.power_w * self.step_s * int(self.now_s / self.step_s + 1e-9)

    def clock(self) -> float:
        return self.now_s

    def work(self, call_s: float) -> Callable[[int], None]:
        """Return a function that lets so many calls pass."""

        def run_calls(n_calls: int) -> None:
            self.calls.append(n_calls)
            self.now_s += n_calls * call_s

        return run_calls


@pytest.mark.parametrize("step_s", [0.001, 0.02, 0.1], ids=["fine", "20 ms", "100 ms"])
@pytest.mark.parametrize("call_s", [1e-5, 3e-3, 0.3], ids=["short", "medium", "long"])
def test_energy_is_power_times_the_time_of_a_call(step_s: float, call_s: float) -> None:
    """From step to step, so a coarse counter does not bend it."""
    counter = SteppingCounter(power_w=300.0, step_s=step_s)
    reading = measure_energy(counter, counter.work(call_s), call_s, counter.clock)
    assert isinstance(reading, EnergyReading)
    # The clock is looked at only between calls, so the last call may lie over a step.
    slack = max(0.06, min(step_s, call_s) / reading.block_s + 0.01)
    assert reading.energy_j == pytest.approx(300.0 * call_s, rel=slack)
    assert reading.block_s >= 0.2
    assert reading.scope == "a test"


def test_short_calls_are_not_watched_one_by_one() -> None:
    """A look at the counter between any two would leave the device idle."""
    counter = SteppingCounter(power_w=100.0, step_s=0.02)
    measure_energy(counter, counter.work(1e-5), 1e-5, counter.clock)
    assert set(counter.calls) == {1000}


def test_a_counter_that_stands_still_is_not_reported() -> None:
    """Never as 0 J."""
    counter = SteppingCounter(power_w=0.0, step_s=0.02)
    found = measure_energy(counter, counter.work(1e-3), 1e-3, counter.clock)
    assert found == NotReported("the energy counter did not move within 0.5 s")


def test_a_counter_that_goes_away_is_not_reported() -> None:
    """A lost driver ends the reading, not the run."""

    class Gone(SteppingCounter):
        def read_j(self) -> float:
            raise OSError("No such device")

    counter = Gone(power_w=1.0, step_s=0.02)
    found = measure_energy(counter, counter.work(1e-3), 1e-3, counter.clock)
    assert found == NotReported("the energy counter cannot be read: No such device")


# -- the CPU ------------------------------------------------------------------------------------


def make_package(root: Path, number: int, energy_uj: int, name: str = "package-0", range_uj: int = 1000) -> Path:
    """Write a RAPL domain as the kernel shows it."""
    folder = root / f"sys/class/powercap/intel-rapl:{number}"
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    (folder / "energy_uj").write_text(f"{energy_uj}\n")
    (folder / "max_energy_range_uj").write_text(f"{range_uj}\n")
    return folder


def test_every_package_is_counted_and_what_lies_inside_one_is_not(tmp_path: Path) -> None:
    """A core domain is part of its package."""
    first, second = make_package(tmp_path, 0, 100), make_package(tmp_path, 1, 200, "package-1")
    make_package(tmp_path, 2, 10_000, "core")
    counter = open_cpu_counter(tmp_path)
    assert not isinstance(counter, NotReported)
    (first / "energy_uj").write_text("150")
    (second / "energy_uj").write_text("275")
    assert counter.read_j() == pytest.approx(125e-6)


def test_a_counter_that_wraps_around_goes_on_rising(tmp_path: Path) -> None:
    """From 990 over 1,000 to 30 are 40 microjoules."""
    package = make_package(tmp_path, 0, 990)
    counter = open_cpu_counter(tmp_path)
    assert not isinstance(counter, NotReported)
    (package / "energy_uj").write_text("30")
    assert counter.read_j() == pytest.approx(40e-6)


def test_without_a_counter_the_cpu_says_so(tmp_path: Path) -> None:
    """As in most virtual machines."""
    assert open_cpu_counter(tmp_path) == NotReported(
        "the system shows no energy counter of the CPU (no RAPL package in /sys/class/powercap)"
    )


def test_a_counter_for_root_only_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's default since 2020."""
    make_package(tmp_path, 0, 100)
    real = Path.read_text

    def refuse(path: Path, *args: object, **options: object) -> str:
        if path.name == "energy_uj":
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "read_text", refuse)
    assert open_cpu_counter(tmp_path) == NotReported(
        "the CPU's energy counter may be read by root only (/sys/class/powercap/*/energy_uj)"
    )


def test_a_counter_with_nonsense_says_so(tmp_path: Path) -> None:
    """Not a number, no figure."""
    (make_package(tmp_path, 0, 100) / "energy_uj").write_text("many")
    found = open_cpu_counter(tmp_path)
    assert isinstance(found, NotReported)
    assert found.reason.startswith("the CPU's energy counter cannot be read: invalid literal")


# -- the GPU ------------------------------------------------------------------------------------


def make_driver(answer: object) -> SimpleNamespace:
    """Return an NVML of one GPU whose energy counter answers so (an exception is raised)."""

    def energy(handle: object) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    handles = {UUID: "handle"}
    return SimpleNamespace(
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByUUID=handles.__getitem__,
        nvmlDeviceGetTotalEnergyConsumption=energy,
    )


@pytest.mark.parametrize("uuid", [UUID, UUID.removeprefix("GPU-")], ids=["with prefix", "bare"])
def test_a_gpu_counts_millijoules(uuid: str) -> None:
    """Told in joules, of the card that was asked for."""
    counter = open_gpu_counter(uuid, make_driver(12_500))
    assert isinstance(counter, NvmlEnergyCounter)
    assert counter.read_j() == 12.5
    assert counter.scope == "the whole card, what it draws when idle included"


def test_a_gpu_without_a_counter_says_why() -> None:
    """Before Volta the driver refuses."""
    driver = make_driver(pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED))
    assert open_gpu_counter(UUID, driver) == NotReported("NVML: Not Supported")


def test_an_old_binding_says_so() -> None:
    """It does not know the call."""
    driver = make_driver(0)
    del driver.nvmlDeviceGetTotalEnergyConsumption
    found = open_gpu_counter(UUID, driver)
    assert isinstance(found, NotReported)
    assert found.reason.startswith("NVML binding: ")


def test_a_share_of_a_card_has_no_counter_of_its_own() -> None:
    """The card's would count the neighbours too."""
    assert open_gpu_counter("MIG-1234", make_driver(1)) == NotReported(
        "NVML counts the energy of the whole card, not of a MIG instance"
    )
