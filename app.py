"""The ASGI app: `streamlit run app.py` serves it. Everything it is made of lies in gpuexplain/ui."""

from gpuexplain.ui.process_setup import allow_many_handles, share_freed_memory

share_freed_memory()  # what is imported below starts threads
allow_many_handles()

from pathlib import Path  # noqa: E402

import streamlit as st  # noqa: E402

from gpuexplain.ui.headers import security_middleware  # noqa: E402
from gpuexplain.ui.health import health_routes  # noqa: E402
from gpuexplain.ui.lifespan import lifespan, stop_on_bad_settings  # noqa: E402
from gpuexplain.ui.login_config import stop_on_bad_login  # noqa: E402

stop_on_bad_settings()
stop_on_bad_login()

app = st.App(
    Path(__file__).resolve().parent / "gpuexplain" / "ui" / "router.py",
    lifespan=lifespan,
    routes=health_routes(),
    middleware=security_middleware(),
)
