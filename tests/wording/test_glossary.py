"""Definitions of terms."""

import ast
import re
from pathlib import Path

import pytest

from gpuexplain.wording.glossary import GLOSSARY, define

ROOT = Path(__file__).resolve().parents[2]
# What a visitor reads: the words, captions and controls of every page.
PROSE = sorted(
    path
    for folder in ("experiments", "wording", "report", "ui", "trial")
    for path in (ROOT / "gpuexplain" / folder).rglob("*.py")
    if path.name not in ("glossary.py", "snippet.py", "style_rules.py")
)
# A word of the field in a text -> the entry that explains it.
JARGON = {
    r"multiply-adds?": "multiply-add", r"gradients?": "gradient", r"optimiser": "optimiser", r"weights?": "weights",
    r"activations?": "activations", r"bias(es)?": "bias", r"nonlinearit(y|ies)|ReLU": "nonlinearity",
    r"backward": "backward pass", r"loss": "loss", r"epochs?": "epoch", r"convnet": "convnet", r"MLP": "MLP",
    r"transformer": "transformer", r"layers?": "layer", r"caches?": "cache", r"cores?": "core",
    r"bandwidth": "bandwidth", r"roofline|roofs?": "roofline", r"memory-bound": "memory-bound",
    r"compute-bound": "compute-bound", r"overhead-bound": "overhead-bound", r"launch-bound": "launch-bound",
    r"input-bound": "input-bound", r"transfer-bound": "transfer-bound", r"triad": "triad", r"[Ff]used?": "fused operation",
    r"captured graph": "captured graph", r"profiler": "profiler", r"streams?": "stream", r"driver": "driver",
    r"overflows?": "overflow", r"blocks?": "block", r"multiprocessors?": "multiprocessor", r"serial": "serial share",
    r"[Ss]trong scaling|shared out": "strong scaling", r"weak scaling": "weak scaling", r"all-reduce": "all-reduce",
    r"knee": "knee", r"crossover": "crossover", r"throughput": "throughput", r"autocast": "autocast",
    r"pinned": "pinned memory", r"pageable": "pageable memory", r"latency": "latency", r"break-even": "break-even",
    r"ridge": "ridge point", r"noise floor": "noise floor", r"tensor cores?": "tensor core", r"median": "median",
    r"synchronis\w+": "synchronise", r"inference": "inference", r"processes": "process", r"kernels?": "kernel",
    r"loading workers?": "loading workers", r"[Dd]evice time": "device time",
    r"PCIe": "PCIe", r"FLOP/s": "FLOP/s", r"subnormals?": "subnormal", r"AMX": "AMX", r"emulated": "emulated",
    r"vector units?": "vector unit", r"arithmetic intensity": "arithmetic intensity",
    r"out of memory": "out of memory", r"relative error": "relative error", r"batch": "batch",
}  # fmt: skip


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
    with pytest.raises(KeyError, match="zebra"):
        define("zebra")


def _texts() -> str:
    """Return every text of the prose but docstrings."""
    nodes = [node for path in PROSE for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    constants = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings)
    return "\n".join(constant.value for constant in constants if isinstance(constant.value, str))


TEXTS = _texts()


@pytest.mark.parametrize("word", JARGON)
def test_a_word_of_the_field_that_a_page_uses_is_defined(word: str) -> None:
    """And the list holds no word that no page uses."""
    assert re.search(rf"\b({word})\b", TEXTS), f"no page says {word}"
    assert JARGON[word] in GLOSSARY


def test_every_term_that_a_sentence_marks_is_defined() -> None:
    """In any slice, whatever findings make the sentence appear: a dotted word never comes up empty."""
    marked = set()
    for path in PROSE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "term" and node.args:
                name = node.args[0]
                if isinstance(name, ast.Constant):
                    marked.add(name.value)
    assert len(marked) > 30
    assert marked <= set(GLOSSARY)


def test_no_two_terms_share_a_name() -> None:
    """Each is defined once, whatever its capitals."""
    names = [name.casefold() for name in GLOSSARY]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["PCIe", "tensor core", "multiprocessor", "vector unit", "bf16", "fp8", "divergence"])
def test_what_is_said_of_hardware_carries_its_source(name: str) -> None:
    """Who says so."""
    assert len(GLOSSARY[name].source) > 10
