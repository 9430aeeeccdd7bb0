"""The proxy example as it ships, with this machine's ports and a certificate of its own."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e_net import free_port, wait_for_port
from e2e_server import ROOT

NGINX = os.environ.get("NGINX") or shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
EXAMPLE = ROOT / "deploy" / "nginx" / "gpuexplain.conf"


@contextmanager
def behind_nginx(app_port: int, folder: Path, port: int) -> Iterator[str]:
    """Run nginx with the example in front of an app that serves under /gpu; its address with the path."""
    folder.chmod(0o755)
    config = render(folder, app_port, port, free_port())
    checked = subprocess.run([NGINX, "-t", "-c", config], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    process = subprocess.Popen([NGINX, "-c", config], stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port)
        yield f"https://127.0.0.1:{port}/gpu"
    finally:
        process.terminate()
        process.wait(10)


def render(folder: Path, app_port: int, port: int, plain_port: int) -> Path:
    """Write the example with this machine's ports and certificate, inside the smallest nginx that runs it."""
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    subprocess.run([*make, "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True)
    text = EXAMPLE.read_text()
    changes = {
        r"listen 80;": f"listen 127.0.0.1:{plain_port};",
        r"listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        r"/etc/ssl/certs/gpu\.example\.org\.pem": str(folder / "cert.pem"),
        r"/etc/ssl/private/gpu\.example\.org\.key": str(folder / "key.pem"),
        r"127\.0\.0\.1:8501": f"127.0.0.1:{app_port}",
    }
    for pattern, here in changes.items():
        text, n_changed = re.subn(pattern, here, text)
        assert n_changed, f"the example has no {pattern} any more"
    (folder / "site.conf").write_text(text)
    scratch = "\n".join(
        f"{kind}_temp_path {folder / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = folder / "nginx.conf"
    main.write_text(
        f"daemon off; pid {folder / 'pid'}; error_log {folder / 'error.log'};\n"
        "events {}\n"
        f"http {{ access_log {folder / 'access.log'};\n{scratch}\ninclude {folder / 'site.conf'}; }}\n"
    )
    return main
