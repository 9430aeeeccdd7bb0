"""The frame of every page: title, navigation, style, and this machine at the end of the sidebar."""

from pathlib import Path

import streamlit as st

from gpuexplain.ui.pages import PAGES
from gpuexplain.ui.sidebar import show_sidebar
from gpuexplain.ui.style import apply_style

st.set_page_config(
    page_title="GPU Explain",
    page_icon=str(Path(__file__).parent / "static" / "favicon.svg"),
    layout="wide",
    initial_sidebar_state="auto",
)
groups: dict[str, list[st.Page]] = {}
for spec in PAGES:
    page = st.Page(
        spec.script,
        title=spec.title,
        icon=spec.icon,
        url_path=spec.url_path or None,
        default=spec.is_default,
    )
    groups.setdefault(spec.group, []).append(page)
current = st.navigation(groups)
apply_style()
show_sidebar()
current.run()
