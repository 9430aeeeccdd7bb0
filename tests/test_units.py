"""How energies and errors are written."""

import pytest

from gpuexplain.units import NBSP, format_energy, format_error


@pytest.mark.parametrize(
    ("rel_error", "text"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.0027, "0.27 %"),
        (0.00390625, "0.39 %"),
        (1e-4, "0.010 %"),
        (9.99e-5, "1.0 × 10⁻⁴"),
        (2.5e-7, "2.5 × 10⁻⁷"),
        (9.96e-8, "1.0 × 10⁻⁷"),
        (3e-16, "3.0 × 10⁻¹⁶"),
    ],
)
def test_an_error_is_a_percentage_or_a_power_of_ten(rel_error: float, text: str) -> None:
    """Below a hundredth of a percent zeros would hide the digits."""
    assert format_error(rel_error).replace(NBSP, " ") == text


@pytest.mark.parametrize(
    ("energy_j", "text"),
    [(3.1e-12, "3.10 pJ"), (4.2e-9, "4.20 nJ"), (0.05, "50.0 mJ"), (12.0, "12.0 J"), (0.0, "0 J")],
)
def test_an_energy_has_its_prefix(energy_j: float, text: str) -> None:
    """Three digits and an SI prefix, as every other figure."""
    assert format_energy(energy_j).replace(NBSP, " ") == text
