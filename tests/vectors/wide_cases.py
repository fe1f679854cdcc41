"""Cases with masks, heads, a past, softcap and gradients; one for every decision that others take otherwise."""

from decimal import Decimal

from attention import past_shape, shape_of
from cases import Random, given, sizes
from exact import float32

HIDDEN = Decimal("-Infinity")
NAN = "NaN"
INF = "Infinity"


def filled(c, seed, **given_inputs):
    """Random numbers for every input that is not given."""
    random = Random(seed)
    names = ["x", "wq", "wk", "wv"] if c["source"] == "x" else ["q", "k", "v"]
    names += ["xContext"] if c.get("context") else []
    names += ["wo"] if c.get("outputProjection") else []
    names += ["dOutput"] if c.get("gradients") else []
    inputs = {}
    for name in names:
        b, h, rows, cols = shape_of(name, c)
        inputs[name] = random.numbers(b * h * rows * cols)
    return inputs | given(**given_inputs)


def past_of(c, seed):
    random = Random(seed)
    found = {}
    for name in ("presentKey", "presentValue"):
        b, g, rows, cols = past_shape(name, c)
        found[name] = random.numbers(b * g * rows * cols)
    return found


def boolean(shape, text):
    """A boolean mask from ones and zeros."""
    return {"kind": "boolean", "shape": shape, "values": [Decimal(digit) for digit in text if digit in "01"]}


def floats(shape, values):
    return {"kind": "float", "shape": shape, "values": [float32(v) for v in values]}


def random_mask(shape, seed):
    """A float mask of random numbers, every third hidden."""
    count = 1
    for extent in shape:
        count *= extent
    numbers = Random(seed).numbers(count)
    return {"kind": "float", "shape": shape,
            "values": [HIDDEN if i % 3 == 1 else n for i, n in enumerate(numbers)]}


def spoiled(flat, cols, row, bad):
    """The same numbers with one row replaced by a number that is none."""
    return [float32(bad) if i // cols == row else n for i, n in enumerate(flat)]


def cases():
    """(name, what it is for, configuration, inputs, mask or None, past or None)"""
    yield from masks()
    yield from orders()
    yield from heads()
    yield from extremes()
    yield from not_numbers()
    yield from backward()


def masks():
    c = sizes(3, 5, 3, 2, batch=2, heads=2, kvHeads=2, masked=True)
    for name, about, mask in (
        ("mask-rank-1", "One number a key.", random_mask([5], 1)),
        ("mask-rank-2", "One number a query and a key.", random_mask([3, 5], 2)),
        ("mask-rank-3", "One matrix a head.", random_mask([2, 3, 5], 3)),
        ("mask-rank-4", "One matrix a batch and a head.", random_mask([2, 2, 3, 5], 4)),
        ("mask-ones", "Axes of 1 stand for all, between longer ones.", random_mask([2, 1, 3, 1], 5)),
        ("mask-short", "Keys beyond a short last axis are hidden.", random_mask([3, 3], 6)),
        ("mask-boolean", "True may attend; the second query sees nothing.",
         boolean([3, 5], "10110 00000 01001")),
        ("mask-boolean-heads", "One boolean matrix a head.", boolean([2, 3, 5], "11111 01010 00001 10000 00000 10111")),
        ("mask-boolean-short", "Beyond a short boolean mask everything is hidden, too.",
         boolean([2, 1, 1, 2], "01 11")),
    ):
        yield name, about, c, filled(c, 50), mask, None
    c = sizes(2, 4, 17, 3, masked=True, scale=0.25)
    yield ("mask-unscaled", "The mask is added after scaling and is not scaled itself.", c, filled(c, 51),
           floats([2, 4], [0, -4, "0.5", 3, -1, 0, 2, "-0.25"]), None)
    c = sizes(2, 3, 5, 1, masked=True, softcap=1.5)
    yield ("softcap-masked", "Softcap comes first, so that −∞ still hides.", c, filled(c, 52),
           floats([2, 3], [0, HIDDEN, 0, HIDDEN, HIDDEN, "0.5"]), None)
    c = sizes(3, 4, 7, 3, softcap=2)
    yield "softcap", "Scores within the cap, on both sides.", c, filled(c, 53), None, None
    c = sizes(1, 5, 1, 2, softcap=3, scale=1)
    yield ("softcap-saturated", "Scores far beyond the cap all but share.", c,
           filled(c, 54, q=[1], k=[0, 3, 40, -40, 10000]), None, None)
    c = sizes(2, 130, 3, 2, masked=True)
    yield "keys-130", "A row of 130 keys, a third of them hidden.", c, filled(c, 55), random_mask([130], 7), None
    c = sizes(130, 2, 3, 1, causal=True)
    yield "queries-130", "130 queries for two keys, in causal order.", c, filled(c, 56), None, None


def orders():
    for tq, tk in ((5, 3), (3, 5), (4, 4)):
        c = sizes(tq, tk, 3, 2, causal=True)
        yield (f"causal-{tq}-{tk}", "Query i sees keys 0 to i, also when there are more or fewer keys.", c,
               filled(c, 60 + tq), None, None)
    c = sizes(2, 5, 4, 3, past=3, causal=True)
    yield ("causal-past", "Query i stands behind the past.", c, filled(c, 70), None, past_of(c, 71))
    c = sizes(2, 5, 4, 3, past=5)
    yield "past-only", "Keys and values from before and no new ones.", c, filled(c, 72), None, past_of(c, 73)
    c = sizes(3, 3, 2, 2, batch=3, causal=True, validLengths=[1, 3, 0])
    yield ("causal-lengths", "With valid lengths the queries are the last tokens: first rows may be empty.", c,
           filled(c, 74), None, None)
    c = sizes(2, 4, 5, 2, batch=2, heads=2, kvHeads=1, validLengths=[3, 4])
    yield "lengths", "Keys from the valid length on are hidden.", c, filled(c, 75), None, None
    c = sizes(3, 4, 2, 2, masked=True, causal=True)
    yield ("causal-masked", "The mask and causal order both hide.", c, filled(c, 76),
           floats([4], [0, -1, HIDDEN, "0.5"]), None)
    c = sizes(2, 4, 2, 2, batch=2, masked=True, validLengths=[2, 4])
    yield ("lengths-masked", "Valid lengths and a short mask both hide.", c, filled(c, 77),
           boolean([3], "101"), None)


def heads():
    for h, g in ((3, 3), (4, 2), (6, 2), (4, 1)):
        c = sizes(2, 3, 3, 2, heads=h, kvHeads=g)
        yield (f"heads-{h}-{g}", f"{h // g} query heads in a row read the same key/value head.", c,
               filled(c, 80 + h * g), None, None)
    c = sizes(3, 5, 3, 2, batch=2, heads=4, kvHeads=2, dModel=5, source="x", past=2, causal=True, masked=True,
              outputProjection=True, softcap=2)
    yield ("whole-layer", "Everything together: projections, heads, a past, softcap, mask, causal order, W_o.", c,
           filled(c, 81), random_mask([4, 1, 5], 8), past_of(c, 82))


def extremes():
    c = sizes(2, 6, 1, 2, scale=1, masked=True)
    fine = [10000 + Decimal(n) / 1024 for n in (0, 1, 2)]
    yield ("large-logits-masked", "Scores near ±10⁴ with steps of 10⁻³, the largest of each row hidden.", c,
           given(q=[[1], [-1]], k=[[k] for k in fine] + [[9999], [-10000], [10001]],
                 v=[[n, -n] for n in range(1, 7)]),
           boolean([2, 6], "111110 111101"), None)
    c = sizes(1, 3, 1, 1, scale=1)
    yield ("far-below", "All scores near −6·10⁴: a maximum that starts at any finite number loses them.", c,
           given(q=[[-1]], k=[[60000], [60001], [60000.5]], v=[[1], [3], [2]]), None, None)
    for name, low in (("mask-1e9", "-1e9"), ("mask-3e38", "-3.4e38")):
        c = sizes(2, 3, 1, 2, scale=1, masked=True)
        yield (name, "A large finite mask is added like any other: a row full of it is what float32 leaves.", c,
               given(q=[[1], [2]], k=[["0.5"], [-3], [40]], v=[[1, 2], [3, 5], [4, -1]]),
               floats([2, 3], [0, low, low, low, low, low]), None)
    c = sizes(2, 3, 2, 2, masked=True)
    yield ("all-hidden", "No key is visible: weights of 0 and an output of 0.", c, filled(c, 90),
           floats([1], [HIDDEN]), None)
    c = sizes(2, 0, 2, 2, masked=True, causal=True)
    yield "no-keys-masked", "T_k = 0 with a mask.", c, filled(c, 91), boolean([1], "1"), None
    c = sizes(3, 1, 4, 3, causal=True)
    yield "one-key-causal", "One visible key has a weight of exactly 1.", c, filled(c, 92), None, None


def not_numbers():
    c = sizes(2, 3, 2, 2, masked=True)
    clean = filled(c, 95)
    mask = boolean([3], "101")
    for bad in (NAN, INF, "-Infinity"):
        spoilt = clean | {name: spoiled(clean[name], 2, 1, bad) for name in "kv"}
        yield (f"hidden-{bad.strip('-').lower()}{'-negative' if bad[0] == '-' else ''}",
               "A hidden key has no influence, whatever its key and value hold.", c, spoilt, mask, None)
    c = sizes(3, 3, 2, 2, causal=True)
    clean = filled(c, 96)
    yield ("visible-infinity-value", "±∞ in V at key 1 reaches the rows that see it, in its column.", c,
           clean | {"v": [float32({2: INF, 3: "-Infinity"}.get(i, n)) for i, n in enumerate(clean["v"])]}, None, None)
    yield ("visible-nan-value", "NaN in V at key 1 reaches the rows that see it, in its column.", c,
           clean | {"v": [float32(NAN) if i == 3 else n for i, n in enumerate(clean["v"])]}, None, None)
    yield ("visible-nan-key", "NaN in K at key 1 reaches exactly the rows that see it.", c,
           clean | {"k": [float32(NAN) if i == 2 else n for i, n in enumerate(clean["k"])]}, None, None)
    yield ("nan-query", "NaN in Q stays in its row, and the row's hidden keys keep weights of 0.", c,
           clean | {"q": [float32(NAN) if i == 2 else n for i, n in enumerate(clean["q"])]}, None, None)
    c = sizes(2, 3, 1, 1, scale=1)
    yield ("infinite-score", "A score of +∞ makes its row NaN, one of −∞ weighs nothing.", c,
           given(q=[[1], [-1]], k=[[INF], [2], [1]], v=[[1], [2], [4]]), None, None)
    c = sizes(2, 3, 1, 1, scale=1, softcap=2)
    yield ("softcap-infinite", "Softcap bends a score of ±∞ to ±c, which has a softmax.", c,
           given(q=[[1], [-1]], k=[[INF], [2], ["-Infinity"]], v=[[1], [2], [4]]), None, None)
    c = sizes(1, 2, 1, 2, scale=1)
    yield ("nan-below-underflow", "NaN in V shows even where its weight underflows to 0.", c,
           given(q=[[1]], k=[[0], [-1000]], v=[[1, 2], [NAN, 3]]), None, None)


def backward():
    c = sizes(2, 2, 4, 2, gradients=True)
    yield ("gradients", "The worked example's gradients.", c,
           given(q=[[2, 0, 2, 0], [0, 4, 0, 2]], k=[[1, 0, 1, 0], [0, 1, 0, 0]], v=[[1, 2], [3, 0]],
                 dOutput=[[1, 0], [0, -1]]), None, None)
    c = sizes(3, 4, 3, 2, heads=4, kvHeads=2, batch=2, masked=True, softcap=1.5, gradients=True)
    yield ("gradients-grouped", "Gradients of grouped heads with softcap and a mask.", c, filled(c, 100),
           random_mask([3, 4], 9), None)
    c = sizes(2, 4, 3, 2, batch=2, heads=2, kvHeads=1, dModel=3, source="x", past=2, causal=True,
              outputProjection=True, gradients=True)
    yield ("gradients-layer", "Through W_o, a past and the projections back to X.", c, filled(c, 101), None,
           past_of(c, 102))
    c = sizes(2, 3, 2, 3, dModel=4, source="x", context=True, gradients=True)
    yield "gradients-context", "Keys and values send their gradients to the context.", c, filled(c, 103), None, None
    c = sizes(3, 3, 3, 1, batch=2, causal=True, validLengths=[1, 3], gradients=True)
    yield "gradients-lengths", "Rows before every key and keys beyond the valid length take no part.", c, filled(c, 107), None, None
    c = sizes(2, 3, 2, 2, masked=True, gradients=True)
    clean = filled(c, 104)
    spoilt = clean | {name: spoiled(clean[name], 2, 1, NAN) for name in "kv"}
    yield ("gradients-hidden-nan", "Hidden positions get exactly 0, whatever their key and value hold.", c, spoilt,
           boolean([3], "101"), None)
    yield ("gradients-all-hidden", "A query that sees nothing sends nothing back.", c, clean,
           boolean([2, 3], "000 110"), None)
    c = sizes(0, 2, 2, 2, gradients=True)
    yield "gradients-no-queries", "Without queries every gradient of keys and values is 0.", c, filled(c, 105), None, None
    c = sizes(2, 0, 2, 2, gradients=True)
    yield "gradients-no-keys", "Without keys the gradient of the queries is 0.", c, filled(c, 106), None, None
