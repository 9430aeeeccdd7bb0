"""How does the server's process use memory and handles?"""

import ctypes
import sys

# mallopt(3). glibc gives threads up to eight arenas a core, and every page view is a thread: what one has freed, the
# next does not reuse, and the process grows for hours. Python runs one thread at a time, so nobody waits for the two.
_M_ARENA_MAX = -8
_ARENAS = 2
# Streamlit keeps 128 left sessions for who comes back, with three handles each, and every visitor takes four. The
# usual soft limit of 1,024 is for programs that call select(2), which nothing here does.
WANTED_HANDLES = 65_536


def share_freed_memory() -> None:
    """Let the threads of this process reuse what others of it have freed; call it before they start."""
    if sys.platform.startswith("linux"):
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:  # musl has none, and one heap
            mallopt(_M_ARENA_MAX, _ARENAS)


def allow_many_handles(wanted: int = WANTED_HANDLES) -> int | None:
    """Raise the soft limit of open handles as far as the system lets us; return it, None where there is none."""
    if sys.platform == "win32":
        return None
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    except (OSError, ValueError):  # macOS has one more limit than it tells
        return soft
    return most
