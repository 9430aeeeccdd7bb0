"""What the speed claims rest on: each script prints figures and ratios measured in one run, interleaved.

Run them on a quiet machine: ``make bench``, or one by one as ``python -m benchmarks.NAME``.
"""
