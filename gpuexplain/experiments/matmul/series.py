"""How this experiment's series look and what they are called."""

from gpuexplain.charts.theme import Entity, SeriesLook
from gpuexplain.experiments.matmul.spec import CPU, CPU_ONE_THREAD, GPU_CALL, GPU_DEVICE, GPU_WITH_TRANSFER

# In the order in which they are drawn: the last one lies on top.
LOOKS: dict[str, SeriesLook] = {
    CPU_ONE_THREAD: SeriesLook(
        Entity.CPU, "1 thread", "CPU", dash="dashdot", marker="triangle-down", width=1.4, marker_size=7
    ),
    GPU_DEVICE: SeriesLook(
        Entity.GPU,
        "device",
        "GPU, device time",
        dash="dashdot",
        marker="pentagon",
        width=1.4,
        marker_size=7,
    ),
    GPU_WITH_TRANSFER: SeriesLook(Entity.TRANSFER, "+ copies", "GPU with both copies"),
    CPU: SeriesLook(Entity.CPU, "CPU", "CPU"),
    GPU_CALL: SeriesLook(Entity.GPU, "GPU", "GPU"),
}
