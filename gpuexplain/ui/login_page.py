"""Signing in: who looks at this page, what strangers see instead of it, and the way out."""

import html

import streamlit as st

from gpuexplain.errors import GpuExplainError
from gpuexplain.ui.head import show_head
from gpuexplain.ui.login_config import find_login
from gpuexplain.ui.login_rules import Person, Refusal, judge


class SignInError(GpuExplainError):
    """Somebody asks for something without being signed in (any more)."""


def who_is_here() -> Person | Refusal | None:
    """Return who looks at this page, or why they may not; None where there is no login."""
    login = find_login()
    return None if login is None else judge(st.user.to_dict(), login.allowed, login.most_hours)


def signed_in_person() -> Person | None:
    """Return who asks; None where there is no login.

    Raises:
        SignInError: If the sign-in has expired, or was never there.
    """
    somebody = who_is_here()
    if isinstance(somebody, Refusal):
        raise SignInError(f"{somebody.reason} Reload the page.")
    return somebody


def show_login(refusal: Refusal) -> None:
    """Write the page that strangers see, whatever they asked for."""
    login = find_login()
    show_head("GPU Explain", "Sign in")
    st.html(f"<p>{html.escape(refusal.reason)}</p>")  # Markdown would make a link of an address
    if not refusal.sign_in_helps:
        st.button("Sign out", key="sign-out", icon=":material/logout:", on_click=st.logout)
        return
    for name in login.providers if login else ():
        label = f"Sign in with {name}" if name else "Sign in"
        st.button(label, key=f"sign-in-{name}", type="primary", on_click=st.login, args=(name or None,))


def show_who(person: Person) -> None:
    """Write who is signed in, and the way out, at the end of the sidebar."""
    with st.sidebar.container(key="who"):
        st.html(f'<div class="gx-muted">Signed in as {html.escape(person.email)}</div>')
        st.button("Sign out", key="sign-out", type="tertiary", icon=":material/logout:", on_click=st.logout)
