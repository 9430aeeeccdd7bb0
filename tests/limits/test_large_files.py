"""Files as large as allowed, and shaped to cost time: refused at once, for each takes linear time at most."""

import json

import pytest

from gpuexplain.errors import InputError
from gpuexplain.store.series_files import read_series
from gpuexplain.store.series_table import LARGEST_FILE_BYTES, MOST_ROWS

# With anything quadratic each of these would take minutes to hours: the test's time limit finds it.
FILES = {
    "commas": (b"," * 9_000_000, "more than 200 columns"),
    "names": (",".join(f"c{i}" for i in range(1_000_000)).encode(), "more than 200 columns"),
    "keys": (json.dumps({f"k{i}": 1 for i in range(500_000)}).encode(), "not a list of cells"),
    "keys of a row": (json.dumps([{f"k{i}": 1 for i in range(500_000)}]).encode(), "more than 200 columns"),
    "other keys in each row": (json.dumps([{f"k{i}": 1} for i in range(90_000)]).encode(), "more than 200 columns"),
    "one key twice": (json.dumps({f"k{i}": [1] for i in range(300_000)})[:-1].encode() + b',"k0":[2]}', "named twice"),
    "depth": (b"[" * 4_000_000, "nested too deeply"),
    "blank lines": (b"n,seconds\n" + b"\n" * 9_000_000, "more than 100,000 rows"),
    "rows": (b"n,seconds\n" + b"1,1\n" * (MOST_ROWS + 1), "more than 100,000 rows"),
    "one cell": (b"n,seconds\n" + b"9" * 9_900_000, "malformed CSV"),
    "quotes": (b'"' * 9_900_000, "malformed CSV"),
    "too large": (b"1" * (LARGEST_FILE_BYTES + 1), "the limit is 10 MB"),
    "gzip": (b"\x1f\x8b\x08\x00" + b"\x00" * 1_000_000, "binary content"),
    "zip": (b"PK\x03\x04" + b"\x00" * 1_000_000, "binary content"),
    "late binary": (b"n,seconds\n" + b"1,1\n" * 90_000 + b"\x00", "binary content"),
}


@pytest.mark.parametrize(("content", "told"), FILES.values(), ids=list(FILES))
def test_a_costly_file_is_refused(content: bytes, told: str) -> None:
    """In a short text that says why."""
    with pytest.raises(InputError, match=told) as refusal:
        read_series("matmul", content, "file")
    assert len(str(refusal.value)) < 1_000
