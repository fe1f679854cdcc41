"""High-precision numbers for the vectors: float32 values, their text, and cells with error bounds."""

import struct
from decimal import Context, Decimal, localcontext, setcontext
from fractions import Fraction

# 60 digits; NaN and Infinity travel as in IEEE 754 instead of raising.
setcontext(Context(prec=60, Emin=-999999, Emax=999999, traps=[]))

LARGEST_FLOAT32 = Decimal(2**128 - 2**104)
INFINITY = Decimal("Infinity")


def float32(number):
    """The float32 nearest to a number, as an exact Decimal."""
    if isinstance(number, str) and number in ("NaN", "Infinity", "-Infinity"):
        return Decimal(number)
    return Decimal(struct.unpack("<f", struct.pack("<f", float(number)))[0])


def is_float32(number):
    return number.is_finite() and abs(number) <= LARGEST_FLOAT32 and float32(number) == number


def short_float32(number):
    """The shortest decimal that reads back as this float32, or the text of what is no number."""
    if not number.is_finite():
        return str(number)
    for digits in range(1, 10):
        text = f"{float(number):.{digits}g}"
        if float32(text) == number:
            return float(text)
    raise ValueError(f"{number} is no float32")


def as_json(number):
    """A result as JSON: a double, or the text of what JSON has no number for."""
    if number.is_nan():
        return "NaN"
    # Half a step above the largest float32 everything rounds to infinity.
    if abs(number) >= LARGEST_FLOAT32 + 2**103:
        return "-Infinity" if number < 0 else "Infinity"
    return float(number)


def exp(x):
    """eˣ by its series after halving x until it is below 2⁻⁸."""
    if x.is_nan():
        return x
    if x.is_infinite():
        return INFINITY if x > 0 else Decimal(0)
    with localcontext() as context:
        context.prec = 90
        halvings = max(0, int(abs(x)).bit_length() + 8)
        y = x / 2**halvings
        total = term = Decimal(1)
        n = 0
        while abs(term) > Decimal("1e-85"):
            n += 1
            term = term * y / n
            total += term
        for _ in range(halvings):
            total *= total
    return +total


class Cell:
    """An exact value and a first-order bound, in units of eps = 2⁻²³, on the float32 error.

    `error` is absolute. One rounding costs half an eps of the result.
    """

    __slots__ = ("value", "error")

    def __init__(self, value, error=0.0):
        self.value = value
        self.error = error

    @property
    def size(self):
        return float(abs(self.value)) if self.value.is_finite() else 0.0


def rounded(value, error):
    """A result of one operation: exact if its operands were and float32 holds it."""
    if error == 0 and is_float32(value):
        return Cell(value)
    return Cell(value, error + 0.5 * Cell(value).size)


def sums_exactly(products):
    """Whether float32 adds these up without an error in any order.

    That is so when all are multiples of one power of two and the sum of their sizes is at most
    2²⁴ times it.
    """
    fractions = [Fraction(p) for p in products]
    step = Fraction(1, max((f.denominator for f in fractions), default=1))
    return sum(map(abs, fractions)) <= 2**24 * step


def dot(row, column):
    products = [a.value * b.value for a, b in zip(row, column)]
    total = sum(products, Decimal(0))
    passed_on = sum(a.size * b.error + b.size * a.error for a, b in zip(row, column))
    if passed_on == 0 and all(p.is_finite() for p in products) and sums_exactly(products):
        return Cell(total)
    # n products and n sums, each rounded: at most (n + 1)/2 eps of Σ|a·b| in any order.
    sizes = sum(a.size * b.size for a, b in zip(row, column))
    return Cell(total, passed_on + 0.5 * (len(row) + 1) * sizes)


def matmul(a, b, cols):
    return [[dot(row, [line[j] for line in b]) for j in range(cols)] for row in a]


def exponential(cell):
    # The error of the exponent becomes a relative one; the kernel itself stays within 2 eps.
    value = exp(cell.value)
    if cell.error == 0 and cell.value == 0:
        return Cell(value)
    return Cell(value, Cell(value).size * (cell.error + 2))


def row_sum(row):
    # All are positive, so the bound may be added up.
    value = sum((c.value for c in row), Decimal(0))
    return Cell(value, sum(c.error for c in row) + 0.5 * len(row) * Cell(value).size)


def hyperbolic_tangent(x):
    if x.is_nan():
        return x
    e = exp(-2 * abs(x))
    return ((1 - e) / (1 + e)).copy_sign(x)


def add(cell, number):
    """A sum with an exact number, as float32 rounds it wherever that does not depend on the error."""
    total = cell.value + number
    margin = Decimal(cell.error) * Decimal(2) ** -23
    if total.is_finite() and abs(total) + margin < LARGEST_FLOAT32:
        low, high = float32(total - margin), float32(total + margin)
        if low == high:
            return Cell(low)
    return rounded(total, cell.error)


def quotient(a, b):
    if b.value == 0:
        return Cell(Decimal(0))
    value = a.value / b.value
    relative = (a.error / a.size if a.size else 0) + (b.error / b.size if b.size else 0)
    return Cell(value, (relative + 0.5) * Cell(value).size)
