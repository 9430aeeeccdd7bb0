"""Why is this page the next one? The article's story, one sentence a step.

The same matrix arithmetic over and over; parts of it that do not wait for each other; many simple
cores to do them; batches to keep those busy; shorter numbers; memory, and the way to it.
"""

_WHY = {
    "matmul": "A layer is one product, and deep learning is the same matrix arithmetic over and over: how fast is one?",
    "workers": "The parts of a product do not wait for each other, so many simple cores can share it. What do they "
    "gain?",
    "batch": "Nor do the examples of a batch wait for each other. How many of them does it take to keep many cores "
    "busy?",
    "precision": "Once every core is busy, the length of a number decides: shorter ones are faster, and less exact.",
    "memory": "Every number must come from memory first. From when on does arithmetic stop waiting for it?",
    "scaling": "One device explained: do two of them go twice as fast?",
    "myths": "All of it measured: which of the usual beliefs hold on this machine, and which do not?",
    "need": "So much for how it works. Which of your own work would gain from it?",
    "step": "All of it comes together in one training step. What does it wait for?",
    "transfer": "Fast arithmetic gains nothing while it waits for its data. What does the way to the device cost?",
    "home": "That was the way through: see all the numbers of this machine side by side.",
}


def why_next(page_name: str) -> str:
    """Return why the page of that name comes next, in one or two sentences; "" where there is no story."""
    return _WHY.get(page_name, "")
