"""The classical estimators as scikit-learn trains them, on generated rows (scikit-learn)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import ThreadpoolController

from gpuexplain.experiments.need.spec import FOREST, LOGISTIC, TREE, Shape
from gpuexplain.measuring.stopwatch import Check

SEED = 0
NOISE = 0.5  # of the labels, as a share of what decides them: no estimator is done at once
# Two classes: an estimator that learned nothing is right in half of the rows it was trained on.
LEAST_ACCURACY = 0.7


def make_rows(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of numbers in [-1, 1) in fp32, and their classes: the sign of a noisy weighted sum."""
    dice = np.random.default_rng(SEED)
    rows = dice.uniform(-1, 1, (n_rows, n_features)).astype(np.float32)
    sums = rows @ dice.normal(size=n_features)
    return rows, (sums + NOISE * sums.std() * dice.normal(size=n_rows) > 0).astype(np.int64)


def make_fit(workload: str, shape: Shape, threads: int) -> Callable[[], Any]:
    """Return a call that trains a new estimator from beginning to end and returns it."""
    rows, classes = make_rows(shape[0], shape[1])
    kinds: dict[str, Callable[[], Any]] = {
        TREE: partial(DecisionTreeClassifier, random_state=SEED),
        FOREST: partial(RandomForestClassifier, n_estimators=shape[2], n_jobs=threads, random_state=SEED),
        LOGISTIC: partial(LogisticRegression, random_state=SEED),
    }
    kind = kinds[workload]
    return lambda: kind().fit(rows, classes)


def check_fit(fit: Callable[[], Any], shape: Shape) -> Check:
    """Return whether a trained estimator has learned anything."""
    accuracy = float(fit().score(*make_rows(shape[0], shape[1])))
    if accuracy >= LEAST_ACCURACY:
        return Check(None, 0, 0)
    return Check(None, 0, 0, failure=f"The estimator is right in only {accuracy:.0%} of the rows it was trained on.")


# The libraries under NumPy and SciPy; torch has its own.
_BLAS = ThreadpoolController().select(user_api="blas")


def use_blas_threads(threads: int) -> None:
    """Let the linear algebra under scikit-learn use this many threads."""
    _BLAS.limit(limits=threads)


@contextmanager
def kept_blas_threads() -> Iterator[None]:
    """Whatever is set inside, afterwards these libraries use as many threads as before."""
    with _BLAS.limit(limits=None):
        yield
