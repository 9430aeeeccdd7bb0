"""How the server's process holds memory and handles, each in a process of its own."""

import json
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mallopt and its arenas are glibc's")


def run(code: str) -> dict[str, int]:
    """Return what a fresh interpreter printed as JSON."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    found: dict[str, int] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("shared", [True, False])
def test_threads_share_what_others_have_freed(shared: bool) -> None:
    """Two arenas for twelve threads at once; without it, glibc gives them more."""
    found = run(f"""
        import ctypes, json, tempfile, threading
        from gpuexplain.ui.process_setup import share_freed_memory
        if {shared}:
            share_freed_memory()
        libc = ctypes.CDLL(None)
        libc.fopen.restype = ctypes.c_void_p
        gate = threading.Barrier(13)
        def work():
            kept = [bytes(1000) for _ in range(1000)]
            gate.wait()
        threads = [threading.Thread(target=work) for _ in range(12)]
        for thread in threads:
            thread.start()
        gate.wait()
        with tempfile.NamedTemporaryFile() as file:
            stream = ctypes.c_void_p(libc.fopen(file.name.encode(), b"w"))
            libc.malloc_info(0, stream)
            libc.fclose(stream)
            print(json.dumps(dict(arenas=file.read().count(b"<heap nr="))))
    """)
    assert found["arenas"] == 2 if shared else found["arenas"] > 2


@pytest.mark.parametrize(("soft", "hard", "then"), [(256, 4096, 1000), (256, 512, 512), (2048, 4096, 2048)])
def test_handles_are_allowed_as_far_as_the_system_lets_us(soft: int, hard: int, then: int) -> None:
    """Up to what is wanted, never above the hard limit, never less than before."""
    found = run(f"""
        import json, resource
        from gpuexplain.ui.process_setup import allow_many_handles
        resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
        told = allow_many_handles(1000)
        print(json.dumps(dict(told=told, now=resource.getrlimit(resource.RLIMIT_NOFILE)[0])))
    """)
    assert found == {"told": then, "now": then}
