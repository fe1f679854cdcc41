"""The backward stages in high precision: the gradients of a loss, given its gradient by the result."""

from decimal import Decimal

from attention import has_mask, is_hidden, scale_cell, shape_of, split
from exact import Cell, dot, float32, hyperbolic_tangent, rounded

ZERO = Cell(Decimal(0))


def gradients(c, inputs, stages):
    """The computed gradient stages, [batch][head][row][col] of cells, from the forward stages."""
    given = {name: split(flat, shape_of(name, c)) for name, flat in inputs.items()}
    forward = given | stages
    keys = forward["presentKey" if "presentKey" in forward else "k"]
    values = forward["presentValue" if "presentValue" in forward else "v"]
    d_output = given["dOutput"]
    ratio = c["heads"] // c["kvHeads"]
    batches, queries, tokens = range(c["batch"]), range(c["tq"]), range(c["tk"])
    d_k, d_v = range(c["dK"]), range(c["dV"])
    scale = scale_cell(c)

    def hidden(b, h, i, j):
        return has_mask(c) and is_hidden(stages["mask"][b][h][i][j])

    def summed(pairs):
        pairs = list(pairs)
        return dot([a for a, _ in pairs], [b for _, b in pairs])

    def scaled(cell):
        return rounded(cell.value * scale.value, cell.error * scale.size + scale.error * cell.size)

    out = {}
    wo = given["wo"][0][0] if "wo" in given else None
    out["dConcat"] = [
        [d_output[b][0] if wo is None else [[dot(row, line) for line in wo] for row in d_output[b][0]]]
        for b in batches
    ]

    def d_head(b, h, i):
        return out["dConcat"][b][0][i][h * c["dV"] : (h + 1) * c["dV"]]

    out["dWeights"] = [
        [[[ZERO if hidden(b, h, i, j) else dot(d_head(b, h, i), values[b][h // ratio][j]) for j in tokens]
          for i in queries] for h in range(c["heads"])] for b in batches
    ]
    out["dScores"] = [
        [[score_gradients(c, forward, out, b, h, i, hidden) for i in queries] for h in range(c["heads"])]
        for b in batches
    ]
    out["dQ"] = [
        [[[scaled(summed((out["dScores"][b][h][i][j], keys[b][h // ratio][j][d])
                         for j in tokens if not hidden(b, h, i, j))) for d in d_k]
          for i in queries] for h in range(c["heads"])] for b in batches
    ]

    def seen(b, g, j):
        """Every query head of the group and query that sees key j."""
        return [(h, i) for h in range(g * ratio, (g + 1) * ratio) for i in queries if not hidden(b, h, i, j)]

    out["dK"] = [
        [[[scaled(summed((out["dScores"][b][h][i][j], forward["q"][b][h][i][d]) for h, i in seen(b, g, j)))
           for d in d_k] for j in tokens] for g in range(c["kvHeads"])] for b in batches
    ]
    out["dV"] = [
        [[[summed((stages["weights"][b][h][i][j], d_head(b, h, i)[d]) for h, i in seen(b, g, j))
           for d in d_v] for j in tokens] for g in range(c["kvHeads"])] for b in batches
    ]
    if wo is not None:
        out["dWo"] = [[[[summed((stages["concat"][b][0][i][r], d_output[b][0][i][m])
                                for b in batches for i in queries) for m in range(c["dModel"])]
                        for r in range(len(wo))]]]
    if c["source"] == "x":
        out |= through_projections(c, given, out, summed)
    return out


def score_gradients(c, forward, out, b, h, i, hidden):
    """One row of A ⊙ (dA − Σ A·dA), times the slope of the softcap."""
    visible = [j for j in range(c["tk"]) if not hidden(b, h, i, j)]
    weights, d_weights = forward["weights"][b][h][i], out["dWeights"][b][h][i]
    mean = sum((weights[j].value * d_weights[j].value for j in visible), Decimal(0))
    mean_error = sum(
        weights[j].size * d_weights[j].error + weights[j].error * d_weights[j].size for j in visible
    )
    row = []
    for j in range(c["tk"]):
        if j not in visible:
            row.append(ZERO)
            continue
        a, d = weights[j], d_weights[j]
        value = a.value * (d.value - mean)
        error = a.error * Cell(d.value - mean).size + a.size * (d.error + mean_error)
        cell = Cell(value, error + 0.5 * Cell(value).size)
        if "softcap" in c:
            score, cap = forward["scaledScores"][b][h][i][j], float32(c["softcap"])
            tanh = hyperbolic_tangent(score.value / cap)
            slope = 1 - tanh * tanh
            # |d slope / d score| is at most 0.77/c.
            slope_error = 0.77 / float(cap) * score.error + 0.5 * float(slope)
            product = cell.value * slope
            cell = Cell(product, cell.error * float(slope) + cell.size * slope_error + 0.5 * Cell(product).size)
        row.append(cell)
    return row


def through_projections(c, given, out, summed):
    past = c.get("past", 0)
    new = range(c["tk"] - past)
    context = "xContext" if c.get("context") else "x"
    model = range(c["dModel"])
    batches = range(c["batch"])

    def weight_gradient(x, gradient, heads, width, rows, first):
        return [[[[summed((given[x][b][0][i][m], out[gradient][b][col // width][first + i][col % width])
                          for b in batches for i in rows) for col in range(heads * width)] for m in model]]]

    def from_head(weights, gradient, heads, width, b, i, m):
        return [(out[gradient][b][h][i][d], given[weights][0][0][m][h * width + d])
                for h in range(heads) for d in range(width)]

    def from_keys_and_values(b, i, m):
        return (from_head("wk", "dK", c["kvHeads"], c["dK"], b, past + i, m)
                + from_head("wv", "dV", c["kvHeads"], c["dV"], b, past + i, m))

    queries = range(c["tq"])
    found = {
        "dWq": weight_gradient("x", "dQ", c["heads"], c["dK"], queries, 0),
        "dWk": weight_gradient(context, "dK", c["kvHeads"], c["dK"], new, past),
        "dWv": weight_gradient(context, "dV", c["kvHeads"], c["dV"], new, past),
    }
    alone = context == "xContext"
    found["dX"] = [
        [[[summed(from_head("wq", "dQ", c["heads"], c["dK"], b, i, m)
                  + ([] if alone else from_keys_and_values(b, i, m))) for m in model] for i in queries]]
        for b in batches
    ]
    if alone:
        found["dXContext"] = [
            [[[summed(from_keys_and_values(b, i, m)) for m in model] for i in new]] for b in batches
        ]
    return found
