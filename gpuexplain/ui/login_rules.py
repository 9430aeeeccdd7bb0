"""Who may come in? The rules of the allow-list, without a browser or a provider.

A person comes in when the provider says that the email address is verified, the list names the address
or its domain, and the sign-in is not too old. Everything else is a refusal with its reason.
"""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_EVERYBODY = "*"
_SECONDS_PER_HOUR = 3600.0
# Clocks of two machines differ; a sign-in from further in the future is nobody's.
_CLOCK_SKEW_S = 300.0


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who is signed in and may come in."""

    email: str
    name: str = ""

    @property
    def visitor(self) -> str:
        """The name under which this person asks for runs, the same on every device; it tells nobody the address."""
        return f"person-{hashlib.sha256(self.email.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why somebody stays outside, and whether signing in (again) can help."""

    reason: str
    sign_in_helps: bool = True


@dataclass(frozen=True, slots=True)
class AllowList:
    """Domains (``example.org``) and people (``ann@example.com``), in lower case; or everybody."""

    domains: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    everybody: bool = False

    def admits(self, email: str) -> bool:
        """Whether the list names this address (in lower case), or its whole domain; subdomains are others."""
        return self.everybody or email in self.people or email.rpartition("@")[2] in self.domains


def read_allow_list(text: str) -> AllowList:
    """Return the list in the setting's text, which its pattern has checked."""
    entries = [entry.strip().lower() for entry in text.split(",")]
    return AllowList(
        domains=frozenset(entry[1:] for entry in entries if entry.startswith("@")),
        people=frozenset(entry for entry in entries if "@" in entry[1:]),
        everybody=_EVERYBODY in entries,
    )


def judge(
    claims: Mapping[str, Any], allowed: AllowList, most_hours: float, now_s: float | None = None
) -> Person | Refusal:
    """Return who this is, or why they stay outside.

    Args:
        claims: What the provider said, as ``st.user`` or the signed cookie has it; empty before signing in.
        allowed: Who may come in.
        most_hours: How old a sign-in may be.
        now_s: Seconds since the epoch.
    """
    if not claims.get("is_logged_in"):
        return Refusal("Sign in to see this page.")
    if not _is_recent(claims.get("iat"), time.time() if now_s is None else now_s, most_hours):
        return Refusal("Your sign-in has expired. Sign in again.")
    email = _read_email(claims.get("email"))
    if email is None:
        return Refusal("The sign-in service did not tell your email address. Ask whoever runs this server.", False)
    if claims.get("email_verified") not in (True, "true"):
        return Refusal(f"The sign-in service does not vouch for the address {email}: verify it there first.", False)
    if not allowed.admits(email):
        return Refusal(f"{email} may not come in. Ask whoever runs this server, or sign in as somebody else.", False)
    return Person(email=email, name=str(claims.get("name") or "")[:80])


def _is_recent(issued_s: object, now_s: float, most_hours: float) -> bool:
    if not isinstance(issued_s, (int, float)) or isinstance(issued_s, bool):
        return False
    return -_CLOCK_SKEW_S <= now_s - issued_s <= most_hours * _SECONDS_PER_HOUR


def _read_email(stated: object) -> str | None:
    """Return an address that can be compared: plain printable ASCII with one @, in lower case."""
    if not isinstance(stated, str) or not stated.isascii() or not stated.isprintable() or " " in stated:
        return None
    name, at, domain = stated.lower().partition("@")
    return f"{name}@{domain}" if name and at and domain and "@" not in domain else None
