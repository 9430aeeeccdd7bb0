"""What becomes of hostile input? Every door is tried with hundreds of inputs, valid ones and mutated ones.

The doors and their inputs are those of ``tests/limits``, where CI tries fewer of them. Wanted: each input is
taken or refused in clear words, a fifth of them at least is taken, and nothing of them stays in memory.
"""

import argparse
import gc
import sys
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Sequence

import psutil

from benchmarks.report import Figure, print_figures, write_section
from tests.limits.doors import Door, Tally, doors, knock_once, try_door

INPUTS_PER_DOOR = 500
LEAST_TAKEN = 0.2
MOST_GROWTH_BYTES = 64 * 2**10
_PASSES = 4


def main() -> None:
    """Print the figures and write their section; exit status 1 when one of them misses."""
    parser = argparse.ArgumentParser(prog="benchmarks.limits", description=__doc__)
    parser.add_argument("--inputs", type=int, default=INPUTS_PER_DOOR, help="inputs a door")
    parser.add_argument("--no-report", action="store_true", help="print only")
    options = parser.parse_args()
    tallies: dict[str, list[tuple[Door, Tally]]] = defaultdict(list)
    began_s = time.perf_counter()
    for door in doors():
        tallies[door.name.partition(" ")[0]].append((door, try_door(door, options.inputs)))
        print(f"{door.name}: {tallies[door.name.partition(' ')[0]][-1][1].n_inputs}", file=sys.stderr, flush=True)
    took_s = time.perf_counter() - began_s
    tried = [pair for group in tallies.values() for pair in group]
    figures = [_tell_total(tried, took_s), *(_tell_group(name, group) for name, group in tallies.items())]
    figures += [_tell_growth(tried)]
    holds = print_figures(figures)
    if not options.no_report:
        remark = (
            "`address`: the address bar and the form; `command`: `--set`; `file`: CSV and JSON of anybody; `import`: "
            "an exported run; `worker`: the pipe to the measuring process; `settings`: the operator's variables. A "
            "traceback, an unclear or an endless refusal ends the script. Pickles are refused under any name, and no "
            "code of this program could load one (`tests/limits/test_no_pickle.py`)."
        )
        write_section("limits", ".venv/bin/python -m benchmarks.limits", figures, remarks=[remark])
    sys.exit(not holds)


def _tell_total(tried: Sequence[tuple[Door, Tally]], took_s: float) -> Figure:
    n_inputs = sum(tally.n_inputs for _, tally in tried)
    told = f"{n_inputs:,} at {len(tried)} doors in {took_s:.0f} s; each taken, or refused in clear words"
    return Figure("inputs", told, "at least 1,000, no traceback", n_inputs >= 1_000)


def _tell_group(name: str, group: Sequence[tuple[Door, Tally]]) -> Figure:
    shares = [tally.n_taken / tally.n_inputs for _, tally in group]
    n_inputs = sum(tally.n_inputs for _, tally in group)
    n_taken = sum(tally.n_taken for _, tally in group)
    told = f"{n_taken:,} of {n_inputs:,} valid and taken ({n_taken / n_inputs:.0%}; {min(shares):.0%} at the least)"
    return Figure(f"`{name}`", told, f"at least {LEAST_TAKEN:.0%} at each", min(shares) >= LEAST_TAKEN)


def _tell_growth(tried: Sequence[tuple[Door, Tally]]) -> Figure:
    """Knock with the same inputs again and again; what is kept of them would show."""
    again = [(door, kept) for door, tally in tried for kept in tally.kept]
    traced, resident = [], []
    tracemalloc.start()
    for _ in range(_PASSES):
        for door, given_input in again:
            knock_once(door, given_input)
        gc.collect()
        traced.append(tracemalloc.get_traced_memory()[0])
        resident.append(psutil.Process().memory_info().rss)
    tracemalloc.stop()
    n_inputs = len(again) * (_PASSES - 1)
    growth, rss_growth = traced[-1] - traced[0], resident[-1] - resident[0]
    told = f"{growth / 2**10:+.1f} KiB of live objects ({rss_growth / 2**20:+.1f} MiB resident) after {n_inputs:,} more"
    return Figure("growth", told, f"under {MOST_GROWTH_BYTES // 2**10} KiB", growth < MOST_GROWTH_BYTES)


if __name__ == "__main__":
    main()
