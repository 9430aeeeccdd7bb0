"""What happens when the server starts and when it ends."""

import gc
import importlib
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio.to_thread
import streamlit as st
from streamlit import config

from gpuexplain import __version__
from gpuexplain.errors import GpuExplainError, StoreError
from gpuexplain.logs import configure_logging, log_event
from gpuexplain.measuring.memory import return_freed_memory
from gpuexplain.settings import load_settings
from gpuexplain.ui import engine_access as access

LOG = logging.getLogger("gpuexplain.app")

STORE_RETRY_S = 5.0
# Takes milliseconds; without it, freed memory piles up behind what is still in use.
GIVE_BACK_S = 60.0
# The engine starts in milliseconds; a store that another process keeps busy must not delay the pages.
FIRST_START_S = 2.0
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


def limit_uploads(most_mb: int) -> None:
    """Let Streamlit refuse larger files while they come in; its own option may not be set from a page."""
    config.set_option("server.maxUploadSize", most_mb, "GPUEXPLAIN_MAX_UPLOAD_MB")


def warm_up() -> None:
    """Load what pages need, look at the machine and the store, and take it all out of garbage collection."""
    for name in _WARM_IMPORTS:
        importlib.import_module(name)
    with suppress(StoreError):  # a damaged store was replaced, and said so; or there is none yet
        access.get_machine()
        access.get_store().check_sound()
    gc.collect()
    gc.freeze()


def start_engine(is_stopping: threading.Event) -> None:
    """Start the engine as soon as its store can be opened; until then pages say what is wrong."""
    is_told = False
    while not is_stopping.is_set():
        try:
            access.get_runner().start()
        except StoreError as error:
            if not is_told:
                log_event(LOG, logging.ERROR, "no_store", problem=str(error))
            is_told = True
            is_stopping.wait(STORE_RETRY_S)
        else:
            return


def give_back_regularly(is_stopping: threading.Event) -> None:
    """Return freed memory to the system every ``GIVE_BACK_S``."""
    while not is_stopping.wait(GIVE_BACK_S):
        return_freed_memory()


def say_address() -> None:
    """Tell on the terminal, or in the log, where the app can be opened."""
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    address, port = st.get_option("server.address") or "0.0.0.0", st.get_option("server.port")  # noqa: S104
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    sys.stderr.write(f"GPU Explain: {scheme}://{address}:{port}/{base}\n")


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[dict[str, Any]]:
    """Start the engine and warm the imports in the background; stop the engine at the end."""
    settings, is_stopping = load_settings(), threading.Event()
    configure_logging(settings.log_level or "info", settings.log_format)
    limit_uploads(settings.max_upload_mb)
    log_event(LOG, logging.INFO, "app_started", version=__version__, pid=os.getpid())
    starter = threading.Thread(target=start_engine, args=(is_stopping,), name="engine-start", daemon=True)
    starter.start()
    await anyio.to_thread.run_sync(starter.join, FIRST_START_S)
    threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
    threading.Thread(target=give_back_regularly, args=(is_stopping,), name="give-back", daemon=True).start()
    say_address()
    try:
        yield {}
    finally:
        is_stopping.set()
        await anyio.to_thread.run_sync(starter.join)
        await anyio.to_thread.run_sync(_stop_engine)
        log_event(LOG, logging.INFO, "app_stopped")


def _stop_engine() -> None:
    with suppress(StoreError):  # without a store there is no engine
        access.get_runner().stop()
