"""Text preprocessing as it is done before any network sees a word: tokenise, hash, count (plain Python)."""

import random
import re
import zlib
from collections import Counter
from collections.abc import Sequence

SEED = 0
N_BUCKETS = 2**16  # of the hashed vocabulary
N_WORDS = 5000  # different words of the generated text
_TOKEN = re.compile(r"[a-z]+")
_LETTERS = "etaoinshrdlu"


def write_documents(n_documents: int, n_words: int) -> list[str]:
    """Return generated documents of ``n_words`` words each; frequent words are frequent, as in any language."""
    dice = random.Random(SEED)
    words = ["".join(dice.choices(_LETTERS, k=dice.randint(3, 9))) for _ in range(N_WORDS)]
    weights = [1 / rank for rank in range(1, N_WORDS + 1)]  # Zipf's law
    return [" ".join(dice.choices(words, weights, k=n_words)).capitalize() + "." for _ in range(n_documents)]


def count_tokens(documents: Sequence[str]) -> list[Counter[int]]:
    """Return, by document, how often each bucket of the hashed vocabulary occurs."""
    return [
        Counter(zlib.crc32(token.encode()) % N_BUCKETS for token in _TOKEN.findall(document.lower()))
        for document in documents
    ]
