"""The head of every page: where we are, and its question or title."""

import streamlit as st


def show_head(eyebrow: str, title: str) -> None:
    """Write both in native Markdown, which is on screen before any HTML could be."""
    with st.container(key="head", gap=None):
        st.caption(eyebrow)
        st.title(title, anchor=False)
