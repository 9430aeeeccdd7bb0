"""Do the steps of the Dockerfile work? Runs them in a bare Debian where no Docker is at hand, and serves the app.

    sudo python3 deploy/try_in_clean_root.py [--keep DIR] [--share DIR]...

It needs Linux, root, debootstrap and about 4 GB. A bare Debian 12 with Python 3.11 stands for the Python image; every
other step is read from the Dockerfile. The app is then started as the container would be: the Dockerfile's user and
command, without privileges, its files read-only, in a network of its own. ``--share`` shows a folder of the host in
there (package files for pip), ``--keep`` builds in a folder that stays.
"""

import argparse
import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PATH = "/opt/python/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PACKAGES = "python3,python3-venv,ca-certificates"
_START_S = 90.0


@dataclass
class Image:
    """What the steps leave behind beside files."""

    root: Path
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": _PATH})
    folder: str = "/"
    user: str = "0"
    volumes: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)


def read_steps(text: str) -> Iterator[tuple[str, str]]:
    """Yield (instruction, the rest) of a Dockerfile, continued lines joined, comments left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for step in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        if step.strip():
            word, _, rest = step.strip().partition(" ")
            yield word.upper(), rest.strip()


def take_step(image: Image, word: str, rest: str) -> None:
    """Do one step; an instruction that is not known here is an error, never skipped."""
    if word == "RUN":
        run_in(image, ["sh", "-ec", rest], settings_of_pip())
    elif word == "COPY":
        *sources, target = shlex.split(rest)
        copy(image, sources, target)
    elif word == "ENV":
        image.environment |= dict(pair.split("=", 1) for pair in shlex.split(rest))
    elif word == "WORKDIR":
        image.folder = rest
        (image.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
    elif word == "USER":
        image.user = rest
    elif word == "VOLUME":
        image.volumes = json.loads(rest)
    elif word == "CMD":
        image.command = json.loads(rest)
    elif word == "HEALTHCHECK":
        image.health = json.loads(rest[rest.index("CMD ") + 4 :])
    elif word not in ("FROM", "ARG", "EXPOSE", "STOPSIGNAL"):
        raise SystemExit(f"This script does not know the instruction {word}.")


def copy(image: Image, sources: Sequence[str], target: str) -> None:
    """Copy what .dockerignore lets through."""
    into = image.root / image.folder.lstrip("/") / target
    for source in sources:
        for path in sorted(p for p in files_under(ROOT / source) if is_in_context(p.relative_to(ROOT))):
            inside = path.relative_to(ROOT / source) if (ROOT / source).is_dir() else Path(path.name)
            place = into / inside if (ROOT / source).is_dir() or target.endswith("/") else into
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)


def files_under(path: Path) -> list[Path]:
    """Return a file, or all files in a folder.

    Raises:
        FileNotFoundError: If it is not there: Docker would stop, too.
    """
    if not path.exists():
        raise FileNotFoundError(path)
    return [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]


def is_in_context(path: Path) -> bool:
    """Whether .dockerignore lets a file through; the last line that matches decides."""
    ignored = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split():
        pattern = line.removeprefix("!")
        names = [str(path), *(str(parent) for parent in path.parents if str(parent) != ".")]
        last = pattern.removeprefix("**/")
        found = any(fnmatch.fnmatch(n if last == pattern else n.rpartition("/")[2], last) for n in names)
        ignored = ignored if not found else not line.startswith("!")
    return not ignored


def settings_of_pip() -> dict[str, str]:
    """Return the host's settings of pip, so that packages come from the same place as outside."""
    return {name: text for name, text in os.environ.items() if name.startswith("PIP_")}


def run_in(image: Image, command: Sequence[str], more: Mapping[str, str] | None = None) -> None:
    """Run a command as root in the image's root."""
    settings = [f"{name}={text}" for name, text in {**image.environment, **(more or {})}.items()]
    inside = f'cd {shlex.quote(image.folder)} && exec "$@"'
    subprocess.run(["chroot", image.root, "env", "-i", *settings, "sh", "-c", inside, "sh", *command], check=True)


def make_bare_root(root: Path, shared: Sequence[str]) -> None:
    """Install Debian and Python, and mount what every process expects."""
    if not (root / "usr/bin/python3").exists():
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={_PACKAGES}", "bookworm", root], check=True)
    for name in ("etc/resolv.conf", "etc/pip.conf", "etc/ssl/certs/ca-certificates.crt"):
        if Path("/", name).exists():
            shutil.copy(Path("/", name), root / name)
    for name in ("proc", "dev", *(path.strip("/") for path in shared)):
        (root / name).mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--rbind", f"/{name}", root / name], check=True)
    if not (root / "opt/python").exists():
        run_in(Image(root), ["python3", "-m", "venv", "/opt/python"])


def build(root: Path, shared: Sequence[str]) -> Image:
    """Run every step of the Dockerfile."""
    if (root / "srv/gpuexplain").exists():
        raise SystemExit(f"{root} was built before. Name an empty folder: the steps start from a bare system.")
    make_bare_root(root, shared)
    image = Image(root)
    for word, rest in read_steps((ROOT / "Dockerfile").read_text(encoding="utf-8")):
        print(f"--- {word} {rest}", flush=True)
        take_step(image, word, rest)
    return image


@contextmanager
def serving(image: Image) -> Iterator[subprocess.Popen[bytes]]:
    """Start the image's command as its user: no privileges, read-only files except volumes and scratch space."""
    make_read_only(image)
    process = subprocess.Popen(as_user(image, image.command))
    try:
        yield process
    finally:
        process.terminate()
        print(f"ended by SIGTERM with status {process.wait(30)}")


def make_read_only(image: Image) -> None:
    """Leave nothing to write to but the volumes and scratch space, as deploy/compose.yaml does."""
    steps = [["--rbind", image.root, image.root], ["-o", "remount,bind,ro", image.root]]
    for folder in image.volumes:
        place = image.root / folder.lstrip("/")
        steps += [["--bind", place, place], ["-o", "remount,bind,rw", place]]
    for folder in ("tmp", "home/gpuexplain"):
        steps += [["-t", "tmpfs", "-o", "mode=1777", "tmpfs", image.root / folder]]
    for step in steps:
        subprocess.run(["mount", *step], check=True)


def as_user(image: Image, command: Sequence[str]) -> list[str]:
    """Return a command that runs in the image as its user."""
    settings = [f"{name}={text}" for name, text in {**image.environment, "HOME": "/home/gpuexplain"}.items()]
    user = ["setpriv", f"--reuid={image.user}", f"--regid={image.user}", "--clear-groups", "--no-new-privs"]
    inside = f'cd {shlex.quote(image.folder)} && exec "$@"'
    limits = [*user, "--bounding-set=-all", "env", "-i", *settings, "sh", "-c", inside, "sh"]
    return ["chroot", str(image.root), *limits, *command]


def serve(image: Image, minutes: float) -> None:
    """Start the app, wait for its own health check, look at it, measure once, and end it."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with serving(image) as process:
        give_up = time.monotonic() + _START_S
        while subprocess.run(as_user(image, image.health), stdout=subprocess.DEVNULL).returncode:
            if process.poll() is not None or time.monotonic() > give_up:
                raise SystemExit("The app did not become ready.")
            time.sleep(1)
        print("--- HEALTHCHECK", flush=True)
        subprocess.run(as_user(image, image.health), check=True)
        subprocess.run(as_user(image, ["python", "-c", _LOOK]), check=True)
        if minutes:
            print(f"serving for {minutes:g} minutes: nsenter --net --target {process.pid} ...", flush=True)
            time.sleep(minutes * 60)
        subprocess.run(as_user(image, ["python", "-m", "gpuexplain", "run", "matmul", *_QUICK]), check=True)


_QUICK = ["--budget", "3", "--set", "largest_side=128"]
# Run inside, as the user.
_LOOK = """
import os, pathlib, urllib.request
print("user", os.getuid(), "groups", os.getgroups())
for line in pathlib.Path("/proc/self/status").read_text().splitlines():
    if line.startswith(("CapEff", "CapBnd", "NoNewPrivs")):
        print(line)
for folder in ("/srv/gpuexplain", "/data", "/lock"):
    print(folder, "writable" if os.access(folder, os.W_OK) else "read-only")
for path in ("/", "/matmul", "/api/live", "/api/ready", "/_stcore/health"):
    with urllib.request.urlopen("http://127.0.0.1:8501" + path) as answer:
        text = answer.read()
        policy = "script-src 'self'" in answer.headers["content-security-policy"]
        print(path, answer.status, len(text), "bytes", "with" if policy else "WITHOUT", "our policy", text[:40])
"""


def main() -> None:
    """Build, then serve in a network of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="build here, and leave it")
    parser.add_argument("--share", action="append", default=[], help="a folder of the host to show in there")
    parser.add_argument("--minutes", type=float, default=0, help="keep serving, to look at it")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    root = (options.keep or Path(tempfile.mkdtemp(prefix="clean-root-"))).resolve()
    if options.inside:
        image = build(root, options.share)
        unshare_network()
        serve(image, options.minutes)
        return
    # Mounts and processes end with this namespace, whatever happens.
    arguments = [*sys.argv[1:], "--inside", "--keep", root]
    status = subprocess.call(["unshare", "--mount", "--fork", "--kill-child", sys.executable, __file__, *arguments])
    if not options.keep:
        subprocess.run(["rm", "-rf", "--one-file-system", root], check=False)
    sys.exit(status)


def unshare_network() -> None:
    """Give this process a network of its own, as a container has (Python has a call for it from 3.12 on)."""
    import ctypes

    if ctypes.CDLL(None, use_errno=True).unshare(0x40000000):
        raise OSError(ctypes.get_errno(), "unshare")


if __name__ == "__main__":
    main()
