"""``analyse``: what do anybody's measurements say?"""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from gpuexplain.analyse import ANALYSES, analyse_file
from gpuexplain.cli.printing import print_table
from gpuexplain.cli.root import JsonOption, app, err, print_json
from gpuexplain.findings import to_json


@app.command()
def analyse(
    experiment: Annotated[str, typer.Argument(help=f"One of: {', '.join(ANALYSES)}.")],
    file: Annotated[Path, typer.Argument(help="A CSV or JSON file with measurements from anywhere.")],
    gpu: Annotated[str | None, typer.Option(help="Name of the GPU, as the driver prints it.")] = None,
    dtype: Annotated[str | None, typer.Option(help="Number format of the whole file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what anybody's measurements say, by the same rules as our own."""
    analysis = analyse_file(experiment, file, gpu=gpu, dtype=dtype)
    if as_json:
        print_json({"findings": to_json(analysis.findings), "notes": list(analysis.notes)})
        return
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, found in to_json(analysis.findings).items():
        table.add_row(name, "-" if found is None else json.dumps(found, ensure_ascii=False))
    print_table(table)
    for note in analysis.notes:
        err.print(f"note: {note}")
