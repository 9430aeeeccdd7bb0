"""Run every benchmark, one after the other: they must not disturb each other."""

import importlib

for name in ("aa", "torch_timer", "sweep_budget", "first_curves", "server_cost", "page_headline", "tour"):
    print(f"== {name}", flush=True)
    importlib.import_module(f"benchmarks.{name}").main()
