"""What do these measurements say? Findings of a CSV or JSON file from anywhere."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from gpuexplain.analysis.batch_knee import find_batch_knee
from gpuexplain.analysis.crossover import find_crossover
from gpuexplain.analysis.matmul_peak import find_matmul_peak
from gpuexplain.analysis.precision_ranking import find_precision_ranking
from gpuexplain.analysis.transfer_fit import find_transfer_fit
from gpuexplain.asked import shown
from gpuexplain.errors import InputError
from gpuexplain.findings import BatchKnee, Crossover, MatmulPeak, PrecisionRanking, TransferFit
from gpuexplain.model import Dtype
from gpuexplain.points import least_disturbed_rows
from gpuexplain.store.series_columns import SERIES_COLUMNS
from gpuexplain.store.series_files import SeriesFile, read_series, read_series_file

ANALYSES = tuple(SERIES_COLUMNS)
SeriesFinding = MatmulPeak | PrecisionRanking | BatchKnee | TransferFit | Crossover


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a file says, and what was done to its rows before it could say it."""

    findings: SeriesFinding
    notes: tuple[str, ...]


def analyse_file(
    experiment: str, path: Path | str, gpu: str | None = None, dtype: Dtype | str | None = None
) -> Analysis:
    """Return the findings of a file; ``gpu`` and ``dtype`` compare a matmul with the part's peak.

    Raises:
        InputError: If the experiment, the dtype or anything in the file cannot be used.
    """
    wanted = _check_dtype(dtype)
    return _analyse(experiment, read_series_file(experiment, path), gpu or None, wanted)


def analyse_content(
    experiment: str,
    content: bytes,
    name: str,
    gpu: str | None = None,
    dtype: Dtype | str | None = None,
) -> Analysis:
    """Return the findings of an uploaded file called ``name``.

    Raises:
        InputError: If the experiment, the dtype or anything in the content cannot be used.
    """
    wanted = _check_dtype(dtype)
    return _analyse(experiment, read_series(experiment, content, name), gpu or None, wanted)


def _check_dtype(dtype: Dtype | str | None) -> Dtype | None:
    if not dtype:
        return None
    try:
        return Dtype(str(dtype).lower())
    except ValueError:
        raise InputError(f"Cannot use dtype {shown(dtype)}. Choose one of {', '.join(Dtype)}.") from None


def _analyse(experiment: str, series: SeriesFile, gpu: str | None, dtype: Dtype | None) -> Analysis:
    frame, _ = least_disturbed_rows(series.frame)
    return Analysis(_find(experiment, frame, gpu, dtype), series.notes)


def _find(experiment: str, frame: pd.DataFrame, gpu: str | None, dtype: Dtype | None) -> SeriesFinding:
    match experiment:
        case "matmul":
            return find_matmul_peak(frame, gpu, dtype)
        case "precision":
            return find_precision_ranking(frame, gpu)
        case "batch":
            return find_batch_knee(frame)
        case "transfer":
            return find_transfer_fit(frame)
        case _:
            return find_crossover(frame)
