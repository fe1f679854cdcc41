"""The cases of the vectors: what each is for, its configuration and its inputs."""

from decimal import Decimal

from attention import shape_of
from exact import float32


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
