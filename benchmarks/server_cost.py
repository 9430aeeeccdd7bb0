"""What does the server itself cost: memory after one page, time to live and to ready?

Wanted: at most 220 MB; live within 2.5 x a one-line Streamlit app; ready in under 8 s.
"""

import statistics
from pathlib import Path

import psutil

from benchmarks.server import browser, serve, temporary_home, wait_for

REPEATS = 3


def main() -> None:
    """Print memory, and start times as ratios to a one-line app, interleaved."""
    live, bare = [], []
    for _ in range(REPEATS):
        with temporary_home() as home:
            live.append(time_to("app.py", home, "/api/live"))
            line = home / "line.py"
            line.write_text('import streamlit as st; st.write("hello")\n')
            bare.append(time_to(line, home, "/_stcore/health"))
    live_s, bare_s = statistics.median(live), statistics.median(bare)
    print(f"/api/live {live_s:.2f} s, one-line app {bare_s:.2f} s, ratio {live_s / bare_s:.2f}")
    with temporary_home() as home, serve("app.py", home) as (address, process, started_s), browser() as chromium:
        print(f"/api/ready {wait_for(f'{address}/api/ready', started_s, chr(34) + 'ready' + chr(34) + ':true'):.2f} s")
        page = chromium.new_page()
        page.goto(f"{address}/matmul")
        page.locator(".js-plotly-plot").nth(1).wait_for()
        page.wait_for_timeout(1000)
        print(
            f"app process after one page in one session: {psutil.Process(process.pid).memory_info().rss / 1e6:.0f} MB"
        )


def time_to(script: str | Path, home: Path, route: str) -> float:
    """Return the seconds from the start of a server until ``route`` answers."""
    with serve(script, home) as (address, _, started_s):
        return wait_for(f"{address}{route}", started_s)


if __name__ == "__main__":
    main()
