"""What this machine is: plain, frozen facts, each "not reported" with its reason when unknown."""

from pydantic import BaseModel, ConfigDict, Field


class _Facts(BaseModel):
    """``None`` means "not reported"; ``not_reported`` gives the reason by field name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    not_reported: dict[str, str] = Field(default_factory=dict)


class Cpu(_Facts):
    """The processor as this process may use it."""

    model: str | None = None
    architecture: str  # as the kernel names it: x86_64, aarch64
    logical_cpus: int  # in the whole machine
    affinity_cpus: int  # this process may run on
    quota_cpus: float | None = None  # cgroup quota in CPUs; None without one
    usable_threads: int  # min(affinity, floor of the quota), at least 1
    units: tuple[str, ...] = ()  # vector and matrix units that matter: AVX2, AVX-512, AMX-BF16, NEON, SVE
    last_level_cache_bytes: int | None = None
    max_mhz: float | None = None


class Memory(_Facts):
    """System memory."""

    total_bytes: int
    available_bytes: int
    cgroup_limit_bytes: int | None = None  # None without a limit
    cgroup_free_bytes: int | None = None  # what is left under the tightest limit; None without one

    @property
    def usable_bytes(self) -> int:
        """What a measurement may count on at most."""
        limits = (self.cgroup_limit_bytes, self.cgroup_free_bytes)
        return min([self.available_bytes, *(limit for limit in limits if limit is not None)])


class Platform(_Facts):
    """Operating system and what surrounds it."""

    hostname: str
    machine_id: str  # stable, anonymous (hashed), never shown
    system: str  # "Debian GNU/Linux 12 (bookworm)"
    kernel: str
    python: str
    container: str | None = None  # docker, podman, lxc, kubernetes, ...
    virtual_machine: str | None = None
    wsl: bool = False


class GpuProblem(BaseModel):
    """Why no GPU (or this one) can be used, and what a person can do."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rung: str  # one of gpuexplain.hardware.ladder.Rung, as text
    explanation: str
    remedy: str


class Gpu(_Facts):
    """One GPU as the driver reports it, and as torch sees it (matched by UUID, never by index)."""

    name: str
    uuid: str
    nvml_index: int | None = None
    pci_bus_id: str | None = None
    memory_total_bytes: int | None = None
    memory_free_bytes: int | None = None
    compute_capability: str | None = None  # "8.9"
    multiprocessors: int | None = None
    mig_enabled: bool | None = None
    mig_uuid: str | None = None
    exclusive_mode: bool | None = None
    pcie_generation: int | None = None  # now; an idle link reports 1
    pcie_generation_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    power_limit_w: float | None = None
    temperature_c: float | None = None
    sm_clock_max_mhz: float | None = None
    compute_processes: int | None = None  # of others, on this GPU
    torch_device: str | None = None  # "cuda:0" once torch has run a kernel on it
    problem: GpuProblem | None = None  # why torch cannot use this one, once torch was asked


class GpuTraces(_Facts):
    """What the operating system shows of GPUs without asking a driver."""

    driver_module: str | None = None  # version of the loaded NVIDIA kernel module
    device_files: bool = False  # whether this process sees /dev/nvidia0 or its like
    vendors: tuple[str, ...] = ()  # of the graphics devices on the bus: "NVIDIA", "AMD", "Intel", "Apple"


class TorchDevice(BaseModel):
    """One CUDA device as torch sees it, and whether a real kernel ran on it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    device: str  # "cuda:0"
    name: str
    uuid: str
    compute_capability: str
    total_bytes: int
    multiprocessors: int
    kernel_ran: bool
    kernel_error: str = ""
    bf16_native: bool | None = None


class TorchProbe(BaseModel):
    """What torch says from inside the worker (the only process that loads it)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    cuda_build: str | None = None  # CUDA version of the wheel; None for a CPU build
    rocm_build: str | None = None  # ROCm version of an AMD wheel
    arch_list: tuple[str, ...] = ()
    is_available: bool = False
    threads: int = 1  # read back inside the worker
    flush_denormals: bool = False
    devices: tuple[TorchDevice, ...] = ()
    error: str = ""  # what asking for CUDA raised, if anything


class Machine(BaseModel):
    """Everything ``doctor`` shows about this machine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cpu: Cpu
    memory: Memory
    platform: Platform
    gpus: tuple[Gpu, ...] = ()
    driver_version: str | None = None
    cuda_driver_version: str | None = None  # newest CUDA that the driver serves: "12.4"
    nvml_error: str = ""  # why the driver could not be asked, in its words
    traces: GpuTraces = GpuTraces()
    torch_version: str | None = None  # of the installed package, read without importing it
    torch: TorchProbe | None = None  # from the worker, once it ran
    gpu_problem: GpuProblem | None = None
    environment_overrides: dict[str, str] = Field(default_factory=dict)  # variables that change results
    cpu_offered: bool = True  # False where the operator offers GPUs only

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that can measure, CPU first, as torch names them."""
        cpu = ("cpu",) if self.cpu_offered else ()
        return (*cpu, *(g.torch_device for g in self.gpus if g.torch_device))

    def gpu(self, device: str) -> Gpu | None:
        """Return the GPU that torch calls ``device``, if there is one."""
        return next((g for g in self.gpus if g.torch_device == device), None)

    def device_name(self, device: str) -> str:
        """Return what a person calls ``device``."""
        gpu = self.gpu(device)
        return gpu.name if gpu else (self.cpu.model or "CPU")
