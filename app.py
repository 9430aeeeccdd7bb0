"""The ASGI app: `streamlit run app.py` serves it. Everything it is made of lies in gpuexplain/ui."""

from pathlib import Path

import streamlit as st

from gpuexplain.ui.headers import security_middleware
from gpuexplain.ui.health import health_routes
from gpuexplain.ui.lifespan import lifespan, stop_on_bad_settings
from gpuexplain.ui.login_config import stop_on_bad_login

stop_on_bad_settings()
stop_on_bad_login()

app = st.App(
    Path(__file__).resolve().parent / "gpuexplain" / "ui" / "router.py",
    lifespan=lifespan,
    routes=health_routes(),
    middleware=security_middleware(),
)
