"""How many multiplications and additions is a layer, and which of them wait for each other?"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Output:
    """One output of a layer: its products, in order, and their sum."""

    index: int
    products: tuple[tuple[float, float], ...]  # (input, weight)

    @property
    def total(self) -> float:
        """The output itself."""
        return sum(left * right for left, right in self.products)

    @property
    def n_multiplications(self) -> int:
        """One per input."""
        return len(self.products)

    @property
    def n_additions(self) -> int:
        """One less than there are products to add."""
        return max(0, len(self.products) - 1)

    def write(self) -> str:
        """Return the sum as a person would write it: ``1 x 4 + 2 x 6 + 3 x 8 = 40``."""
        terms = " + ".join(f"{_write(left)} x {_write(right)}" for left, right in self.products)
        return f"{terms} = {_write(self.total)}"


def _write(number: float) -> str:
    text = f"{number:g}"
    return f"({text})" if number < 0 else text


def work_out(inputs: Sequence[float], weights: Sequence[Sequence[float]]) -> tuple[Output, ...]:
    """Return the outputs of inputs (k) times weights (k rows, n columns), each with its products.

    Raises:
        ValueError: If the rows of the weights are not as many as the inputs, or not of one length.
    """
    if len(weights) != len(inputs) or len({len(row) for row in weights}) != 1:
        raise ValueError(f"{len(inputs)} inputs need {len(inputs)} rows of weights, all of one length.")
    n_outputs = len(weights[0])
    return tuple(
        Output(j, tuple((value, row[j]) for value, row in zip(inputs, weights, strict=True))) for j in range(n_outputs)
    )


@dataclass(frozen=True, slots=True)
class Round:
    """Steps that do not need each other: with enough workers all of them are done at the same time."""

    name: str  # "multiply" or "add"
    steps: tuple[tuple[int, str], ...]  # (output it belongs to, "4 + 12 = 16")


def list_rounds(outputs: Sequence[Output]) -> tuple[Round, ...]:
    """Return what can be done at the same time, in the order in which it must be done.

    First every multiplication of every output; then each output adds its next product, one a round.
    """
    multiply = Round(
        "multiply",
        tuple(
            (output.index, f"{_write(left)} x {_write(right)} = {_write(left * right)}")
            for output in outputs
            for left, right in output.products
        ),
    )
    most = max((o.n_additions for o in outputs), default=0)
    adds = (
        Round("add", tuple((o.index, _addition(o, place)) for o in outputs if place <= o.n_additions))
        for place in range(1, most + 1)
    )
    return (multiply, *adds)


def _addition(output: Output, place: int) -> str:
    products = [left * right for left, right in output.products]
    so_far = sum(products[:place])
    return f"{_write(so_far)} + {_write(products[place])} = {_write(so_far + products[place])}"


@dataclass(frozen=True, slots=True)
class Count:
    """The operations of ``depth`` square layers of ``width`` for a ``batch`` of examples."""

    batch: int
    width: int
    depth: int

    @property
    def n_multiplications(self) -> int:
        """Inputs x outputs, per example and layer."""
        return self.batch * self.width * self.width * self.depth

    @property
    def n_additions(self) -> int:
        """Inputs - 1 to add each output's products, and its bias."""
        return self.batch * self.width * self.width * self.depth

    @property
    def flops(self) -> float:
        """Operations of the products alone: 2 x multiply-adds, as everywhere on these pages."""
        return 2.0 * self.n_multiplications

    @property
    def n_independent(self) -> int:
        """Outputs of one layer, none of which needs another: what can be done at the same time."""
        return self.batch * self.width

    @property
    def n_in_a_row(self) -> int:
        """Layers, each of which needs the one before: what cannot."""
        return self.depth
