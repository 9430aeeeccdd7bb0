"""A standalone script that measures one point the way the page did, with nothing but torch."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuexplain.experiments.batch.spec import BatchParams
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.script import ScriptClock, say_where, write_script
from gpuexplain.measuring import model_sizes
from gpuexplain.model import Dtype, Point

USUAL_BATCH = 64
_MODELS_FILE = Path(model_sizes.__file__).with_name("models.py")
_CLASSES = {"mlp": "Mlp", "convnet": "ConvNet", "transformer": "Transformer"}
_ROOTS = ("build_network", "make_examples", "Workload")
_HALVES = {Dtype.FP32: "None", Dtype.BF16: "torch.bfloat16", Dtype.FP16: "torch.float16"}

_WORK = """{models}


network = build_network({kind}, {width}, {depth})
workload = Workload(network, "{device}", {half}, {is_training}, is_fused=True)
inputs, targets = make_examples(network, {batch}, "{device}")


def call() -> None:
    {call}
"""
_DATA = "Weights and examples are seeded and random."
_EXACT = """torch.backends.cuda.matmul.fp32_precision = "ieee"  # no TF32
torch.backends.cudnn.conv.fp32_precision = "ieee"
torch.cuda.set_device("{device}")"""


def write_snippet(params: BatchParams, point: Point | None) -> str:
    """Return the script for ``point``; without one for a usual batch, on the GPU that ``params`` name or the CPU."""
    if point is not None and len(point.shape) == 3:
        batch, width, depth = point.shape
        dtype, device, threads = point.dtype, point.device, point.threads
    else:
        batch = min(USUAL_BATCH, params.largest_batch or USUAL_BATCH)
        width, depth = params.shape
        device = params.device if params.device.startswith("cuda") else CPU
        dtype, threads = Dtype.BF16 if params.is_autocast else Dtype.FP32, None
    on_gpu = device.startswith("cuda")
    models = cut_models(_CLASSES[params.model])
    work = _WORK.format(
        models=models.code,
        kind=_CLASSES[params.model],
        width=width,
        depth=depth,
        device=device,
        half=_HALVES[dtype],
        is_training=params.is_training,
        batch=batch,
        call="workload.train(inputs, targets)" if params.is_training else "workload.infer(inputs)",
    )
    return write_script(
        _title(params, batch, width, depth, dtype, device, threads),
        work,
        clock=ScriptClock.SYNCHRONISED if on_gpu else ScriptClock.HOST,
        data=_DATA,
        setup=_EXACT.format(device=device) if on_gpu else f"torch.set_num_threads({threads})" if threads else "",
        results=f'print(f"{{{batch} / median_s:.1f}} examples/s")',
        imports=models.imports.splitlines(),
    )


def _title(
    params: BatchParams, batch: int, width: int, depth: int, dtype: Dtype, device: str, threads: int | None
) -> str:
    step = "training step" if params.is_training else "inference"
    where, shape = say_where(device, threads), f"width {width}, depth {depth}"
    return f"Time of one {params.model} {step} ({shape}) with batch {batch} in {dtype} {where} (call time)."


@dataclass(frozen=True, slots=True)
class CutModels:
    """A part of ``models.py`` that runs on its own: its imports, and the code, in the order of the file."""

    imports: str
    code: str


def cut_models(kind: str) -> CutModels:
    """Return the class ``kind`` and whatever it and a step refer to."""
    text = _MODELS_FILE.read_text(encoding="utf-8")
    nodes = ast.parse(text).body
    wanted = _closure([kind, *_ROOTS], {name: node for node in nodes for name in _names_bound_by(node)})
    kept = [node for node in nodes if wanted.intersection(_names_bound_by(node))]
    lines = text.splitlines()
    parts = [("\n".join(lines[_first_line(node, lines) : node.end_lineno]), node) for node in kept]
    constants = [part for part, node in parts if isinstance(node, ast.Assign)]
    rest = [part for part, node in parts if not isinstance(node, ast.Assign)]
    imports = [ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return CutModels("\n".join(imports), "\n\n\n".join(["\n".join(constants), *rest]))


def _closure(roots: Sequence[str], named: Mapping[str, ast.stmt]) -> set[str]:
    """Return the names of the file that the roots refer to, directly or not, themselves included."""
    wanted: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in named and name not in wanted:
            wanted.add(name)
            waiting += [used.id for used in ast.walk(named[name]) if isinstance(used, ast.Name)]
    return wanted


def _names_bound_by(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _first_line(node: ast.stmt, lines: list[str]) -> int:
    """Return the index of a node's first line, comments above it included."""
    first = node.lineno - 1
    while first and lines[first - 1].startswith("#"):
        first -= 1
    return first
