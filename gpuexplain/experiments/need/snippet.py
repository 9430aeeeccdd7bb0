"""A standalone script that times one kind of work: with torch, with scikit-learn, or with nothing but Python."""

import re
from pathlib import Path

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.need import spec
from gpuexplain.experiments.need.spec import SERIES, SHAPES, NeedParams, Shape
from gpuexplain.measuring import model_sizes
from gpuexplain.measuring.sampling import BLOCK_S, UNTIMED_CALLS
from gpuexplain.model import Point

N_SAMPLES = 15
_MODELS_FILE = Path(model_sizes.__file__).with_name("models.py")
_TEXT_FILE = Path(spec.__file__).with_name("text.py")

_SCRIPT = '''"""{title}

{needs} Everything is generated from a seed. The first call is reported apart from the {n_samples} blocks after it.
"""

import statistics
import time
{work}


def time_calls(n_calls: int) -> float:
    """Return the seconds of n_calls, each of which has ended when it returns."""
    started_s = time.perf_counter()
    for _ in range(n_calls):
        call()
    return time.perf_counter() - started_s


first_s = time_calls(1)
warm_s = min(time_calls(1) for _ in range(3))
n_calls = max(1, int({block_s} / warm_s) + 1)
samples_s = []
for _ in range({n_samples}):
    time_calls({untimed})
    samples_s.append(time_calls(n_calls) / n_calls)
median_s = statistics.median(samples_s)
print(f"first call {{first_s:.3e}} s, then median {{median_s:.4e}} s of {{len(samples_s)}} blocks of {{n_calls}} calls")
print(f"median_s={{median_s!r}}")
'''

_NETWORK = '''
{models}

torch.set_flush_denormal(True)  # before the first threaded operation
{setup}
network = build_network({kind}, {width}, {depth})
inputs, targets = make_examples(network, {batch}, "cpu")
workload = Workload(network, "{device}", None, {is_training}, is_fused=True)


def call() -> None:
    """Copy the examples to the device, run one step, bring the result back: that waits for the device."""
    {call}
'''
_TRAIN = 'workload.train(inputs.to("{device}"), targets.to("{device}")).to("cpu")'
_INFER = 'workload.infer(inputs.to("{device}")).to("cpu")'

_CLASSICAL = '''
import numpy as np
from {module} import {kind}
from threadpoolctl import threadpool_limits

dice = np.random.default_rng(0)
rows = dice.uniform(-1, 1, ({n_rows}, {n_features})).astype(np.float32)
sums = rows @ dice.normal(size={n_features})
classes = (sums + 0.5 * sums.std() * dice.normal(size={n_rows}) > 0).astype(np.int64)
threadpool_limits({threads}, user_api="blas")


def call() -> None:
    """Train a new estimator from beginning to end."""
    {kind}({options}random_state=0).fit(rows, classes)
'''

_TEXT = '''
{text}


documents = write_documents({n_documents}, {n_words})


def call() -> None:
    """Tokenise, hash and count every document."""
    count_tokens(documents)
'''
_ESTIMATORS = {
    spec.TREE: ("sklearn.tree", "DecisionTreeClassifier"),
    spec.FOREST: ("sklearn.ensemble", "RandomForestClassifier"),
    spec.LOGISTIC: ("sklearn.linear_model", "LogisticRegression"),
}
_NETWORKS = {
    spec.MLP: "Mlp", spec.CONVNET: "ConvNet", spec.INFERENCE: "ConvNet", spec.TRANSFORMER: "Transformer",
}  # fmt: skip


def write_snippet(params: NeedParams, point: Point | None) -> str:
    """Return the script for the work of ``point``; without one for the MLP's step."""
    workload, shape, device, threads = spec.MLP, SHAPES[params.size][spec.MLP], CPU, None
    if params.device.startswith("cuda"):
        device = params.device
    if point is not None and point.series in SERIES and len(point.shape) == 3:
        workload = SERIES[point.series][0]
        shape = (point.shape[0], point.shape[1], point.shape[2])
        device, threads = point.device, point.threads
    needs = "Needs only torch."
    if workload in _NETWORKS:
        work = _write_network(workload, shape, device, threads)
    elif workload in _ESTIMATORS:
        needs, work = "Needs scikit-learn.", _write_classical(workload, shape, threads)
    else:
        needs = "Needs only Python."
        text = _without_docstring(_TEXT_FILE)
        work = _TEXT.format(text=text, n_documents=shape[0], n_words=shape[1])
    what = f"{workload.replace('_', ' ')}, {shape[0]} examples"
    where = f"on {device}" + (f" with {threads} thread{'s' if threads > 1 else ''}" if threads else "")
    return _SCRIPT.format(
        title=f"Time of one call: {what}, {where}.",
        needs=needs,
        n_samples=N_SAMPLES,
        work=work.strip("\n"),
        block_s=BLOCK_S,
        untimed=UNTIMED_CALLS,
    )


def _write_network(workload: str, shape: Shape, device: str, threads: int | None) -> str:
    setup = f"torch.set_num_threads({threads})" if threads else ""
    if device != CPU:
        setup = 'torch.backends.cuda.matmul.fp32_precision = "ieee"  # no TF32\n'
        setup += 'torch.backends.cudnn.conv.fp32_precision = "ieee"'
    is_training = workload != spec.INFERENCE
    return _NETWORK.format(
        models=_without_docstring(_MODELS_FILE),
        setup=setup,
        kind=_NETWORKS[workload],
        batch=shape[0],
        width=shape[1],
        depth=shape[2],
        device=device,
        is_training=is_training,
        call=(_TRAIN if is_training else _INFER).format(device=device),
    )


def _write_classical(workload: str, shape: Shape, threads: int | None) -> str:
    module, kind = _ESTIMATORS[workload]
    options = f"n_estimators={shape[2]}, n_jobs={threads or 1}, " if workload == spec.FOREST else ""
    return _CLASSICAL.format(
        module=module, kind=kind, n_rows=shape[0], n_features=shape[1], threads=threads or None, options=options
    )


def _without_docstring(file: Path) -> str:
    return re.sub(r'\A""".*?"""\n', "", file.read_text(encoding="utf-8"), flags=re.DOTALL).strip()
