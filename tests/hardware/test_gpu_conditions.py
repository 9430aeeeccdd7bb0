"""The state of a GPU while it works."""

import pytest
from hardware_fakes import MIG_UUIDS, UUID, FakeGpu, FakeNvml

from gpuexplain.hardware import gpu_processes
from gpuexplain.hardware.gpu_conditions import merge_conditions, sample_gpu_conditions, tell_throttle_reasons
from gpuexplain.model import Conditions


@pytest.fixture(autouse=True)
def _host_namespace(monkeypatch):
    monkeypatch.setattr(gpu_processes, "in_pid_namespace", lambda root: False)


@pytest.mark.parametrize("uuid", [UUID, UUID.removeprefix("GPU-")])
def test_a_working_gpu_reports_every_condition(uuid):
    """NVML is opened once, however often it is asked."""
    driver = FakeNvml([FakeGpu(event_reasons=0x004)])
    sample_gpu_conditions(uuid, driver)
    assert sample_gpu_conditions(uuid, driver) == Conditions(
        sm_clock_mhz=1275,
        memory_clock_mhz=1593,
        power_w=390.5,
        power_limit_w=400,
        temperature_c=55,
        throttle_reasons=("power limit reached",),
        pcie_generation=1,
        pcie_width=16,
        other_gpu_processes=0,
        gpu_utilisation=0.87,
    )
    assert driver.inits == 1


def test_a_refused_condition_says_why():
    """A laptop GPU may not tell its power; the rest stays."""
    driver = FakeNvml([FakeGpu(refuses={"PowerUsage", "Pcie"})])
    conditions = sample_gpu_conditions(UUID, driver)
    assert (conditions.power_w, conditions.pcie_generation, conditions.sm_clock_mhz) == (None, None, 1275)
    assert conditions.not_reported == {
        "power_w": "NVML: Not Supported",
        "pcie_generation": "NVML: Not Supported",
        "pcie_width": "NVML: Not Supported",
    }


def test_an_older_driver_tells_its_reasons_by_the_older_name():
    """Before 2023 the call was named after throttling."""
    driver = FakeNvml([FakeGpu(event_reasons=0x020, refuses={"EventReasons"})])
    conditions = sample_gpu_conditions(UUID, driver)
    assert conditions.throttle_reasons == ("too hot (slowed by the driver)",)
    assert conditions.not_reported == {}


def test_unknown_reasons_are_not_no_reasons():
    """Where neither call works, the field is not reported."""
    driver = FakeNvml([FakeGpu(refuses={"EventReasons", "ThrottleReasons"})])
    assert sample_gpu_conditions(UUID, driver).not_reported == {"throttle_reasons": "NVML: Not Supported"}


def test_an_instance_takes_clocks_and_power_from_its_parent():
    """An instance has no clock of its own."""
    driver = FakeNvml([FakeGpu(mig=True, instances=list(MIG_UUIDS))])
    assert sample_gpu_conditions(MIG_UUIDS[0], driver).sm_clock_mhz == 1275


@pytest.mark.parametrize(
    ("driver", "reason"),
    [
        (FakeNvml(init_error=12), "NVML: NVML Shared Library Not Found"),
        (FakeNvml([FakeGpu(uuid="GPU-other")]), "NVML: Not Found"),
    ],
    ids=["no driver", "unknown uuid"],
)
def test_without_the_gpu_every_field_says_why(driver, reason):
    """Sampling never raises in the middle of a run."""
    conditions = sample_gpu_conditions(UUID, driver)
    assert set(conditions.not_reported.values()) == {reason}
    assert len(conditions.not_reported) == 10


@pytest.mark.parametrize(
    ("bits", "words"),
    [
        (0, ()),
        (0x001, ()),
        (0x004 | 0x040, ("power limit reached", "too hot (slowed by the hardware)")),
        (0x8000, ("unknown reason 0x8000",)),
    ],
    ids=["none", "idle", "two", "unknown"],
)
def test_throttle_reasons_are_words(bits, words):
    """Idle is no throttling."""
    assert tell_throttle_reasons(bits) == words


def test_merging_keeps_what_either_part_knows():
    """A reason falls away once the fact is known."""
    cpu = Conditions(other_cpu_cores=0.1, not_reported={"steal_share": "too short", "power_w": "not asked"})
    gpu = Conditions(power_w=300, throttle_reasons=("power limit reached",))
    assert merge_conditions(cpu, gpu) == Conditions(
        other_cpu_cores=0.1,
        power_w=300,
        throttle_reasons=("power limit reached",),
        not_reported={"steal_share": "too short"},
    )
