"""Definitions of terms."""

import pytest

from gpuexplain.wording.glossary import GLOSSARY, define


@pytest.mark.parametrize("name", GLOSSARY)
def test_a_definition_is_short_and_whole(name: str) -> None:
    """One or two sentences that fit a tooltip."""
    definition = define(name)
    assert definition[0].isupper() or definition[0].isdigit()
    assert definition.endswith(".")
    assert 30 < len(definition) < 180


def test_the_terms_of_the_matmul_page_are_defined() -> None:
    """What a newcomer meets there."""
    met = {
        "crossover", "launch overhead", "launch floor", "median", "95 % interval", "cold call", "FLOP/s", "peak",
        "bf16", "fp32", "fp16", "fp64", "AMX", "synchronise", "thread", "transfer", "PCIe", "published series",
        "noise floor",
    }  # fmt: skip
    assert met <= set(GLOSSARY)


def test_an_unknown_term_is_refused() -> None:
    """A sentence must not promise a definition that is not there."""
    with pytest.raises(KeyError, match="warp"):
        define("warp")
