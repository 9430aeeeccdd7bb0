"""What is an Arm processor called, when Linux prints only its numbers?

Source: MIDR_EL1 (Arm ARM, DDI 0487); implementer and part numbers as published by their makers and
printed by util-linux's lscpu.
"""

_IMPLEMENTERS = {
    0x41: "Arm",
    0x46: "Fujitsu",
    0x48: "HiSilicon",
    0x4E: "NVIDIA",
    0x51: "Qualcomm",
    0x61: "Apple",
    0x6D: "Microsoft",
    0xC0: "Ampere",
}
_ARM_PARTS = {
    0xD03: "Cortex-A53",
    0xD08: "Cortex-A72",
    0xD0B: "Cortex-A76",
    0xD0C: "Neoverse-N1",
    0xD40: "Neoverse-V1",
    0xD42: "Cortex-A78AE",
    0xD49: "Neoverse-N2",
    0xD4F: "Neoverse-V2",
    0xD84: "Neoverse-V3",
    0xD8E: "Neoverse-N3",
}


def name_arm_cpu(implementer: str | None, part: str | None) -> str | None:
    """Return ``Arm Neoverse-V2``, or the bare numbers where no name is known; None without numbers."""
    if not implementer or not part:
        return None
    try:
        maker, number = int(implementer, 16), int(part, 16)
    except ValueError:
        return None
    name = _ARM_PARTS.get(number) if maker == 0x41 else None
    return f"{_IMPLEMENTERS.get(maker, f'implementer {implementer}')} {name or f'part {part}'}"
