"""Statistics of softmax rows in high precision, straight from their definitions."""

from decimal import Decimal

from cases import Random
from exact import INFINITY, exp, float32, short_float32

HIDDEN = "-Infinity"
NAN = Decimal("NaN")
NAMES = ["maximum", "entropy", "effectiveKeys", "jacobianNorm", "saturation"]


def number(text):
    return Decimal(text) if isinstance(text, str) else float32(text)


def exact_statistics(scores, mask):
    """The numbers of NAMES of softmax(visible scores), NaN throughout where that has none."""
    visible = [number(s) for s, m in zip(scores, mask) if m != HIDDEN]
    if any(s.is_nan() or s == INFINITY for s in visible) or (visible and max(visible) == -INFINITY):
        return [NAN] * 5
    if not visible:
        return [Decimal(0)] * 4 + [NAN]
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
    return [max(a), entropy, exp(entropy), jacobian.sqrt(), saturation if saturation > Decimal("1e-40") else Decimal(0)]


def named(numbers):
    return {name: "NaN" if n.is_nan() else float(n) for name, n in zip(NAMES, numbers)}


def summary(rows):
    """Of rows of (scores, mask): mean and largest of each number over those with a visible key."""
    seen = [exact_statistics(*row) for row in rows if any(m != HIDDEN for m in row[1])]
    columns = list(zip(*seen)) if seen else [[NAN]] * 5
    mean = [sum(column) / len(column) for column in columns]
    largest = [NAN if any(n.is_nan() for n in column) else max(column) for column in columns]
    return {"rows": len(rows), "empty": len(rows) - len(seen), "mean": named(mean), "largest": named(largest)}


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


def summaries():
    """(name, [batch, heads, T_q, T_k], the score of each cell or HIDDEN, the rows that are NaN)"""
    random = Random(7)

    def cells(shape, is_hidden):
        b, h, q, k = shape
        places = ((i // (h * q * k), i // (q * k) % h, i // k % q, i % k) for i in range(b * h * q * k))
        return [HIDDEN if is_hidden(*place) else random.number() for place in places]

    shape = [2, 3, 4, 5]
    yield "every key visible", shape, cells(shape, lambda b, h, i, j: False), []
    yield "causal order, each batch one of its own", shape, cells(shape, lambda b, h, i, j: j > i + b), []
    yield ("empty rows among others", shape,
           cells(shape, lambda b, h, i, j: (i + h) % 3 == b or (i + j) % 3 == 1), [])
    yield "a head, then a batch, of empty rows alone", shape, cells(shape, lambda b, h, i, j: b == 1 or h == 1), []
    yield ("a row that is NaN, and an empty row that would be", shape,
           cells(shape, lambda b, h, i, j: i == 2), [1, 14])
    shape = [1, 2, 70, 3]
    yield "more rows than one call hands over", shape, cells(shape, lambda b, h, i, j: i % 7 > j + 2), []
    yield "no keys", [1, 2, 3, 0], [], []
    yield "no queries", [2, 1, 0, 3], [], []


def summary_case(name, shape, cells, nan_rows):
    batches, heads, queries, keys = shape
    rows = []
    for index in range(batches * heads * queries):
        mask = cells[index * keys:(index + 1) * keys]
        rows.append((["NaN"] * keys if index in nan_rows else mask, mask))
    block = [rows[at * queries:(at + 1) * queries] for at in range(batches * heads)]
    of_batch = [sum(block[b * heads:(b + 1) * heads], []) for b in range(batches)]
    return {"name": name, "shape": shape,
            "scores": [c if c == HIDDEN else short_float32(c) for c in cells], "nanRows": nan_rows,
            "heads": list(map(summary, block)), "batches": list(map(summary, of_batch))}


def files():
    def text(item):
        return item if isinstance(item, str) else short_float32(float32(item))

    cases = [
        {"name": name, "scores": list(map(text, scores)), "mask": list(map(text, mask)),
         "expected": named(exact_statistics(scores, mask))}
        for name, scores, mask in rows()
    ]
    yield "statistics/rows.json", cases
    yield "statistics/summaries.json", [summary_case(*case) for case in summaries()]
