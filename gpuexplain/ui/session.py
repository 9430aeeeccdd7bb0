"""What belongs to one browser session: who it is, and which theme it looks at."""

import secrets

import streamlit as st

from gpuexplain.charts.theme import Theme
from gpuexplain.ui.login_page import SignInError, signed_in_person
from gpuexplain.ui.visitor_cookie import VISITOR_COOKIE


def visitor_id() -> str:
    """Return the name under which this browser asks for jobs: anonymous, the same in all its tabs.

    Without cookies every tab is a visitor of its own. Where people sign in, it is the person's, on every device.

    Raises:
        SignInError: If people sign in here and this one's sign-in has expired.
    """
    try:
        person = signed_in_person()
    except SignInError:
        st.rerun()  # the frame asks to sign in; inside a click this does nothing, and the error is told there
        raise
    if person is not None:
        return person.visitor
    cookie = st.context.cookies.get(VISITOR_COOKIE)
    if isinstance(cookie, str) and cookie:
        return f"visitor-{cookie[:16]}"
    if "visitor" not in st.session_state:
        st.session_state["visitor"] = f"visitor-{secrets.token_hex(8)}"
    return str(st.session_state["visitor"])


def tab_id() -> str:
    """Return a name of this tab alone, to count how many look at a run."""
    if "tab_id" not in st.session_state:
        st.session_state["tab_id"] = secrets.token_hex(8)
    return str(st.session_state["tab_id"])


def is_presenting() -> bool:
    """Whether the page is shown to an audience: larger type, no sidebar."""
    return bool(st.session_state.get("present", st.query_params.get("present") == "true"))


def current_theme() -> Theme:
    """Return the theme that the browser shows; light until it has told us."""
    return "dark" if st.context.theme.type == "dark" else "light"
