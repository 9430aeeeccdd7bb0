"""How a number is written: three significant digits, an SI prefix, always a unit."""

import math

_SI = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_SMALL_SI = ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"))
_BINARY = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
NBSP = "\u00a0"  # keeps a number and its unit on one line
SMALLEST_PERCENT_ERROR = 1e-4  # below, a percentage is mostly zeros
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_significant(number: float, digits: int = 3) -> str:
    """Return ``number`` with ``digits`` significant digits, thousands separated, no exponent."""
    if number == 0:
        return "0"
    if not math.isfinite(number):
        return "not finite"
    exponent = math.floor(math.log10(abs(number)))
    rounded = round(number, digits - 1 - exponent)
    exponent = math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(0, digits - 1 - exponent)}f}"


def _scaled(number: float, prefixes: tuple[tuple[float, str], ...], unit: str, digits: int) -> str:
    if number == 0:
        return f"0{NBSP}{unit}"
    for factor, prefix in prefixes:
        # 999.6 must become "1.00 k", not "1,000": compare what will be printed.
        if abs(float(f"{number / factor:.{digits}g}")) >= 1 or factor == prefixes[-1][0]:
            return f"{format_significant(number / factor, digits)}{NBSP}{prefix}{unit}"
    raise AssertionError("unreachable: the last prefix takes everything")


def format_time(time_s: float, digits: int = 3) -> str:
    """Return seconds as ``12.0 µs``, ``3.45 ms``, ``1.20 s``; from two minutes on as ``2 min 5 s``."""
    if time_s >= 120:
        minutes, seconds = divmod(round(time_s), 60)
        return f"{minutes}{NBSP}min {seconds}{NBSP}s"
    return _scaled(time_s, _SMALL_SI, "s", digits)


def format_rate_flops(rate_flops: float) -> str:
    """Return floating-point operations per second as ``19.5 TFLOP/s``."""
    return _scaled(rate_flops, _SI, "FLOP/s", 3)


def format_rate_items(rate_items: float, what: str = "examples") -> str:
    """Return examples per second as ``12.3 k examples/s``; no prefix below a thousand."""
    return _scaled(rate_items, _SI, f"{NBSP}{what}/s" if abs(rate_items) >= 999.5 else f"{what}/s", 3)


def format_flops(flops: float) -> str:
    """Return a count of floating-point operations as ``128 GFLOP``."""
    return _scaled(flops, _SI, "FLOP", 3)


def format_bandwidth(rate_bytes_s: float) -> str:
    """Return bytes per second as ``12.3 GB/s`` (1 GB = 1e9 bytes)."""
    return _scaled(rate_bytes_s, _SI, "B/s", 3)


def format_size(size_bytes: float) -> str:
    """Return an allocation as ``1.50 GiB`` (binary, labelled so)."""
    for factor, unit in _BINARY:
        if abs(size_bytes) >= factor:
            return f"{format_significant(size_bytes / factor)}{NBSP}{unit}"
    return f"{size_bytes:.0f}{NBSP}B"


def format_count(count: float) -> str:
    """Return a size or count with thousands separators, without needless decimals."""
    return f"{count:,.0f}" if float(count).is_integer() else format_significant(count)


def format_factor(factor: float) -> str:
    """Return a ratio as ``3.20 ×``; the caller says who wins."""
    return f"{format_significant(factor)}{NBSP}×"


def format_percent(share: float, digits: int = 2) -> str:
    """Return a share of one as ``8.3 %``."""
    return f"{format_significant(share * 100, digits)}{NBSP}%"


def format_plus_minus(half_width: float) -> str:
    """Return a relative half-width as ``± 1.2 %``."""
    return f"±{NBSP}{format_percent(half_width)}"


def format_energy(energy_j: float) -> str:
    """Return joules as ``12.0 pJ``, ``3.45 nJ``, ``1.20 mJ``."""
    return _scaled(energy_j, _SMALL_SI, "J", 3)


def format_error(rel_error: float) -> str:
    """Return a relative error as ``0.27 %``, under 0.01 % as ``2.5 × 10⁻⁷``."""
    if rel_error == 0 or rel_error >= SMALLEST_PERCENT_ERROR:
        return format_percent(rel_error)
    exponent = math.floor(math.log10(rel_error))
    digits = f"{rel_error / 10**exponent:.1f}"
    if digits == "10.0":  # 9.96e-8 is 1.0e-7, not 10.0e-8
        digits, exponent = "1.0", exponent + 1
    return f"{digits}{NBSP}×{NBSP}10{str(exponent).translate(_SUPERSCRIPTS)}"


def format_age(age_s: float) -> str:
    """Return how long ago something happened, in the words a person would use."""
    if age_s < 90:
        return "just now"
    for limit, unit_s, name in ((5400, 60, "min"), (129600, 3600, "h"), (math.inf, 86400, "days")):
        if age_s < limit:
            return f"{round(age_s / unit_s)}{NBSP}{name} ago"
    raise AssertionError("unreachable: the last limit is infinite")
