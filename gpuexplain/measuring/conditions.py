"""What else went on while each case was sampled: windows of the run, and who sampled in which."""

from collections import Counter, defaultdict
from collections.abc import Callable
from statistics import fmean, median

from gpuexplain.hardware.gpu_conditions import sample_gpu_conditions
from gpuexplain.hardware.host_load import HostReading, read_host, tell_load_between, trusted_interval_s
from gpuexplain.model import Case, Conditions, Flag

# Others (and our own app) may take this much of one core before a point is marked.
UNDER_LOAD_CORES = 0.10
# A window must be long enough for the kernel's 10 ms ticks to mean something; see host_load.
SHORTEST_WINDOW_S = 1.0
# Reasons that say "slower than this part should be". The power limit is not among them: a card that
# runs at its limit does what it was built for, and the conditions show it.
SLOWED_WORDS = ("hardware slowdown", "too hot", "external power brake")

_MEAN = ("other_cpu_cores", "steal_share")
_TOTAL = ("quota_throttled_s", "involuntary_switches")
_MEDIAN = (
    "sm_clock_mhz",
    "memory_clock_mhz",
    "power_w",
    "power_limit_w",
    "temperature_c",
    "pcie_generation",
    "pcie_width",
    "gpu_utilisation",
)


class NoConditions:
    """For tests and for cases where nothing is watched."""

    def start(self) -> None:
        """Begin."""

    def note(self, case: Case) -> None:
        """Take note that a case was sampled just now."""

    def finish(self) -> None:
        """Close the last window."""

    def of(self, case: Case) -> Conditions | None:  # noqa: ARG002
        """Return the conditions of a case."""
        return None

    def flags(self, case: Case) -> tuple[Flag, ...]:  # noqa: ARG002
        """Return the flags that the conditions of a case call for."""
        return ()


class ConditionsMonitor(NoConditions):
    """Watches the host, and the GPUs by UUID, in windows of about a second."""

    def __init__(
        self,
        gpu_uuids: dict[str, str] | None = None,
        *,
        read: Callable[[], HostReading] = read_host,
        sample_gpu: Callable[[str], Conditions] = sample_gpu_conditions,
    ) -> None:
        self._gpu_uuids = gpu_uuids or {}
        self._read = read
        self._sample_gpu = sample_gpu
        self._opened = read()
        self._window_s = max(SHORTEST_WINDOW_S, trusted_interval_s(self._opened.n_cpus))
        self._host: list[Conditions] = []
        self._gpu: dict[str, list[Conditions]] = defaultdict(list)
        self._sampled: dict[str, Counter[int]] = defaultdict(Counter)  # case id -> window -> samples
        self._notes_since_look = 0

    def start(self) -> None:
        """Begin the first window now."""
        self._opened = self._read()

    def note(self, case: Case) -> None:
        """Take note that a case was sampled just now; closes the window when it is long enough."""
        self._sampled[case.id][len(self._host)] += 1
        reading = self._read_if_due()
        if reading is not None:
            self._close(reading)

    def _read_if_due(self) -> HostReading | None:
        # Reading costs three small files (0.1 ms): look only every few notes.
        self._notes_since_look += 1
        if self._notes_since_look < 4 and self._host:
            return None
        self._notes_since_look = 0
        reading = self._read()
        return reading if reading.at_s - self._opened.at_s >= self._window_s else None

    def _close(self, reading: HostReading) -> None:
        self._host.append(tell_load_between(self._opened, reading))
        for device, uuid in self._gpu_uuids.items():
            self._gpu[device].append(self._sample_gpu(uuid))
        self._opened = reading

    def finish(self) -> None:
        """Close the last window; one too short to trust joins the window before it."""
        reading = self._read()
        if not self._host or reading.at_s - self._opened.at_s >= self._window_s:
            self._close(reading)

    def of(self, case: Case) -> Conditions | None:
        """Return the conditions of a case, weighted by where its samples fell; None before any window."""
        if not self._host:
            return None
        weights: Counter[int] = Counter()
        for window, n_samples in self._sampled[case.id].items():
            weights[min(window, len(self._host) - 1)] += n_samples
        if not weights:
            return None
        host = [self._host[window] for window in weights]
        gpu = [self._gpu[case.device][window] for window in weights] if case.device in self._gpu_uuids else []
        return _merge(host, gpu, list(weights.values()))

    def flags(self, case: Case) -> tuple[Flag, ...]:
        """Return ``under_load`` and ``throttled`` where the conditions call for them."""
        conditions = self.of(case)
        if conditions is None:
            return ()
        found = []
        if (conditions.other_cpu_cores or 0.0) > UNDER_LOAD_CORES or conditions.other_gpu_processes:
            found.append(Flag.UNDER_LOAD)
        slowed = any(word in reason for reason in conditions.throttle_reasons for word in SLOWED_WORDS)
        if slowed or (case.device == "cpu" and (conditions.quota_throttled_s or 0.0) > 0):
            found.append(Flag.THROTTLED)
        return tuple(found)


def _merge(host: list[Conditions], gpu: list[Conditions], weights: list[int]) -> Conditions:
    fields: dict[str, object] = {}
    for name in _MEAN:
        known = [(v, w) for c, w in zip(host, weights, strict=True) if (v := getattr(c, name)) is not None]
        if known:
            fields[name] = fmean([v for v, _ in known], weights=[w for _, w in known])
    for name in _TOTAL:
        totals = [v for c in host if (v := getattr(c, name)) is not None]
        if totals:
            fields[name] = type(totals[0])(sum(totals))
    for name in _MEDIAN:
        values = [v for c in gpu if (v := getattr(c, name)) is not None]
        if values:
            fields[name] = int(median(values)) if name.startswith("pcie") else float(median(values))
    others = [c.other_gpu_processes for c in gpu if c.other_gpu_processes is not None]
    if others:
        fields["other_gpu_processes"] = max(others)
    fields["throttle_reasons"] = tuple(sorted({reason for c in gpu for reason in c.throttle_reasons}))
    reasons = {name: why for c in [*host, *gpu] for name, why in c.not_reported.items() if name not in fields}
    return Conditions.model_validate({**fields, "not_reported": reasons})
