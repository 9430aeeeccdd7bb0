"""Where the command line begins and how it leaves.

Exit status: 0 done, 2 bad input, 3 nothing could be measured, 130 interrupted.
"""

import sys
from contextlib import suppress

import typer

from gpuexplain.cli import advising, analysing, machine, measuring, myths, runs, touring  # noqa: F401 - each adds its commands
from gpuexplain.cli.root import EXIT_BAD_INPUT, EXIT_INTERRUPTED, EXIT_NOTHING_MEASURED, app
from gpuexplain.errors import EngineError, GpuExplainError, InputError, NothingMeasuredError
from gpuexplain.logs import configure_logging
from gpuexplain.settings import load_settings

# The base of everything typer says about options and arguments; it has no public name of its own.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


def main() -> None:
    """Run the command line; every error we know becomes one clear line and its exit status."""
    with suppress(InputError):  # the commands that use a setting tell what is wrong with it
        configure_logging(load_settings().log_level or "warning", load_settings().log_format)
    try:
        status = app(standalone_mode=False)
    except _UsageError as error:
        _leave(_tell_usage(error), EXIT_BAD_INPUT)
    except NothingMeasuredError as error:
        _leave(str(error), EXIT_NOTHING_MEASURED)
    except (InputError, EngineError) as error:
        _leave(str(error), EXIT_BAD_INPUT if isinstance(error, InputError) else EXIT_NOTHING_MEASURED)
    except GpuExplainError as error:
        _leave(str(error), EXIT_BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(EXIT_INTERRUPTED)
    sys.exit(status if isinstance(status, int) else 0)


def _tell_usage(error: Exception) -> str:
    """Return what is wrong with an option or argument, and where its command is explained, in one line."""
    said = getattr(error, "format_message", lambda: str(error))().replace("Value error, ", "")
    what = " ".join(said.split()).rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{what}. See `{context.command_path} --help`." if context else f"{what}."


def _leave(text: str, status: int) -> None:
    print(f"gpuexplain: {text}", file=sys.stderr)
    sys.exit(status)
