"""What the operator may set, from ``GPUEXPLAIN_*`` environment variables."""

import os
from functools import cache
from pathlib import Path
from typing import Annotated

from platformdirs import user_data_path
from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from gpuexplain.asked import shown
from gpuexplain.errors import InputError
from gpuexplain.logs import Format, Level

_PREFIX = "GPUEXPLAIN_"
# Never repeated in an error: it may hold a password.
_SECRET = frozenset({"database_url"})
_ORIGIN = r"(self|https?://(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:\d{1,5})?)"
_ADMITTED = r"([^\s,@*]+)?@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*"


class Settings(BaseSettings):
    """Every field is one environment variable: ``GPUEXPLAIN_`` and its name in capitals."""

    # An empty variable counts as not set: compose files hand over empty ones.
    model_config = SettingsConfigDict(env_prefix=_PREFIX, frozen=True, extra="ignore", env_ignore_empty=True)

    home: Path = Field(
        default_factory=lambda: user_data_path("gpuexplain", appauthor=False),
        description="data folder; a path that exists or can be made",
    )
    database_url: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9_+]+://",
        description="an SQLAlchemy URL such as sqlite:////srv/gpuexplain.db or postgresql://...",
    )
    devices: Annotated[
        str | None,
        Field(pattern=r"^(cpu|cuda:\d{1,2})(,(cpu|cuda:\d{1,2}))*$"),
    ] = Field(default=None, description="devices to offer, such as cpu,cuda:0; all when unset")
    max_device_memory: float = Field(
        default=0.8,
        gt=0,
        le=1,
        description="share of the memory free at start that a measurement may take, above 0 up to 1",
    )
    max_budget_s: float = Field(
        default=600, ge=0.5, le=3600, description="longest run a visitor may ask for, 0.5 to 3600 s"
    )
    max_queue: int = Field(default=20, ge=1, le=1000, description="jobs that may wait, 1 to 1000")
    max_upload_mb: int = Field(
        default=10, ge=1, le=10, description="largest file of measurements that a visitor may drop, 1 to 10 MB"
    )
    read_only: bool = Field(default=False, description="true or false: show, never measure")
    lock_dir: Path | None = Field(
        default=None,
        description="a folder that everything that measures on this host shares, containers too",
    )
    log_level: Level | None = Field(default=None, description="debug, info, warning or error: the least that is logged")
    log_format: Format = Field(default="text", description="text or json: how a line of the log looks")
    frame_ancestors: str = Field(
        default="self",
        pattern=rf"^(none|{_ORIGIN}( *[ ,] *{_ORIGIN})*)$",
        description="whose pages may frame this one: none, or self and origins such as https://intranet.example.org",
    )
    login_allow: str | None = Field(
        default=None,
        pattern=rf"^(\*|{_ADMITTED}( *, *{_ADMITTED})*)$",
        description="who may sign in: domains and people such as @example.org,ann@example.com; * for everybody",
    )
    login_hours: float = Field(
        default=12, ge=0.25, le=720, description="hours until a signed-in person must sign in again, 0.25 to 720"
    )

    @property
    def store_url(self) -> str:
        """The database to use: the one named, else an SQLite file in the data folder."""
        return self.database_url or f"sqlite:///{self.home / 'gpuexplain.db'}"


@cache
def load_settings() -> Settings:
    """Return the settings of this process.

    Raises:
        InputError: If a variable has a bad value; the text names it, the value and what is allowed.
    """
    try:
        return Settings()
    except ValidationError as error:
        lines = []
        for problem in error.errors():
            field = str(problem["loc"][0])
            name = _PREFIX + field.upper()
            allowed = Settings.model_fields[field].description
            given = name if field in _SECRET else f"{name}={shown(os.environ.get(name, ''))}"
            lines.append(f"{given} cannot be used. Allowed: {allowed}.")
        raise InputError("\n".join(lines)) from None
