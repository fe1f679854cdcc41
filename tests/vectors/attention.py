"""Every stage of attention in high precision, written down apart from the core."""

from decimal import Decimal

from exact import INFINITY, Cell, exponential, float32, matmul, quotient, row_sum, rounded

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
