"""The foot of a page: where to go from here, and the switch for showing it to an audience."""

import streamlit as st

from gpuexplain.ui.pages import lab_page, next_lab
from gpuexplain.ui.story import why_next


def show_next(page_name: str) -> None:
    """Write the next page and why it comes next, the pages that help with every other one, and the switch."""
    following = next_lab(page_name)
    with st.container(horizontal=True, key="lab-next"):
        if following is not None:
            st.page_link(following.script, label=f"Next: {following.title}", icon=following.icon)
            st.caption(why_next(following.name))
        for name in ("home", "glossary", "method"):
            page = lab_page(name)
            if page is not None and page != following:
                st.page_link(page.script, label=page.title, icon=page.icon)
        st.toggle("Presenter mode", key="present", bind="query-params")
