"""Is there a login, by which services, and for whom? Read once at the start, from secrets and settings.

Streamlit reads ``[auth]`` from its secrets; ``GPUEXPLAIN_LOGIN_ALLOW`` says who may come in. Half a
configuration stops the start: a server that was meant to ask must never stand open.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from gpuexplain.errors import GpuExplainError, InputError
from gpuexplain.settings import Settings, load_settings
from gpuexplain.ui.login_rules import AllowList, read_allow_list

CALLBACK = "/oauth2callback"
_FEWEST_SECRET_CHARACTERS = 32
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_NEEDED = ("client_id", "client_secret", "server_metadata_url")


@dataclass(frozen=True, slots=True)
class Login:
    """How people sign in here. ``origin`` and ``base`` are the address that visitors use."""

    allowed: AllowList
    most_hours: float
    providers: tuple[str, ...]  # names for ``st.login``; "" is the unnamed one
    origin: str
    base: str = ""  # the path under which the app is served, such as /gpu


@cache
def find_login() -> Login | None:
    """Return the login of this installation, None where it is off.

    Raises:
        InputError: If it is configured by halves; says what is missing.
    """
    return make_login(_read_auth(), load_settings())


def make_login(auth: Mapping[str, Any] | None, settings: Settings) -> Login | None:
    """Return the login that the secrets' ``[auth]`` and the settings describe, None where it is off.

    Raises:
        InputError: If only one of the two is there, or ``[auth]`` cannot work safely.
    """
    if auth is None:
        if settings.login_allow is not None:
            raise InputError(
                "GPUEXPLAIN_LOGIN_ALLOW says who may sign in, but no secrets configure a login, so everybody could "
                "come in. Add [auth] to .streamlit/secrets.toml, or unset the variable."
            )
        return None
    if settings.login_allow is None:
        raise InputError(
            "The secrets configure a login, but nobody may come in: GPUEXPLAIN_LOGIN_ALLOW is not set. Name domains "
            "and people, such as @example.org,ann@example.com, or * for everybody whom the service signs in."
        )
    if find_spec("authlib") is None:
        raise InputError("The secrets configure a login, but Authlib is missing: pip install -r requirements-auth.txt")
    _check_secret(auth)
    origin, base = _read_redirect(auth)
    return Login(
        allowed=read_allow_list(settings.login_allow),
        most_hours=settings.login_hours,
        providers=_find_providers(auth),
        origin=origin,
        base=base,
    )


def stop_on_bad_login() -> None:
    """End the process with a clear text when the login is configured by halves."""
    try:
        find_login()
    except GpuExplainError as error:
        sys.stderr.write(f"GPU Explain cannot start.\n{error}\n")
        raise SystemExit(2) from None


def _read_auth() -> Mapping[str, Any] | None:
    """Return the section ``[auth]`` of the secrets, None where there are none."""
    try:
        auth = st.secrets.to_dict().get("auth")
    except OSError:
        # Streamlit says "not found" of a file it cannot parse, too. No text of it: it holds secrets.
        paths = [path for path in st.get_option("secrets.files") if Path(path).exists()]
        if paths:
            raise InputError(f"Cannot read the secrets in {', '.join(paths)}: correct their TOML.") from None
        return None
    if auth is not None and not isinstance(auth, Mapping):
        raise InputError("auth in the secrets must be a section: [auth].")
    return auth


def _check_secret(auth: Mapping[str, Any]) -> None:
    secret = auth.get("cookie_secret")
    if not isinstance(secret, str) or len(secret) < _FEWEST_SECRET_CHARACTERS:
        raise InputError(
            f"cookie_secret in [auth] of the secrets must have at least {_FEWEST_SECRET_CHARACTERS} characters: "
            "whoever guesses it comes in. Make one: python -c 'import secrets; print(secrets.token_hex(32))'"
        )


def _read_redirect(auth: Mapping[str, Any]) -> tuple[str, str]:
    """Return origin and base path of the address to which the service sends people back."""
    stated = str(auth.get("redirect_uri", "")).replace("{port}", str(st.get_option("server.port")))
    parts = urlsplit(stated)
    base = "/".join(["", *filter(None, [str(st.get_option("server.baseUrlPath") or "").strip("/")])])
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if not is_safe or parts.path != f"{base}{CALLBACK}":
        raise InputError(
            "redirect_uri in [auth] of the secrets must be the address that visitors use, with https, and end in "
            f"{base}{CALLBACK} (http on the loopback address only)."
        )
    return f"{parts.scheme}://{parts.netloc}", base


def _find_providers(auth: Mapping[str, Any]) -> tuple[str, ...]:
    sections = {"": auth} if "client_id" in auth else {}
    sections |= {
        name: section for name, section in auth.items() if isinstance(section, Mapping) and name != "client_kwargs"
    }
    for name, section in sections.items():
        missing = [key for key in _NEEDED if not section.get(key)]
        if missing:
            place = f"[auth.{name}]" if name else "[auth]"
            raise InputError(f"{place} in the secrets lacks {', '.join(missing)}.")
    if not sections:
        raise InputError(f"[auth] in the secrets names no service: it needs {', '.join(_NEEDED)}.")
    return tuple(sections)
