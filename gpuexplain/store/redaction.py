"""How is a database named where people read it, without the password that its address may hold?"""

import re
from urllib.parse import unquote

_HIDDEN = "***"
# user:password@ up to the last @: a password may hold one that nobody escaped.
_PASSWORD = re.compile(r"(?P<before>://[^:/@]*:)(?P<secret>.+)@")
# Parameters that drivers take as a secret.
_PARAMETER = re.compile(r"(?i)(?P<before>[?&][^=&]*(?:pass|pwd|secret|token|key)[^=&]*=)(?P<secret>[^&]+)")
_FEWEST_CHARACTERS = 3  # a shorter secret would hide half of every sentence, and is none


def hide_secrets(url: str) -> str:
    """Return a database's address (or path) without password and secret parameters."""
    return _PARAMETER.sub(rf"\g<before>{_HIDDEN}", _PASSWORD.sub(rf"\g<before>{_HIDDEN}@", url))


def redact(text: str, url: str) -> str:
    """Return a text in which no secret of a database's address is left; a driver may have repeated it."""
    stated = {found["secret"] for pattern in (_PASSWORD, _PARAMETER) for found in pattern.finditer(url)}
    for secret in sorted(stated | {unquote(secret) for secret in stated}, key=len, reverse=True):
        if len(secret) >= _FEWEST_CHARACTERS:
            text = text.replace(secret, _HIDDEN)
    return text
