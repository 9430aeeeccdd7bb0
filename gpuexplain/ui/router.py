"""The frame of every page: title, navigation, style, and this machine at the end of the sidebar."""

from pathlib import Path

import streamlit as st

from gpuexplain.ui.login_page import show_login, show_who, who_is_here
from gpuexplain.ui.login_rules import Person, Refusal
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
somebody = who_is_here()
# Strangers keep the address they asked for, and see nothing else of the app.
current = st.navigation(groups, position="hidden" if isinstance(somebody, Refusal) else "sidebar", expanded=True)
apply_style()
if isinstance(somebody, Refusal):
    show_login(somebody)
    st.stop()
show_sidebar()
if isinstance(somebody, Person):
    show_who(somebody)
current.run()
