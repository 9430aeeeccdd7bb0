"""Boxes that tell what went wrong, or what to know. Their words may come from elsewhere: nothing in them is markup."""

import streamlit as st

from gpuexplain.ui.rich_text import plain_markdown


def show_error(text: object, icon: str | None = None) -> None:
    """Write what failed and what to do."""
    st.error(plain_markdown(str(text)), icon=icon)


def show_warning(text: object, icon: str | None = None) -> None:
    """Write what to be careful with."""
    st.warning(plain_markdown(str(text)), icon=icon)


def show_info(text: object, icon: str | None = None, *, lead: str = "") -> None:
    """Write what to know; ``lead``, words of our own, stands before it in bold."""
    opening = f"**{lead}** " if lead else ""
    st.info(opening + plain_markdown(str(text)), icon=icon)
