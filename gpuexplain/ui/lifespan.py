"""What happens when the server starts and when it ends."""

import gc
import importlib
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
import streamlit as st

from gpuexplain.errors import GpuExplainError
from gpuexplain.settings import load_settings
from gpuexplain.ui import engine_access as access

# What the first page would otherwise wait for.
_WARM_IMPORTS = (
    "pandas",
    "pyarrow",
    "plotly.graph_objects",
    "plotly.io",
    "streamlit.elements.plotly_chart",
    "gpuexplain.registry",
    "gpuexplain.ui.pages",
)


def stop_on_bad_settings() -> None:
    """End the process with a clear text when a ``GPUEXPLAIN_*`` variable cannot be used."""
    try:
        load_settings()
    except GpuExplainError as error:
        sys.stderr.write(f"GPU Explain cannot start.\n{error}\n")
        raise SystemExit(2) from None


def warm_up() -> None:
    """Load what pages need, look at the machine, and take all of it out of garbage collection."""
    for name in _WARM_IMPORTS:
        importlib.import_module(name)
    access.get_machine()
    gc.collect()
    gc.freeze()


def say_address() -> None:
    """Tell on the terminal, or in the log, where the app can be opened."""
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    address, port = st.get_option("server.address") or "0.0.0.0", st.get_option("server.port")  # noqa: S104
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    sys.stderr.write(f"GPU Explain: {scheme}://{address}:{port}/{base}\n")


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[dict[str, Any]]:
    """Start the engine and warm the imports in the background; stop the engine at the end."""
    runner = access.get_runner()
    await anyio.to_thread.run_sync(runner.start)
    threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
    say_address()
    try:
        yield {}
    finally:
        await anyio.to_thread.run_sync(runner.stop)
