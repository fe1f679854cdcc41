// The gradient stages: which products each of them sums, as a whole and for one cell.
//
// Names follow the forward stages: dK is the derivative of a loss by K, given its derivative by the
// result. K and V are past and new keys and values together.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "attn/backward.hpp"
#include "attn/pipeline.hpp"

namespace attn {
namespace {

std::size_t to_size(std::int64_t value) { return static_cast<std::size_t>(value); }

Floats row_of(Matrix matrix, std::size_t i) { return {matrix.row(i), matrix.cols}; }
ConstFloats row_of(ConstMatrix matrix, std::size_t i) { return {matrix.row(i), matrix.cols}; }

void fill(Matrix matrix, float value) {
  for (std::size_t i = 0; i < matrix.rows; ++i) std::ranges::fill(row_of(matrix, i), value);
}

void scale_by(float factor, Matrix matrix) {
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    attn::scale(row_of(matrix, i), factor, row_of(matrix, i));
  }
}

}  // namespace

ConstMatrix Pipeline::mask_of(std::int64_t batch, std::int64_t head) const {
  return has(StageId::kMask) ? matrix(StageId::kMask, batch, head) : ConstMatrix{};
}

bool Pipeline::hidden(std::int64_t batch, std::int64_t head, std::int64_t query,
                      std::int64_t key) const {
  const ConstMatrix mask = mask_of(batch, head);
  return mask.data != nullptr &&
         mask.at(to_size(query), to_size(key)) == -std::numeric_limits<float>::infinity();
}

ConstMatrix Pipeline::block(StageId stage, std::int64_t batch, std::int64_t head,
                            std::int64_t width) const {
  return matrix(stage, batch, 0).columns(to_size(head * width), to_size(width));
}

ConstMatrix Pipeline::new_rows(StageId stage, std::int64_t batch, std::int64_t head) const {
  const ConstMatrix all = matrix(stage, batch, head);
  const std::size_t past = to_size(config_.past);
  return all.row_block(past, all.rows - past);
}

void Pipeline::compute_gradient(StageId stage, std::int64_t batch, std::int64_t head, Rows rows) {
  const Matrix out = rows.of(matrix(stage, batch, head));
  fill(out, 0);
  // Huge numbers of empty matrices are not visited one by one.
  const auto empty = [&](StageId id) { return entry(id).shape.cells() == 0; };
  const std::int64_t d_k = config_.d_k;
  const std::int64_t d_v = config_.d_v;
  const std::int64_t group = config_.heads / config_.kv_heads;
  const StageId keys = has(StageId::kPresentKey) ? StageId::kPresentKey : StageId::kK;
  const StageId values = has(StageId::kPresentValue) ? StageId::kPresentValue : StageId::kV;
  const StageId context = config_.context ? StageId::kXContext : StageId::kX;
  const auto add_keys_and_values = [&] {
    if (!empty(StageId::kDK)) {
      for (std::int64_t g = 0; g < config_.kv_heads; ++g) {
        add_product_transposed(rows.of(new_rows(StageId::kDK, batch, g)),
                               block(StageId::kWk, 0, g, d_k), {}, out);
      }
    }
    if (!empty(StageId::kDV)) {
      for (std::int64_t g = 0; g < config_.kv_heads; ++g) {
        add_product_transposed(rows.of(new_rows(StageId::kDV, batch, g)),
                               block(StageId::kWv, 0, g, d_v), {}, out);
      }
    }
  };
  const auto add_projection = [&](StageId x, StageId gradient, std::int64_t heads, bool skip_past) {
    if (empty(x)) return;
    const std::size_t width = out.cols / to_size(heads);
    for (std::int64_t b = 0; b < config_.batch; ++b) {
      for (std::int64_t h = 0; h < heads; ++h) {
        add_transposed_product(rows.as_columns_of(matrix(x, b, 0)),
                               skip_past ? new_rows(gradient, b, h) : matrix(gradient, b, h), {},
                               out.columns(to_size(h) * width, width));
      }
    }
  };

  switch (stage) {
    case StageId::kDConcat:
      if (!has(StageId::kWo)) return copy(rows.of(matrix(StageId::kDOutput, batch, 0)), out);
      return add_product_transposed(rows.of(matrix(StageId::kDOutput, batch, 0)),
                                    matrix(StageId::kWo, 0, 0), {}, out);
    case StageId::kDWeights:
      return add_product_transposed(rows.of(block(StageId::kDConcat, batch, head, d_v)),
                                    matrix(values, batch, head / group),
                                    rows.of(mask_of(batch, head)), out);
    case StageId::kDScores: {
      const ConstMatrix mask = rows.of(mask_of(batch, head));
      const ConstMatrix weights = rows.of(matrix(StageId::kWeights, batch, head));
      const ConstMatrix d_weights = rows.of(matrix(StageId::kDWeights, batch, head));
      const ConstMatrix scores = rows.of(matrix(StageId::kScaledScores, batch, head));
      for (std::size_t i = 0; i < out.rows; ++i) {
        softmax_gradient(row_of(weights, i), row_of(d_weights, i),
                         mask.data != nullptr ? row_of(mask, i) : ConstFloats(), row_of(out, i));
        if (!config_.softcap) continue;
        for (std::size_t j = 0; j < out.cols; ++j) {
          const bool visible = mask.data == nullptr || std::isfinite(mask.at(i, j));
          if (visible) out.at(i, j) *= softcap_slope(scores.at(i, j), *config_.softcap);
        }
      }
      return;
    }
    case StageId::kDQ:
      add_product(rows.of(matrix(StageId::kDScores, batch, head)),
                  matrix(keys, batch, head / group), rows.of(mask_of(batch, head)), out);
      return scale_by(scale_, out);
    case StageId::kDK:
      if (empty(StageId::kDScores)) return;
      for (std::int64_t h = head * group; h < (head + 1) * group; ++h) {
        add_transposed_product(rows.as_columns_of(matrix(StageId::kDScores, batch, h)),
                               matrix(StageId::kQ, batch, h), rows.as_columns_of(mask_of(batch, h)),
                               out);
      }
      return scale_by(scale_, out);
    case StageId::kDV:
      if (empty(StageId::kWeights)) return;
      for (std::int64_t h = head * group; h < (head + 1) * group; ++h) {
        add_transposed_product(rows.as_columns_of(matrix(StageId::kWeights, batch, h)),
                               block(StageId::kDConcat, batch, h, d_v),
                               rows.as_columns_of(mask_of(batch, h)), out);
      }
      return;
    case StageId::kDWq:
      return add_projection(StageId::kX, StageId::kDQ, config_.heads, false);
    case StageId::kDWk:
      return add_projection(context, StageId::kDK, config_.kv_heads, true);
    case StageId::kDWv:
      return add_projection(context, StageId::kDV, config_.kv_heads, true);
    case StageId::kDWo:
      if (empty(StageId::kConcat)) return;
      for (std::int64_t b = 0; b < config_.batch; ++b) {
        add_transposed_product(rows.as_columns_of(matrix(StageId::kConcat, b, 0)),
                               matrix(StageId::kDOutput, b, 0), {}, out);
      }
      return;
    case StageId::kDX:
      if (!empty(StageId::kDQ)) {
        for (std::int64_t h = 0; h < config_.heads; ++h) {
          add_product_transposed(rows.of(matrix(StageId::kDQ, batch, h)),
                                 block(StageId::kWq, 0, h, d_k), {}, out);
        }
      }
      if (!config_.context) add_keys_and_values();
      return;
    case StageId::kDXContext:
      return add_keys_and_values();
    default:
      return;
  }
}

double Pipeline::softmax_jacobian(std::int64_t batch, std::int64_t head, std::int64_t row,
                                  std::int64_t i, std::int64_t j) const {
  const ConstMatrix weights = matrix(StageId::kWeights, batch, head);
  const double a_i = weights.at(to_size(row), to_size(i));
  if (i != j) return -a_i * weights.at(to_size(row), to_size(j));
  // 1 − a_i is what the others add up to, also where a_i has been rounded to 1.
  double others = 0;
  for (std::size_t k = 0; k < weights.cols; ++k) {
    if (k != to_size(i)) others += weights.at(to_size(row), k);
  }
  return a_i * others;
}

std::size_t Pipeline::gradient_term_count(StageId stage) const {
  const Config& c = config_;
  const std::int64_t group = c.heads / c.kv_heads;
  const std::int64_t keys_and_values = c.kv_heads * (c.d_k + c.d_v);
  switch (stage) {
    case StageId::kDConcat:
      return has(StageId::kWo) ? to_size(c.d_model) : 1;
    case StageId::kDWeights:
      return to_size(c.d_v);
    case StageId::kDScores:
    case StageId::kDQ:
      return to_size(c.tk);
    case StageId::kDK:
    case StageId::kDV:
      return to_size(group * c.tq);
    case StageId::kDWq:
    case StageId::kDWo:
      return to_size(c.batch * c.tq);
    case StageId::kDWk:
    case StageId::kDWv:
      return to_size(c.batch * (c.tk - c.past));
    case StageId::kDX:
      return to_size(c.heads * c.d_k + (c.context ? 0 : keys_and_values));
    case StageId::kDXContext:
      return to_size(keys_and_values);
    default:
      return 0;
  }
}

Operand Pipeline::operand(const Cell& cell) const {
  return {
      .cell = cell,
      .value = matrix(cell.stage, cell.batch, cell.head).at(to_size(cell.row), to_size(cell.col))};
}

Term Pipeline::gradient_term(const Cell& cell, std::int64_t index) const {
  const StageId stage = cell.stage;
  const std::int64_t batch = cell.batch;
  const std::int64_t head = cell.head;
  const std::int64_t row = cell.row;
  const std::int64_t col = cell.col;
  const Config& c = config_;
  const std::int64_t group = c.heads / c.kv_heads;
  const auto product_of = [](std::initializer_list<Operand> operands, bool is_hidden = false) {
    Term term;
    term.partial = 1;
    for (const Operand& operand : operands) {
      term.operands[term.operand_count++] = operand;
      term.partial *= operand.value;
    }
    if (is_hidden) term.partial = 0;
    return term;
  };
  const auto constant = [](float value) { return Operand{.cell = {}, .value = value}; };
  // Summands of dX and dXContext that come from keys and values.
  const auto key_or_value = [&](std::int64_t place) {
    const bool key = place < c.kv_heads * c.d_k;
    const std::int64_t column = key ? place : place - c.kv_heads * c.d_k;
    const std::int64_t width = key ? c.d_k : c.d_v;
    return product_of({operand({key ? StageId::kDK : StageId::kDV, batch, column / width,
                                row + c.past, column % width}),
                       operand({key ? StageId::kWk : StageId::kWv, 0, 0, col, column})});
  };
  // Summands of a projection's gradient, over all rows of all batches.
  const auto of_projection = [&](StageId x, StageId gradient, std::int64_t rows, std::int64_t width,
                                 std::int64_t first_row) {
    const std::int64_t b = index / rows;
    const std::int64_t i = index % rows;
    return product_of({operand({x, b, 0, i, row}),
                       operand({gradient, b, col / width, i + first_row, col % width})});
  };
  const StageId context = c.context ? StageId::kXContext : StageId::kX;

  switch (stage) {
    case StageId::kDConcat:
      if (!has(StageId::kWo)) return product_of({operand({StageId::kDOutput, batch, 0, row, col})});
      return product_of({operand({StageId::kDOutput, batch, 0, row, index}),
                         operand({StageId::kWo, 0, 0, col, index})});
    case StageId::kDWeights: {
      const StageId values = has(StageId::kPresentValue) ? StageId::kPresentValue : StageId::kV;
      return product_of({operand({StageId::kDConcat, batch, 0, row, head * c.d_v + index}),
                         operand({values, batch, head / group, col, index})});
    }
    case StageId::kDScores: {
      const Operand d_weight = operand({StageId::kDWeights, batch, head, row, index});
      const auto slope = static_cast<float>(softmax_jacobian(batch, head, row, index, col));
      const bool no_influence = hidden(batch, head, row, index);
      if (!c.softcap) return product_of({d_weight, constant(slope)}, no_influence);
      const float score =
          matrix(StageId::kScaledScores, batch, head).at(to_size(row), to_size(col));
      return product_of({d_weight, constant(slope), constant(softcap_slope(score, *c.softcap))},
                        no_influence);
    }
    case StageId::kDQ: {
      const StageId keys = has(StageId::kPresentKey) ? StageId::kPresentKey : StageId::kK;
      return product_of({operand({StageId::kDScores, batch, head, row, index}),
                         operand({keys, batch, head / group, index, col}), constant(scale_)},
                        hidden(batch, head, row, index));
    }
    case StageId::kDK: {
      const std::int64_t h = head * group + index / c.tq;
      const std::int64_t i = index % c.tq;
      return product_of({operand({StageId::kDScores, batch, h, i, row}),
                         operand({StageId::kQ, batch, h, i, col}), constant(scale_)},
                        hidden(batch, h, i, row));
    }
    case StageId::kDV: {
      const std::int64_t h = head * group + index / c.tq;
      const std::int64_t i = index % c.tq;
      return product_of({operand({StageId::kWeights, batch, h, i, row}),
                         operand({StageId::kDConcat, batch, 0, i, h * c.d_v + col})},
                        hidden(batch, h, i, row));
    }
    case StageId::kDWq:
      return of_projection(StageId::kX, StageId::kDQ, c.tq, c.d_k, 0);
    case StageId::kDWk:
      return of_projection(context, StageId::kDK, c.tk - c.past, c.d_k, c.past);
    case StageId::kDWv:
      return of_projection(context, StageId::kDV, c.tk - c.past, c.d_v, c.past);
    case StageId::kDWo: {
      const std::int64_t b = index / c.tq;
      const std::int64_t i = index % c.tq;
      return product_of(
          {operand({StageId::kConcat, b, 0, i, row}), operand({StageId::kDOutput, b, 0, i, col})});
    }
    case StageId::kDX:
      if (index >= c.heads * c.d_k) return key_or_value(index - c.heads * c.d_k);
      return product_of({operand({StageId::kDQ, batch, index / c.d_k, row, index % c.d_k}),
                         operand({StageId::kWq, 0, 0, col, index})});
    case StageId::kDXContext:
      return key_or_value(index);
    default:
      return {};
  }
}

}  // namespace attn
