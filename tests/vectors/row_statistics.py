"""Statistics of softmax rows in high precision, straight from their definitions."""

from decimal import Decimal

from exact import INFINITY, exp, float32, short_float32

HIDDEN = "-Infinity"


def number(text):
    return Decimal(text) if isinstance(text, str) else float32(text)


def statistics(scores, mask):
    """maximum, entropy, effectiveKeys, jacobianNorm, saturation of softmax(visible scores)."""
    visible = [number(s) for s, m in zip(scores, mask) if m != HIDDEN]
    names = ["maximum", "entropy", "effectiveKeys", "jacobianNorm", "saturation"]
    if any(s.is_nan() or s == INFINITY for s in visible) or (visible and max(visible) == -INFINITY):
        return dict.fromkeys(names, "NaN")
    if not visible:
        return dict.fromkeys(names, 0) | {"saturation": "NaN"}
    top = max(visible)
    exponentials = [exp(s - top) for s in visible]
    total = sum(exponentials)
    a = [e / total for e in exponentials]
    entropy = -sum((x * x.ln() for x in a if x > 0), Decimal(0))
    n = len(a)
    jacobian = Decimal(0)
    squares = sum(x * x for x in a)
    for x in a:
        jacobian += (x * (1 - x)) ** 2 + x * x * (squares - x * x)
    saturation = Decimal(0) if n == 1 else 1 - entropy / Decimal(n).ln()
    # Where all are alike, the last digits of the high precision are no message.
    values = [max(a), entropy, exp(entropy), jacobian.sqrt(), saturation if saturation > Decimal("1e-40") else Decimal(0)]
    return dict(zip(names, map(float, values)))


def rows():
    """(name, scores, mask)"""
    seen = [0] * 200
    yield "one key", [7], [0]
    yield "two keys", [2, 0], [0, 0]
    yield "equal", [1.5] * 7, seen[:7]
    yield "equal and many", [-3] * 200, seen
    yield "nearly one-hot", [0, -20, -25, -30], seen[:4]
    yield "one-hot below the precision of 1", [50, 0, 0, 1], seen[:4]
    yield "one-hot below the smallest double", [1000, 0, -1000], seen[:3]
    yield "two share it", [100, 100, 0, 0], seen[:4]
    yield "negative and far down", [-60000, -60001, -60000.5], seen[:3]
    yield "an even spread", [float(float32(Decimal(i) / 8)) for i in range(-40, 41)], seen[:81]
    yield "a visible score of -Infinity", [1, "-Infinity", 0], seen[:3]
    yield "masked", [5, 1, 0, 2], [HIDDEN, 0, HIDDEN, 0]
    yield "masked to one key", [5, 1, 0], [HIDDEN, 0, HIDDEN]
    yield "masked where it is NaN or Infinity", ["NaN", 1, "Infinity", 2], [HIDDEN, 0, HIDDEN, 0]
    yield "a float mask that hides nothing", [5, 1, 0], [-1, 0, 3]
    yield "wholly masked", [1, 2, 3], [HIDDEN] * 3
    yield "wholly masked NaN", ["NaN", 2], [HIDDEN] * 2
    yield "no keys", [], []
    yield "a visible NaN", [1, "NaN", 0], seen[:3]
    yield "a visible Infinity", [1, "Infinity"], seen[:2]
    yield "nothing but visible -Infinity", ["-Infinity"] * 2, seen[:2]


def files():
    def text(item):
        return item if isinstance(item, str) else short_float32(float32(item))

    cases = [
        {"name": name, "scores": list(map(text, scores)), "mask": list(map(text, mask)),
         "expected": statistics(scores, mask)}
        for name, scores, mask in rows()
    ]
    yield "statistics/rows.json", cases
