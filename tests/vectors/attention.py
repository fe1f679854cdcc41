"""Every stage of attention in high precision, written down apart from the core."""

from decimal import Decimal

from exact import (INFINITY, Cell, add, dot, exponential, float32, hyperbolic_tangent, matmul, quotient,
                   row_sum, rounded)

# Stages whose cells differ by orders of magnitude are held to a relative bound.
RELATIVE = {"exponentials", "rowSum", "plainExponentials", "plainRowSum", "weights"}
HIDDEN = -INFINITY


def shape_of(stage, c):
    """[batch, heads, rows, cols] of a stage, written down apart from the core's own table."""
    b, h, g = c["batch"], c["heads"], c["kvHeads"]
    new = c["tk"] - c.get("past", 0)
    scores = [b, h, c["tq"], c["tk"]]
    result = c["dModel"] if c.get("outputProjection") else h * c["dV"]
    return {
        "x": [b, 1, c["tq"], c["dModel"]],
        "xContext": [b, 1, new, c["dModel"]],
        "wq": [1, 1, c["dModel"], h * c["dK"]],
        "wk": [1, 1, c["dModel"], g * c["dK"]],
        "wv": [1, 1, c["dModel"], g * c["dV"]],
        "wo": [1, 1, h * c["dV"], c["dModel"]],
        "q": [b, h, c["tq"], c["dK"]],
        "k": [b, g, new, c["dK"]],
        "v": [b, g, new, c["dV"]],
        "presentKey": [b, g, c["tk"], c["dK"]],
        "presentValue": [b, g, c["tk"], c["dV"]],
        "keyTransposed": [b, g, c["dK"], c["tk"]],
        "rowMax": [b, h, c["tq"], 1],
        "rowSum": [b, h, c["tq"], 1],
        "plainRowSum": [b, h, c["tq"], 1],
        "heads": [b, h, c["tq"], c["dV"]],
        "concat": [b, 1, c["tq"], h * c["dV"]],
        "output": [b, 1, c["tq"], c["dModel"]],
        "dOutput": [b, 1, c["tq"], result],
        "dConcat": [b, 1, c["tq"], h * c["dV"]],
        "dQ": [b, h, c["tq"], c["dK"]],
        "dK": [b, g, c["tk"], c["dK"]],
        "dV": [b, g, c["tk"], c["dV"]],
        "dWq": [1, 1, c["dModel"], h * c["dK"]],
        "dWk": [1, 1, c["dModel"], g * c["dK"]],
        "dWv": [1, 1, c["dModel"], g * c["dV"]],
        "dWo": [1, 1, h * c["dV"], c["dModel"]],
        "dX": [b, 1, c["tq"], c["dModel"]],
        "dXContext": [b, 1, new, c["dModel"]],
    }.get(stage, scores)


def past_shape(stage, c):
    b, g, _, cols = shape_of(stage, c)
    return [b, g, c["past"], cols]


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


def has_mask(c):
    return bool(c.get("masked") or c.get("causal") or "validLengths" in c)


def mask_rows(c, mask, b, h):
    """What is added to each score of a head: the given mask, causal order and valid lengths together."""
    length = c["validLengths"][b] if "validLengths" in c else c["tk"]
    offset = length - c["tq"] if "validLengths" in c else c.get("past", 0)
    rows = []
    for i in range(c["tq"]):
        row = []
        for j in range(c["tk"]):
            value = given_mask(mask, [b, h, i, j]) if mask else Decimal(0)
            if j >= length or (c.get("causal") and j > i + offset):
                value = HIDDEN
            row.append(Cell(value))
        rows.append(row)
    return rows


def given_mask(mask, place):
    """The mask's number for one score: axes are aligned from the right, an axis of 1 stands for all."""
    shape = mask["shape"]
    at = 0
    for extent, index in zip(shape, place[4 - len(shape):]):
        if extent == 1:
            index = 0
        elif index >= extent:  # only the last axis may be short
            return HIDDEN
        at = at * extent + index
    value = mask["values"][at]
    if mask["kind"] == "boolean":
        return Decimal(0) if value else HIDDEN
    return value


def attention(c, inputs, mask=None, past=None):
    """Every computed stage of a configuration, [batch][head][row][col] of cells."""
    given = {name: split(flat, shape_of(name, c)) for name, flat in inputs.items()}
    before = {name: split(flat, past_shape(name, c)) for name, flat in (past or {}).items()}
    out = {}

    def put(name, b, matrix):
        out.setdefault(name, [])
        while len(out[name]) <= b:
            out[name].append([])
        out[name][b].append(matrix)

    for b in range(c["batch"]):
        if c["source"] == "x":
            x = given["x"][b][0]
            context = given["xContext"][b][0] if c.get("context") else x
            for name, rows, weights, heads, width in (
                ("q", x, "wq", c["heads"], c["dK"]),
                ("k", context, "wk", c["kvHeads"], c["dK"]),
                ("v", context, "wv", c["kvHeads"], c["dV"]),
            ):
                for matrix in project(rows, given[weights][0][0], heads, width):
                    put(name, b, matrix)
        q, k, v = (out[name][b] if name in out else given[name][b] for name in "qkv")
        if before:
            k = [old + new for old, new in zip(before["presentKey"][b], k)]
            v = [old + new for old, new in zip(before["presentValue"][b], v)]
            for g in range(c["kvHeads"]):
                put("presentKey", b, k[g])
                put("presentValue", b, v[g])
        transposed = [[[row[d] for row in head] for d in range(c["dK"])] for head in k]
        for matrix in transposed:
            put("keyTransposed", b, matrix)
        for h in range(c["heads"]):
            group = h * c["kvHeads"] // c["heads"]
            rows = mask_rows(c, mask, b, h) if has_mask(c) else None
            for name, matrix in one_head(c, q[h], transposed[group], v[group], rows).items():
                put(name, b, matrix)
        concat = [[cell for head in out["heads"][b] for cell in head[i]] for i in range(c["tq"])]
        put("concat", b, concat)
        if c.get("outputProjection"):
            put("output", b, matmul(concat, given["wo"][0][0], c["dModel"]))
    return out


def project(x, w, heads, width):
    """X·W, its columns split into heads."""
    blocks = [[line[h * width : (h + 1) * width] for line in w] for h in range(heads)]
    return [matmul(x, block, width) for block in blocks]


def maximum(row):
    if any(s.value.is_nan() for s in row):
        return Cell(Decimal("NaN"))
    return Cell(max((s.value for s in row), default=HIDDEN), max((s.error for s in row), default=0.0))


def shift(score, top, hidden):
    if hidden:
        return Cell(HIDDEN)
    # The maximum minus itself is 0 whatever its error.
    if score.value == top.value and score.error == 0 and score.value.is_finite():
        return Cell(Decimal(0))
    return rounded(score.value - top.value, score.error + top.error)


def is_hidden(mask):
    return mask.value == HIDDEN


def one_head(c, q, key_transposed, v, mask):
    scale = scale_cell(c)
    stages = {"rawScores": matmul(q, key_transposed, c["tk"])}
    scores = stages["scaledScores"] = [
        [rounded(s.value * scale.value, s.error * scale.size + scale.error * s.size) for s in row]
        for row in stages["rawScores"]
    ]
    if "softcap" in c:
        cap = float32(c["softcap"])
        scores = stages["cappedScores"] = [[capped(s, cap) for s in row] for row in scores]
    if mask is not None:
        stages["mask"] = mask
        scores = stages["maskedScores"] = [
            [Cell(HIDDEN) if is_hidden(m) else add(s, m.value) for s, m in zip(row, mask_row)]
            for row, mask_row in zip(scores, mask)
        ]
    hidden = [[mask is not None and is_hidden(mask[i][j]) for j in range(c["tk"])] for i in range(c["tq"])]
    tops = [maximum(row) for row in scores]
    stages["rowMax"] = [[top] for top in tops]
    stages["shifted"] = [
        [shift(s, top, gone) for s, gone in zip(row, hidden_row)]
        for row, top, hidden_row in zip(scores, tops, hidden)
    ]
    stages["exponentials"] = [[exponential(s) for s in row] for row in stages["shifted"]]
    sums = [row_sum(row) for row in stages["exponentials"]]
    stages["rowSum"] = [[total] for total in sums]
    stages["plainExponentials"] = [[exponential(s) for s in row] for row in scores]
    stages["plainRowSum"] = [[row_sum(row)] for row in stages["plainExponentials"]]
    stages["weights"] = [
        [Cell(Decimal(0)) if gone else quotient(e, total) for e, gone in zip(row, hidden_row)]
        for row, total, hidden_row in zip(stages["exponentials"], sums, hidden)
    ]
    stages["heads"] = [
        [visible_dot(row, [line[col] for line in v], hidden_row) for col in range(c["dV"])]
        for row, hidden_row in zip(stages["weights"], hidden)
    ]
    return stages


def capped(score, cap):
    """c·tanh(s/c) by a division, a tanh within 2 eps and a product."""
    if score.value == 0 and score.error == 0:
        return Cell(Decimal(0))
    tanh = hyperbolic_tangent(score.value / cap)
    value = cap * tanh
    slope = float(1 - tanh * tanh) if tanh.is_finite() else 0.0
    return Cell(value, slope * (score.error + 0.5 * score.size) + 2.5 * Cell(value).size)


def visible_dot(row, column, hidden):
    """Σ over visible keys alone."""
    pairs = [(a, b) for a, b, gone in zip(row, column, hidden) if not gone]
    return dot([a for a, _ in pairs], [b for _, b in pairs])
