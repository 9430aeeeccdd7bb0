"""``doctor``: what is this machine, and what can it measure?"""

from rich.table import Table

from gpuexplain import __version__
from gpuexplain.cli.printing import print_table
from gpuexplain.cli.root import JsonOption, app, out, started_runner
from gpuexplain.settings import Settings, load_settings
from gpuexplain.store.redaction import hide_secrets
from gpuexplain.units import format_time
from gpuexplain.wording.machine_words import Section, doctor_rows


@app.command()
def doctor(as_json: JsonOption = False) -> None:
    """Tell what this machine is, which devices can measure, and why there is no GPU where there is none."""
    settings = load_settings()
    with started_runner(settings) as (_, machine):
        pass
    if as_json:
        print(machine.model_dump_json())
        return
    for section in (*doctor_rows(machine), _settings_section(settings)):
        table = Table(title=section.title, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
        for label, text in section.rows:
            table.add_row(label, text)
        print_table(table)
        out.print()


def _settings_section(settings: Settings) -> Section:
    rows = (
        ("Version", __version__),
        ("Store", hide_secrets(settings.store_url)),
        ("Longest run", format_time(settings.max_budget_s)),
        ("Queue", f"at most {settings.max_queue} jobs"),
        ("Mode", "read-only: shows, never measures" if settings.read_only else "measures"),
    )
    return Section("GPU Explain", rows)
