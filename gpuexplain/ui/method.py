"""The page "How we measure": generated from the constants that the code uses."""

import streamlit as st

from gpuexplain.measuring.statistics import CONFIDENCE, interval_rank
from gpuexplain.report.method_words import method_sections, method_summary
from gpuexplain.ui.head import show_head
from gpuexplain.units import format_percent


def show_method() -> None:
    """Write the whole page."""
    show_head("About", "How we measure")
    st.markdown(method_summary())
    for title, sentences in method_sections():
        st.subheader(title, anchor=False)
        st.markdown("\n".join(f"- {sentence}" for sentence in sentences))
    st.subheader("Which samples enclose the median", anchor=False)
    st.markdown(
        f"With n samples, the true median lies between the r-th smallest and the r-th largest in at least "
        f"{format_percent(CONFIDENCE)} of all repetitions:"
    )
    sizes = (5, 6, 7, 14, 28, 56, 112)
    rows = "\n".join(f"| {n} | {interval_rank(n) or 'no interval'} |" for n in sizes)
    st.markdown(f"| samples n | rank r |\n|---:|---:|\n{rows}")
