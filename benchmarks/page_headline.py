"""How long until a visitor reads the answer, beside a bare Streamlit page with the same two charts?

Wanted: at most 1.5 x the bare page, with a stored result.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import Browser

from benchmarks.server import ROOT, browser, serve, temporary_home, wait_for

REPEATS = 9
BARE = """import sys; sys.path.insert(0, {root!r})
import streamlit as st
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.settings import load_settings
from gpuexplain.store.runs import open_store

@st.cache_resource
def figures():
    run = open_store(load_settings()).load_run(open_store(load_settings()).list_runs(limit=1)[0].id)
    lab = EXPERIMENTS["matmul"]
    found = lab.find(run.points)
    return lab.draw_main(run.points, found, "light"), lab.draw_second(run.points, found, "light")

st.title("Bare")
for i, figure in enumerate(figures()):
    st.plotly_chart(figure, theme=None, key=str(i))
"""


def main() -> None:
    """Print both times and their ratio, interleaved."""
    with temporary_home() as home:
        _store_a_run(home)
        script = home / "bare.py"
        script.write_text(BARE.format(root=str(ROOT)))
        with serve("app.py", home) as ours, serve(script, home) as bare, browser() as chromium:
            wait_for(f"{ours[0]}/api/ready", ours[2], '"ready":true')
            wait_for(f"{bare[0]}/_stcore/health", bare[2])
            ours_s, bare_s = [], []
            for i in range(REPEATS + 2):  # the first two warm the servers up
                pair = (
                    headline_s(chromium, f"{ours[0]}/matmul?preset=quick", "On this machine"),
                    headline_s(chromium, bare[0], "Bare"),
                )
                if i >= 2:
                    ours_s.append(pair[0])
                    bare_s.append(pair[1])
    ratio = statistics.median(ours_s) / statistics.median(bare_s)
    print(f"headline {statistics.median(ours_s):.2f} s, bare page {statistics.median(bare_s):.2f} s, ratio {ratio:.2f}")


def headline_s(chromium: Browser, url: str, text: str) -> float:
    """Return the seconds from navigation until ``text`` is visible, in a fresh context."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    started_s = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.get_by_text(text).first.wait_for(timeout=30_000)
    seconds = time.perf_counter() - started_s
    context.close()
    return seconds


def _store_a_run(home: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "gpuexplain", "run", "matmul", "--set", "preset=quick", "--json"],
        cwd=ROOT,
        env={**os.environ, "GPUEXPLAIN_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        check=True,
    )


if __name__ == "__main__":
    main()
