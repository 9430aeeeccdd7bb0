"""Which pages exist, in which group, at which address."""

from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[2] / "pages"


@dataclass(frozen=True, slots=True)
class PageSpec:
    """One page; ``script`` is absolute, because a relative one would depend on the router's place."""

    name: str
    group: str  # "" is the top of the navigation
    title: str
    icon: str
    url_path: str
    is_default: bool = False

    @property
    def script(self) -> str:
        """The page's script."""
        return str(_FOLDER / f"{self.name}.py")


HOME = PageSpec("home", "", "Home", ":material/home:", "", is_default=True)
MATMUL = PageSpec("matmul", "Measure", "Matrix multiply", ":material/grid_on:", "matmul")
BATCH = PageSpec("batch", "Measure", "Batch size", ":material/stacks:", "batch")
PRECISION = PageSpec("precision", "Measure", "Precision", ":material/straighten:", "precision")
TRANSFER = PageSpec("transfer", "Measure", "Transfer", ":material/swap_horiz:", "transfer")
BY_HAND = PageSpec("by_hand", "Understand", "One layer by hand", ":material/calculate:", "by-hand")
WORKERS = PageSpec("workers", "Understand", "Many workers", ":material/groups:", "workers")
STOPWATCH = PageSpec("stopwatch", "Understand", "The stopwatch trap", ":material/timer_off:", "stopwatch")
MEMORY = PageSpec("memory", "Understand", "The memory wall", ":material/landscape:", "memory")
STEP = PageSpec("step", "Understand", "Anatomy of a training step", ":material/biotech:", "training-step")
SCALING = PageSpec("scaling", "Understand", "More devices", ":material/hub:", "more-devices")
NEED = PageSpec("need", "Understand", "Do you need a GPU?", ":material/help:", "need-a-gpu")
MYTHS = PageSpec("myths", "Understand", "Myths on trial", ":material/gavel:", "myths")
GLOSSARY = PageSpec("glossary", "About", "Glossary", ":material/menu_book:", "glossary")
METHOD = PageSpec("method", "About", "How we measure", ":material/timer:", "method")

PAGES = (
    HOME, MATMUL, BATCH, PRECISION, TRANSFER, BY_HAND, WORKERS, STOPWATCH, MEMORY, STEP, SCALING, NEED,
    MYTHS, GLOSSARY, METHOD,
)  # fmt: skip

# The article's story, chapter by chapter; the other pages stand beside it.
STORY = (BY_HAND, MATMUL, WORKERS, BATCH, PRECISION, MEMORY, TRANSFER)


def lab_page(experiment_id: str) -> PageSpec | None:
    """Return the page of an experiment, if it has one."""
    return next((page for page in PAGES if page.name == experiment_id), None)


def next_lab(experiment_id: str) -> PageSpec | None:
    """Return the page after this one: the next chapter of the story, else the next of its group, at last Home."""
    names = [page.name for page in STORY]
    if experiment_id in names:
        return (*STORY, HOME)[names.index(experiment_id) + 1]
    page = lab_page(experiment_id)
    siblings = [p for p in PAGES if page is not None and p.group == page.group and p not in STORY]
    position = siblings.index(page) + 1 if page in siblings else len(siblings)
    return siblings[position] if position < len(siblings) else HOME
