"""What should everybody know of the store: that it cannot keep results, or that a damaged one was replaced?"""

from gpuexplain.engine.jobs import EngineStatus
from gpuexplain.store.runs import RunStore


def tell_store_notes(store: RunStore, status: EngineStatus, *, brief: bool = False) -> tuple[str, ...]:
    """Return one text each, none while all is well; ``brief`` leaves out what only the operator can do."""
    notes = [f"{notice.partition('. ')[0].rstrip('.')}." if brief else notice for notice in store.notices]
    if store.why_read_only:
        notes.append(f"Results are shown but cannot be kept. {store.why_read_only}")
    if status.not_stored:
        runs = "1 run that ended is" if status.not_stored == 1 else f"{status.not_stored} runs that ended are"
        notes.append(f"{runs} not stored yet; it is tried again.")
    return tuple(notes)
