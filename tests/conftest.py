"""What every test gets."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _subnormal_numbers() -> Iterator[None]:
    """Measuring flushes subnormal numbers in its process for good; the tests after it want theirs."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_flush_denormal(False)
