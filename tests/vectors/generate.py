#!/usr/bin/env python3
"""Writes the test vectors of this folder: inputs exact in float32, results in high precision.

    generate.py           writes the files, removes those that no case makes any more
    generate.py --check   exits with 1 and names the file when a committed file differs

Only the standard library is used, and nothing of the code under test. README.md explains the format.
"""

import json
import struct
import sys
from decimal import Context, Decimal, localcontext, setcontext
from fractions import Fraction
from pathlib import Path

FOLDER = Path(__file__).parent
VERSION = 1
# 60 digits; NaN and Infinity travel as in IEEE 754 instead of raising.
setcontext(Context(prec=60, Emin=-999999, Emax=999999, traps=[]))

LARGEST_FLOAT32 = Decimal(2**128 - 2**104)
INFINITY = Decimal("Infinity")


# --- float32 and text ---------------------------------------------------------------------------


def float32(number):
    """The float32 nearest to a number, as an exact Decimal."""
    return Decimal(struct.unpack("<f", struct.pack("<f", float(number)))[0])


def is_float32(number):
    return number.is_finite() and abs(number) <= LARGEST_FLOAT32 and float32(number) == number


def short_float32(number):
    """The shortest decimal that reads back as this float32."""
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


# --- cells: exact values with a bound on what float32 may make of them ----------------------------


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


def quotient(a, b):
    if b.value == 0:
        return Cell(Decimal(0))
    value = a.value / b.value
    relative = (a.error / a.size if a.size else 0) + (b.error / b.size if b.size else 0)
    return Cell(value, (relative + 0.5) * Cell(value).size)


# --- attention ----------------------------------------------------------------------------------

# Stages whose cells differ by orders of magnitude are held to a relative bound.
RELATIVE = {"exponentials", "rowSum", "plainExponentials", "plainRowSum", "weights"}


def shape_of(stage, c):
    """[batch, heads, rows, cols] of a stage, written down apart from the core's own table."""
    b, h, g = c["batch"], c["heads"], c["kvHeads"]
    scores = [b, h, c["tq"], c["tk"]]
    return {
        "x": [b, 1, c["tq"], c["dModel"]],
        "xContext": [b, 1, c["tk"], c["dModel"]],
        "wq": [1, 1, c["dModel"], h * c["dK"]],
        "wk": [1, 1, c["dModel"], g * c["dK"]],
        "wv": [1, 1, c["dModel"], g * c["dV"]],
        "wo": [1, 1, h * c["dV"], c["dModel"]],
        "q": [b, h, c["tq"], c["dK"]],
        "k": [b, g, c["tk"], c["dK"]],
        "v": [b, g, c["tk"], c["dV"]],
        "keyTransposed": [b, g, c["dK"], c["tk"]],
        "rowMax": [b, h, c["tq"], 1],
        "rowSum": [b, h, c["tq"], 1],
        "plainRowSum": [b, h, c["tq"], 1],
        "heads": [b, h, c["tq"], c["dV"]],
        "concat": [b, 1, c["tq"], h * c["dV"]],
        "output": [b, 1, c["tq"], c["dModel"]],
    }.get(stage, scores)


def split(flat, shape):
    """Flat numbers as nested lists [batch][head][row][col] of cells."""
    cells = iter(flat)
    return [
        [[[Cell(next(cells)) for _ in range(shape[3])] for _ in range(shape[2])] for _ in range(shape[1])]
        for _ in range(shape[0])
    ]


def scale_cell(c):
    if "scale" in c:
        return Cell(float32(c["scale"]))
    if c["dK"] == 0:
        return Cell(Decimal(1))
    return rounded(1 / Decimal(c["dK"]).sqrt(), 0.0)


def attention(c, inputs):
    """Every computed stage of a configuration, [batch][head][row][col] of cells."""
    given = {name: split(flat, shape_of(name, c)) for name, flat in inputs.items()}
    names = ["keyTransposed", "rawScores", "scaledScores", "rowMax", "shifted", "exponentials"]
    names += ["rowSum", "plainExponentials", "plainRowSum", "weights", "heads", "concat"]
    if c["source"] == "x":
        names = ["q", "k", "v"] + names
    if c.get("outputProjection"):
        names.append("output")
    out = {name: [] for name in names}
    for b in range(c["batch"]):
        if c["source"] == "x":
            x = given["x"][b][0]
            context = given["xContext"][b][0] if c.get("context") else x
            q = project(x, given["wq"][0][0], c["heads"], c["dK"])
            k = project(context, given["wk"][0][0], c["kvHeads"], c["dK"])
            v = project(context, given["wv"][0][0], c["kvHeads"], c["dV"])
            out["q"].append(q)
            out["k"].append(k)
            out["v"].append(v)
        else:
            q, k, v = (given[name][b] for name in "qkv")
        transposed = [[[row[d] for row in head] for d in range(c["dK"])] for head in k]
        out["keyTransposed"].append(transposed)
        for name in names[names.index("rawScores") : names.index("concat")]:
            out[name].append([])
        for h in range(c["heads"]):
            group = h * c["kvHeads"] // c["heads"]
            for name, matrix in one_head(c, q[h], transposed[group], v[group]).items():
                out[name][b].append(matrix)
        heads = out["heads"][b]
        concat = [[cell for head in heads for cell in head[i]] for i in range(c["tq"])]
        out["concat"].append([concat])
        if "output" in out:
            out["output"].append([matmul(concat, given["wo"][0][0], c["dModel"])])
    return out


def project(x, w, heads, width):
    """X·W, its columns split into heads."""
    blocks = [[line[h * width : (h + 1) * width] for line in w] for h in range(heads)]
    return [matmul(x, block, width) for block in blocks]


def one_head(c, q, key_transposed, v):
    scale = scale_cell(c)
    raw = matmul(q, key_transposed, c["tk"])
    scaled = [
        [
            rounded(s.value * scale.value, s.error * scale.size + scale.error * s.size)
            for s in row
        ]
        for row in raw
    ]
    row_max = [
        Cell(
            max((s.value for s in row), default=-INFINITY),
            max((s.error for s in row), default=0.0),
        )
        for row in scaled
    ]
    shifted = [
        [
            # The maximum minus itself is 0 whatever its error.
            Cell(Decimal(0)) if s.value == m.value and s.error == 0
            else rounded(s.value - m.value, s.error + m.error)
            for s in row
        ]
        for row, m in zip(scaled, row_max)
    ]
    exponentials = [[exponential(s) for s in row] for row in shifted]
    sums = [row_sum(row) for row in exponentials]
    plain = [[exponential(s) for s in row] for row in scaled]
    weights = [[quotient(e, total) for e in row] for row, total in zip(exponentials, sums)]
    return {
        "rawScores": raw,
        "scaledScores": scaled,
        "rowMax": [[m] for m in row_max],
        "shifted": shifted,
        "exponentials": exponentials,
        "rowSum": [[total] for total in sums],
        "plainExponentials": plain,
        "plainRowSum": [[row_sum(row)] for row in plain],
        "weights": weights,
        "heads": matmul(weights, v, c["dV"]),
    }


# --- cases --------------------------------------------------------------------------------------


class Random:
    """Numbers between −2 and 2 that are multiples of 1/64, from a linear congruential generator."""

    def __init__(self, seed):
        self.state = seed

    def numbers(self, count):
        return [self.number() for _ in range(count)]

    def number(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return Decimal((self.state >> 40) % 257 - 128) / 64


def sizes(tq, tk, dk, dv, **more):
    return {"batch": 1, "heads": 1, "kvHeads": 1, "tq": tq, "tk": tk, "dK": dk, "dV": dv,
            "dModel": 0, "source": "qkv"} | more


def given(**matrices):
    """Nested lists of numbers, rounded to float32, as flat inputs."""

    def flat(item):
        return [float32(item)] if not isinstance(item, list) else sum(map(flat, item), [])

    return {name: flat(matrix) for name, matrix in matrices.items()}


def random_inputs(c, seed):
    random = Random(seed)
    names = ["x", "wq", "wk", "wv"] if c["source"] == "x" else ["q", "k", "v"]
    names += ["xContext"] if c.get("context") else []
    names += ["wo"] if c.get("outputProjection") else []
    counts = {name: shape_of(name, c) for name in names}
    return {name: random.numbers(s[0] * s[1] * s[2] * s[3]) for name, s in counts.items()}


def digits(rows):
    """Rows of one-digit numbers: "1010 0201" is [[1, 0, 1, 0], [0, 2, 0, 1]]."""
    return [[int(digit) for digit in row] for row in rows.split()]


WORKED = given(q=[[2, 0, 2, 0], [0, 4, 0, 2]], k=[[1, 0, 1, 0], [0, 1, 0, 0]], v=[[1, 2], [3, 0]])
CAT_GRIDS = {
    "wq": [["0.1", "0.4"], ["0.2", "-0.1"], ["-0.3", "0.5"], ["0.6", "0.2"]],
    "wk": [["-0.2", "0.3"], ["0.5", "0.1"], ["0.4", "-0.2"], ["-0.1", "0.6"]],
    "wv": [["0.3", "-0.2", "0.5"], ["-0.1", "0.4", "0.2"], ["0.6", "0.1", "-0.3"], ["0.2", "-0.5", "0.4"]],
}
CAT = ["0.5", "-0.3", "0.8", "0.2"]
SENTENCE = [[-1, 0, 1, -1], CAT, [1, 1, -2, 2]]
LAYER = given(
    x=digits("10100010 01001001"),
    wq=digits("1010 0201 1000 0000 0100 0000 0010 0101"),
    wk=digits("1000 0100 0010 0000 0000 0000 0000 0000"),
    wv=digits("10 10 01 00 10 00 01 10"),
    wo=[[1, 0, -1, 0, 2, 0, "0.5", 1], [0, 1, 0, -1, 0, 2, 1, "-0.5"]],
)


def cases():
    """(name, what it is for, configuration, inputs)"""
    yield "worked-example", "Two tokens, every step exact up to the softmax.", sizes(2, 2, 4, 2), WORKED
    yield (
        "second-example",
        "Three tokens whose result differs under every usual mistake; the last row is uniform.",
        sizes(3, 3, 4, 2),
        given(q=[[2, 0, 2, 0], [0, 4, 0, 2], [1, 1, 0, 0]], k=[[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 1]],
              v=[[1, 2], [3, 0], [0, 4]]),
    )
    yield (
        "exercise-1",
        "d_k = 64 and q·k = 16 beside a key of zeros: scaled to 2 and 0.",
        sizes(1, 2, 64, 2),
        given(q=["0.5"] * 64, k=["0.5"] * 64 + [0] * 64, v=[[1, 0], [0, 1]]),
    )
    yield (
        "exercise-1-unscaled",
        "The same scores without the division by √d_k: a saturated row.",
        sizes(1, 2, 64, 2, scale=1),
        given(q=["0.5"] * 64, k=["0.5"] * 64 + [0] * 64, v=[[1, 0], [0, 1]]),
    )
    yield (
        "exercise-2",
        "One query, two equally relevant keys; the scale 1/2 is given because the width is 2, not 4.",
        sizes(1, 2, 2, 2, scale=0.5),
        given(q=[1, 2], k=[[2, 1], [0, 2]], v=[[10, 0], [0, 20]]),
    )
    yield (
        "exercise-3",
        "The shapes of a whole layer: T = 4, d_model = 8, d_k = d_v = 4, back to d_model by W_o.",
        (c := sizes(4, 4, 4, 4, dModel=8, source="x", outputProjection=True)),
        random_inputs(c, 3),
    )
    yield (
        "cat",
        "One token through the grids of the walkthrough: its weight is 1 whatever q and k are.",
        sizes(1, 1, 2, 3, dModel=4, source="x"),
        given(x=CAT, **CAT_GRIDS),
    )
    yield (
        "the-cat-sat",
        "Three tokens through the grids of the walkthrough.",
        sizes(3, 3, 2, 3, dModel=4, source="x"),
        given(x=SENTENCE, **CAT_GRIDS),
    )
    yield (
        "the-cat-sat-same-grid",
        "W_k = W_q: the scores become symmetric, the weights do not.",
        sizes(3, 3, 2, 3, dModel=4, source="x"),
        given(x=SENTENCE, **(CAT_GRIDS | {"wk": CAT_GRIDS["wq"]})),
    )
    yield (
        "layer",
        "T = 2, d_model = 8: gives the worked example's Q, K and V, and has a W_o.",
        sizes(2, 2, 4, 2, dModel=8, source="x", outputProjection=True),
        LAYER,
    )
    yield (
        "cross-attention",
        "Keys and values from a context of five tokens, queries from three.",
        (c := sizes(3, 5, 4, 3, dModel=6, source="x", context=True, outputProjection=True)),
        random_inputs(c, 11),
    )
    yield (
        "single-token",
        "T = 1: the weight is exactly 1 and the output row is V's row.",
        (c := sizes(1, 1, 5, 3)),
        random_inputs(c, 12),
    )
    for seed, (tq, tk, dk, dv) in enumerate(
        [(1, 9, 3, 2), (2, 5, 1, 9), (3, 7, 6, 1), (5, 3, 9, 6), (6, 1, 7, 5), (7, 6, 2, 3), (9, 2, 5, 7)]
    ):
        yield (
            f"sizes-{tq}-{tk}-{dk}-{dv}",
            "T_q, T_k, d_k and d_v all differ and none is a multiple of four.",
            (c := sizes(tq, tk, dk, dv)),
            random_inputs(c, 20 + seed),
        )
    yield (
        "equal-scores",
        "All keys alike: uniform weights, the output is the mean of V.",
        sizes(2, 5, 3, 2),
        given(q=[[1, 2, 3], [-4, 5, "0.25"]], k=[["0.5", -1, 2]] * 5, v=[[1, 0], [2, 1], [4, -1], [8, 3], [16, -5]]),
    )
    yield (
        "zero-query",
        "q = 0 does not match nothing: uniform weights.",
        sizes(1, 3, 2, 2),
        given(q=[0, 0], k=[[5, -3], [0, 1], [2, 2]], v=[[3, 0], [0, 6], [-9, 3]]),
    )
    yield (
        "large-logits",
        "Scores near ±10⁴ with steps of 2⁻¹⁰; exp without the shift overflows or vanishes.",
        sizes(2, 7, 1, 3, scale=1),
        given(q=[[1], [-1]],
              k=[[10000 + Decimal(n) / 1024] for n in (0, 1, 2, 5, 1024)] + [[9990], [-10000]],
              v=[[n, -n, n * n] for n in range(1, 8)]),
    )
    yield (
        "underflow",
        "Weights from 1 down to below the smallest float32 number.",
        sizes(1, 9, 1, 1, scale=1),
        given(q=[[1]], k=[[0], [-10], [-50], [-80], [-87], [-90], [-100], [-103], [-200]], v=[[1]] * 9),
    )
    yield (
        "scale-zero",
        "A scale of 0 is legal and not the same as none: uniform weights.",
        (c := sizes(3, 4, 2, 3, scale=0)),
        random_inputs(c, 30),
    )
    yield (
        "scale-negative",
        "A negative scale is legal: the least similar key wins.",
        (c := sizes(3, 4, 2, 3, scale=-1.5)),
        random_inputs(c, 31),
    )
    yield "no-keys", "T_k = 0: nothing to attend to, outputs of 0.", (c := sizes(2, 0, 3, 2)), random_inputs(c, 1)
    yield "no-queries", "T_q = 0: an empty result.", (c := sizes(0, 3, 3, 2)), random_inputs(c, 40)
    yield "no-features", "d_k = 0: every score is 0.", (c := sizes(2, 3, 0, 2)), random_inputs(c, 41)


# --- files --------------------------------------------------------------------------------------


def bound_of(stage, cells):
    """{absolute, relative} in units of eps, rounded up to three digits."""
    relative = stage in RELATIVE
    # Infinities and NaN are compared as they are.
    finite = [c for c in cells if c.value.is_finite() and abs(c.value) <= LARGEST_FLOAT32]
    worst = max(
        ((c.error / c.size if c.size else 0.0) if relative else c.error for c in finite),
        default=0.0,
    )
    worst = float(f"{worst * 1.005:.3g}")
    return {"absolute": 0 if relative else worst, "relative": worst if relative else 0}


def vector(name, about, config, inputs):
    expected = {}
    for stage, nested in attention(config, inputs).items():
        cells = [cell for batch in nested for head in batch for row in head for cell in row]
        shape = shape_of(stage, config)
        assert len(cells) == shape[0] * shape[1] * shape[2] * shape[3], (name, stage)
        expected[stage] = {
            "shape": shape,
            "eps": bound_of(stage, cells),
            "data": [as_json(cell.value) for cell in cells],
        }
    for stage, flat in inputs.items():
        assert all(map(is_float32, flat)), (name, stage)
    return {
        "version": VERSION,
        "producer": "tests/vectors/generate.py",
        "name": name,
        "about": about,
        "config": config,
        "inputs": {stage: [short_float32(number) for number in flat] for stage, flat in inputs.items()},
        "expected": expected,
    }


def text_of(vector):
    """JSON with one line for each member of `inputs` and `expected`."""

    def line(value):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    members = []
    for key, value in vector.items():
        if key in ("inputs", "expected"):
            inner = ",\n".join(f"    {line(name)}: {line(item)}" for name, item in value.items())
            members.append(f"  {line(key)}: {{\n{inner}\n  }}")
        else:
            members.append(f"  {line(key)}: {line(value)}")
    return "{\n" + ",\n".join(members) + "\n}\n"


def check_schema(value, schema, place):
    """The few words of JSON Schema that schema.json uses."""
    kinds = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int,
             "boolean": bool}
    if "anyOf" in schema:
        if not any(fits(value, option, place) for option in schema["anyOf"]):
            raise ValueError(f"{place} fits no alternative: {value!r}")
        return
    if "type" in schema and not isinstance(value, kinds[schema["type"]]):
        raise ValueError(f"{place} is no {schema['type']}: {value!r}")
    if "enum" in schema and value not in schema["enum"]:
        raise ValueError(f"{place} is not one of {schema['enum']}: {value!r}")
    for name in schema.get("required", []):
        if name not in value:
            raise ValueError(f"{place} lacks {name}")
    if isinstance(value, dict):
        for name, item in value.items():
            rest = schema.get("additionalProperties", {})
            inner = schema.get("properties", {}).get(name, rest)
            if inner is False:
                raise ValueError(f"{place} has an unknown member {name}")
            check_schema(item, inner, f"{place}.{name}")
    if isinstance(value, list):
        for index, item in enumerate(value):
            check_schema(item, schema.get("items", {}), f"{place}[{index}]")


def fits(value, schema, place):
    try:
        check_schema(value, schema, place)
    except ValueError:
        return False
    return True


def main(arguments):
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    texts = {}
    for case in cases():
        made = vector(*case)
        check_schema(made, schema, made["name"])
        texts[f"{made['name']}.json"] = text_of(made)
    present = {path.name for path in FOLDER.glob("*.json")} - {"schema.json"}
    if arguments == ["--check"]:
        wrong = sorted(present - texts.keys())
        wrong += [
            name for name, text in texts.items()
            if name not in present or (FOLDER / name).read_text(encoding="utf-8") != text
        ]
        for name in wrong:
            print(f"{name} is not what generate.py writes; run tests/vectors/generate.py")
        return 1 if wrong else 0
    if arguments:
        print(__doc__)
        return 2
    for name in present - texts.keys():
        (FOLDER / name).unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(texts)} vectors, {sum(map(len, texts.values())) // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
