"""What can a person do about each reason for having no GPU?"""

_CPU_GOES_ON = "Until then every experiment runs on the CPU."

# By the value of gpuexplain.hardware.ladder.Rung; a test keeps the two complete.
REMEDIES: dict[str, str] = {
    "no_driver": "If this machine has an NVIDIA GPU, install its driver (`nvidia-smi` must list the card); "
    "a virtual machine needs the card passed through, a container `--gpus all`. " + _CPU_GOES_ON,
    "no_device": "Check the card and its power, that no other system holds it (passthrough), "
    "and `dmesg | grep -i nvrm`. " + _CPU_GOES_ON,
    "other_vendor": "GPU measurements need an NVIDIA GPU (or, for AMD, a ROCm build of torch). " + _CPU_GOES_ON,
    "container_without_device": "Start the container with `--gpus all` (Docker, with the NVIDIA Container "
    "Toolkit), `--device nvidia.com/gpu=all` (Podman) or a `nvidia.com/gpu` limit (Kubernetes). " + _CPU_GOES_ON,
    "driver_broken": "After a driver update reboot (or reload the kernel module), then try `nvidia-smi`. "
    + _CPU_GOES_ON,
    "no_torch": "Install the locked requirements again: `pip install -r requirements.txt`.",
    "cpu_build": "Install a CUDA build of the same torch version (see pytorch.org/get-started/locally), "
    "then start the app again. " + _CPU_GOES_ON,
    "driver_too_old": "Update the NVIDIA driver, or install a torch built for an older CUDA "
    "(pytorch.org/get-started/previous-versions). " + _CPU_GOES_ON,
    "hidden": "Unset CUDA_VISIBLE_DEVICES, or name the GPU in it, and start the app again. " + _CPU_GOES_ON,
    "arch_not_in_wheel": "Install a torch whose wheel carries this architecture: an older release for an "
    "old card, a newer release or CUDA variant for a new one. " + _CPU_GOES_ON,
    "busy_exclusive": "Wait until the other process ends, or let an administrator allow sharing with "
    "`nvidia-smi -c DEFAULT`. " + _CPU_GOES_ON,
    "mig": "Create an instance (`nvidia-smi mig -cgi ... -C`) or name one in CUDA_VISIBLE_DEVICES by its "
    "MIG UUID (`nvidia-smi -L`). " + _CPU_GOES_ON,
    "out_of_memory": "Free memory on the GPU (`nvidia-smi` lists who holds it) and start the app again. "
    + _CPU_GOES_ON,
    "fabric_not_ready": "Start the NVLink fabric service that belongs to this driver "
    "(`systemctl start nvidia-fabricmanager`). " + _CPU_GOES_ON,
    "kernel_failed": "Run `nvidia-smi` and look for Xid errors in `dmesg`; a restart of the machine clears "
    "most of them. " + _CPU_GOES_ON,
}
