"""What somebody might send: valid values, values a hair off, and what only an attacker or an accident sends."""

import copy
import json
import random
import string
from enum import EnumType
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MultipleOf
from hypothesis import strategies as st
from pydantic.fields import FieldInfo

from gpuexplain.model import Params

CASES = Path(__file__).resolve().parents[1] / "cases"

# Each has broken some parser somewhere.
HOSTILE_TEXTS = (
    "", " ", "\x00", "a\x00b", "\n", "\r\n", "\t", "nan", "NaN", "inf", "-inf", "Infinity", "1e999", "-1e999",
    "1e-999", "-0", "-0.0", "0x10", "0b1", "1_000", "1,000", "1.024,5", "1 000", "１６", "٣٢", "²", "½", "∞", "+5",
    "5.", ".5", "1e3", "9" * 400, "9" * 5_000, "-" + "9" * 5_000, "1" + "0" * 300, "null", "None", "true", "False",
    "[]", "{}", "[1]", '{"a":1}', "${jndi:ldap://x}", "{{7*7}}", "<script>alert(1)</script>", "'; DROP TABLE runs;--",
    "../../etc/passwd", "%00", "%s%n", "=1+1", "\ud800", "\U0001f600", "\u202eabc", "\ufeff64", "a" * 10_000,
    "cuda:999", "cuda:0\n", "cuda:00", "cpu;cpu", "fp32 ", "FP32", "fp128", "quick\x00", "-1", "0", "1e308",
)  # fmt: skip
HOSTILE_BYTES = (
    b"", b"\x80\x04\x95\x0f\x00\x00\x00", b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\x00", b"PAR1",
    b"\xff\xfe", b"\x00" * 64, b"\xef\xbb\xbf", b"(dp0\nS'a'\np1\nI1\ns.", b"[" * 5_000, b'{"a":' * 5_000,
    b'{"n": [1, 2], "n": [3]}', b"n,tflops\n1e999,1\n", b'"', b"n\x0btflops", b"\xc3\x28",
)  # fmt: skip

texts = st.one_of(
    st.sampled_from(HOSTILE_TEXTS), st.text(max_size=40), st.text(string.digits + ".eE+-_, ", max_size=12)
)
scalars = st.one_of(
    texts,
    st.integers(),
    st.integers(min_value=10**30, max_value=10**400),
    st.floats(),
    st.booleans(),
    st.none(),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)


# One draw stands for all decisions of a change: many times faster than a draw each.
chances = st.integers(0, 2**32).map(random.Random)


def valid_value(name: str, field: FieldInfo) -> st.SearchStrategy[Any]:
    """Return the values that a field of params takes, as the form would hold them."""
    kinds = [kind for kind in _kinds(field.annotation) if kind is not type(None)]
    kind = kinds[0]
    if name == "device":
        return st.sampled_from(["auto", "cpu"])
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    if isinstance(kind, EnumType):
        return st.sampled_from([member.value for member in kind])  # type: ignore[var-annotated]
    if kind is bool:
        return st.booleans()
    low, high, step = bounds(field)
    if kind is int:
        assert low is not None
        assert high is not None
        return st.integers(int(-(-low // step)), int(high // step)).map(lambda number: number * int(step))
    return st.floats(low, high, allow_nan=False)


def bounds(field: FieldInfo) -> tuple[float | None, float | None, float]:
    """Return the least and largest number that a field takes, and its step."""
    low = next((_number(m) for m in field.metadata if isinstance(m, Ge | Gt)), None)
    high = next((_number(m) for m in field.metadata if isinstance(m, Le | Lt)), None)
    step = next((m.multiple_of for m in field.metadata if isinstance(m, MultipleOf)), 1)
    return low, high, float(step)  # type: ignore[arg-type]


def _number(bound: Any) -> float:
    return float(next(getattr(bound, name) for name in ("ge", "gt", "le", "lt") if hasattr(bound, name)))


def _kinds(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)


def asks(params_type: type[Params]) -> st.SearchStrategy[dict[str, Any]]:
    """Return what may stand in an address or a form: most names known, some values usable."""
    fields = params_type.model_fields
    valid = {name: valid_value(name, field) for name, field in fields.items()}
    as_text = {name: value.map(str) for name, value in valid.items()}
    one_off = st.tuples(st.sampled_from(sorted(fields)), scalars)
    # Some values do not go together, so most visitors' one or two changes are more often usable than many.
    names = st.lists(st.sampled_from(sorted(fields)), min_size=1, max_size=2, unique=True)
    few = names.flatmap(lambda chosen: st.fixed_dictionaries({name: as_text[name] for name in chosen}))
    return st.one_of(
        st.fixed_dictionaries({}, optional=valid),
        few,
        few,
        st.builds(lambda known, off: {**known, off[0]: off[1]}, st.fixed_dictionaries({}, optional=as_text), one_off),
        st.dictionaries(st.one_of(st.sampled_from(sorted(fields)), texts), scalars, max_size=5),
    )


def tables(experiment: str) -> st.SearchStrategy[tuple[bytes, str]]:
    """Return (content, name) of files of measurements: the public series, changed in valid and hostile ways."""
    expected = json.loads((CASES / "expected.json").read_text())
    files = [(CASES / f"{name}.csv").read_text() for name, case in expected.items() if case["experiment"] == experiment]
    return st.builds(_change_table, st.sampled_from(files), chances, texts, st.booleans())


def _change_table(csv: str, chance: random.Random, text: str, as_json: bool) -> tuple[bytes, str]:
    header, *rows = [line.split(",") for line in csv.strip().splitlines()]
    for _ in range(chance.randint(1, 3)):
        _CHANGES[chance.choice(_OFTEN)](header, rows, chance, text)
    if as_json:
        content = json.dumps([dict(zip(header, row, strict=False)) for row in rows]).encode("utf-8", "surrogatepass")
        return _change_bytes(content, chance), "rows.json"
    ends = chance.choice(["\n", "\n", "\r\n"])
    content = ends.join(",".join(line) for line in [header, *rows]).encode("utf-8", "surrogatepass")
    return _change_bytes(content, chance), "rows.csv"


def _change_bytes(content: bytes, chance: random.Random) -> bytes:
    match chance.randrange(12):
        case 0:
            return content[: chance.randrange(len(content) + 1)]
        case 1:
            place = chance.randrange(len(content) + 1)
            return content[:place] + chance.choice(HOSTILE_BYTES) + content[place:]
        case 2:
            return b"\xef\xbb\xbf" + content
    return content


_Rows = list[list[str]]


def _shuffle(_: list[str], rows: _Rows, chance: random.Random, __: str) -> None:
    chance.shuffle(rows)


def _repeat_row(_: list[str], rows: _Rows, chance: random.Random, __: str) -> None:
    if rows:
        rows.append(list(chance.choice(rows)))


def _drop_row(_: list[str], rows: _Rows, chance: random.Random, __: str) -> None:
    if len(rows) > 1:
        rows.pop(chance.randrange(len(rows)))


def _scale(header: list[str], rows: _Rows, chance: random.Random, _: str) -> None:
    column, factor = chance.randrange(len(header)), chance.choice([0.5, 1.0, 3.0, 1e3])
    if header[column] in ("dtype", "status", "flags", "reason", "n", "batch", "bytes"):
        return
    for row in rows:
        try:
            row[column] = repr(float(row[column]) * factor)
        except (ValueError, IndexError):
            continue


def _say_oom(header: list[str], rows: _Rows, chance: random.Random, _: str) -> None:
    measures = [i for i, name in enumerate(header) if name in ("tflops", "gbps", "throughput", "seconds")]
    if measures and rows:
        row = chance.choice(rows)
        row[min(chance.choice(measures), len(row) - 1)] = chance.choice(["OOM", "N/A", "failed", "skipped"])


def _put_text(_: list[str], rows: _Rows, chance: random.Random, text: str) -> None:
    if rows:
        row = chance.choice(rows)
        row[chance.randrange(len(row))] = text


def _rename(header: list[str], _: _Rows, chance: random.Random, text: str) -> None:
    header[chance.randrange(len(header))] = text


def _drop_column(header: list[str], rows: _Rows, chance: random.Random, _: str) -> None:
    place = chance.randrange(len(header))
    if len(header) > 1:
        header.pop(place)
        for row in rows:
            if place < len(row):
                row.pop(place)


def _add_column(header: list[str], rows: _Rows, chance: random.Random, text: str) -> None:
    header.append(chance.choice(["status", "reason", "flags", text]))
    for row in rows:
        row.append(chance.choice(["", "ok", "under_load", text]))


_CHANGES = (
    _shuffle, _repeat_row, _drop_row, _scale, _say_oom, _put_text, _rename, _drop_column, _add_column,
)  # fmt: skip
# Valid changes more often, so that many inputs go all the way through.
_OFTEN = (0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6, 7, 8)


def changed_json(document: Any) -> st.SearchStrategy[str]:
    """Return a JSON document with some of its values replaced, dropped, repeated or moved."""

    def change(chance: random.Random, value: Any) -> str:
        root = json.loads(json.dumps(document))
        for _ in range(chance.choice([0, 0, 1, 1, 2])):
            _change_node(root, chance, value)
        text = json.dumps(root)
        if chance.random() < 0.1:
            text = text[: chance.randrange(len(text))] + chance.choice(["", "[" * 9_000, '"', "NaN", "\x00"])
        return text

    return st.builds(change, chances, values)


def _change_node(root: Any, chance: random.Random, value: Any) -> None:
    node = root
    while True:
        children = [key for key in _keys(node) if isinstance(node[key], dict | list) and node[key]]
        if not children or chance.random() < 0.3:
            break
        node = node[chance.choice(children)]
    keys = _keys(node)
    if not keys:
        return
    key = chance.choice(keys)
    match chance.randrange(5):
        case 0:
            node[key] = copy.deepcopy(value)
        case 1:
            del node[key]
        case 2 if isinstance(node[key], int | float) and not isinstance(node[key], bool):
            node[key] = chance.choice([0, -1, 1e-30, 1e30, 10**40, node[key] * 2, -node[key]])
        case 3 if isinstance(node, list):
            node.append(copy.deepcopy(node[key]))
        case _ if isinstance(node[key], float):
            node[key] *= chance.choice([0.5, 1.0, 2.0])


def _keys(node: Any) -> list[Any]:
    return list(node) if isinstance(node, dict) else list(range(len(node)))
