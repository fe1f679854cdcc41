"""Draws of the seeded normal generator: SplitMix64 in whole numbers, the polar method exactly."""

from decimal import Decimal

from exact import short_float32, float32

WORD = 2**64


class SplitMix64:
    """Steele, Lea, Flood 2014."""

    def __init__(self, state):
        self.state = state

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % WORD
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
        return z ^ (z >> 31)

    def next_signed(self):
        """The upper 53 bits as a number in [-1, 1)."""
        return Decimal(self.next() >> 11) / 2**52 - 1


def draws(seed, stream, count):
    """The polar method of Marsaglia and Bray, rounded once, to float32."""
    uniform = SplitMix64(SplitMix64(stream * 2**32 + seed).next())
    numbers = []
    while len(numbers) < count:
        u, v = uniform.next_signed(), uniform.next_signed()
        s = u * u + v * v
        if s >= 1 or s == 0:
            continue
        factor = (-2 * s.ln() / s).sqrt()
        numbers += [u * factor, v * factor]
    return [nearest(number) for number in numbers[:count]]


def nearest(number):
    """The nearest float32; a double in between would round twice only at a tie, which is checked."""
    result = float32(number)
    for other in (result * (1 + Decimal(2) ** -23), result * (1 - Decimal(2) ** -23)):
        assert abs(result - number) <= abs(float32(other) - number)
    return result


def files():
    cases = [
        {"seed": seed, "stream": stream, "data": [short_float32(x) for x in draws(seed, stream, count)]}
        for seed, stream, count in [(0, 0, 33), (1, 0, 100), (1, 6, 100), (1, 7, 100), (42, 8, 500),
                                    (2**32 - 1, 5, 64), (7, 2**32 - 1, 1)]
    ]
    yield "normal/draws.json", cases
