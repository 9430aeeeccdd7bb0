"""``advise``: does a stack of layers need a GPU, by what was measured on this machine?"""

import math
import time
from typing import Annotated, Any

import typer

from gpuexplain.adviser.evidence import gather
from gpuexplain.adviser.params import AdviceParams
from gpuexplain.adviser.words import tell_advice
from gpuexplain.analysis.advice import advise as find_advice
from gpuexplain.asked import check_params
from gpuexplain.cli.root import JsonOption, app, out, print_json, started_runner
from gpuexplain.errors import InputError
from gpuexplain.experiments.devices import resolve_device
from gpuexplain.findings import to_json
from gpuexplain.settings import load_settings
from gpuexplain.store.runs import open_store
from gpuexplain.wording.markup import plain

Option = typer.Option


@app.command()
def advise(
    width: Annotated[str | None, Option(metavar="N", help="Inputs and outputs of every layer.")] = None,
    depth: Annotated[str | None, Option(metavar="N", help="Layers.")] = None,
    batch: Annotated[str | None, Option(metavar="N", help="Examples of one pass.")] = None,
    passes: Annotated[str | None, Option(metavar="N", help="Passes while the data stay on the device.")] = None,
    data_mib: Annotated[str | None, Option(metavar="MIB", help="Data copied in, MiB.")] = None,
    part: Annotated[str | None, Option(metavar="NAME", help="GPU to compare with where none works here.")] = None,
    device: Annotated[str | None, Option(help="auto, cpu or cuda:N.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Tell whether a stack of layers needs a GPU: time, memory and break-even, by what was measured here."""
    given = {
        "width": width, "depth": depth, "batch": batch, "passes": passes, "data_mib": data_mib, "part": part,
        "device": device,
    }  # fmt: skip
    reading = check_params(AdviceParams, {name: text for name, text in given.items() if text is not None})
    if reading.problems:
        raise InputError(" ".join(reading.problems))
    settings = load_settings()
    store = open_store(settings)
    with started_runner(settings, store) as (_, machine):
        resolve_device(reading.params, machine)  # refuses a device that is not there
        basis = gather(reading.params, store, machine)
    advice = find_advice(reading.params.stack, basis.cpu, basis.gpu, basis.link)
    words = tell_advice(advice, basis, time.time())
    if as_json:
        evidence = {"evidence": to_json(basis.evidence), "missing": to_json(basis.missing)}
        print_json(_finite({"advice": to_json(advice), **evidence, "measured": to_json(basis.measured)}))
        return
    out.print(plain(words.answer))
    for heading, lines in (("", words.facts), ("Measured", words.measured), ("Rests on", words.rests_on)):
        if lines:
            out.print(f"\n{heading}:" if heading else "")
            for line in lines:
                out.print(plain(line))
    for missing, text in words.missing:
        out.print(f"{plain(text)} Run: python -m gpuexplain run {missing.experiment} --device {missing.device}")


def _finite(found: Any) -> Any:
    """Return JSON values without endless numbers: where there is only a bound, the other end is null."""
    if isinstance(found, dict):
        return {name: _finite(each) for name, each in found.items()}
    if isinstance(found, list):
        return [_finite(each) for each in found]
    return None if isinstance(found, float) and math.isinf(found) else found
