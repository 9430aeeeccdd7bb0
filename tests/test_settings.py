"""What an operator may set, and what is said of values that cannot be used."""

from pathlib import Path

import pytest

from gpuexplain.errors import InputError
from gpuexplain.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def read_anew():
    """Settings are read once a process; here once a test."""
    load_settings.cache_clear()
    yield
    load_settings.cache_clear()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("FRAME_ANCESTORS", "self https://a.example,https://*.b.example:8443"),
        ("FRAME_ANCESTORS", "none"),
        ("LOGIN_ALLOW", "@example.org, Ann.B+x@example.com"),
        ("LOGIN_ALLOW", "*"),
        ("LOGIN_HOURS", "0.25"),
        ("LOCK_DIR", "/run/lock"),
        ("READ_ONLY", "yes"),
    ],
)
def test_good_values_are_taken(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """Also those with spaces, wildcards and several entries."""
    monkeypatch.setenv(f"GPUEXPLAIN_{name}", text)
    taken = getattr(load_settings(), name.lower())
    assert taken in (text, Path(text), True) or taken == float(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("FRAME_ANCESTORS", "*"),
        ("FRAME_ANCESTORS", "none https://a.example"),
        ("FRAME_ANCESTORS", "https://a.example; script-src *"),
        ("FRAME_ANCESTORS", "https://a.example/path"),
        ("FRAME_ANCESTORS", "javascript:alert(1)"),
        ("FRAME_ANCESTORS", "self\nX-Other: 1"),
        ("LOGIN_ALLOW", "example.org"),
        ("LOGIN_ALLOW", "*, @example.org"),
        ("LOGIN_ALLOW", "*@example.org"),
        ("LOGIN_ALLOW", "@example.org;@example.com"),
        ("LOGIN_HOURS", "0"),
        ("MAX_DEVICE_MEMORY", "80"),
        ("READ_ONLY", "perhaps"),
    ],
)
def test_bad_values_are_named_with_what_is_allowed(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """The variable, the value, what is allowed."""
    monkeypatch.setenv(f"GPUEXPLAIN_{name}", text)
    with pytest.raises(InputError) as problem:
        load_settings()
    assert str(problem.value).startswith(f"GPUEXPLAIN_{name}={text!r} cannot be used. Allowed: ")


@pytest.mark.parametrize("url", ["Postgres://ann:a-password@db/runs", "ann:a-password@db", "a-password"])
def test_a_bad_database_url_is_not_repeated(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """It may hold a password, and the text goes to a log."""
    monkeypatch.setenv("GPUEXPLAIN_DATABASE_URL", url)
    with pytest.raises(InputError) as problem:
        load_settings()
    assert "a-password" not in str(problem.value)
    assert str(problem.value).startswith("GPUEXPLAIN_DATABASE_URL cannot be used. Allowed: an SQLAlchemy URL")


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compose files hand over empty ones."""
    for field in Settings.model_fields:
        monkeypatch.setenv(f"GPUEXPLAIN_{field.upper()}", "")
    assert load_settings().login_allow is None
    assert load_settings().max_queue == 20
