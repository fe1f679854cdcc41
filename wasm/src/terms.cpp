// The terms that make a cell of a stage: operands by name, partial results as the kernels form
// them.
#include <cmath>

#include "attn/pipeline.hpp"

namespace attn {
namespace {

std::size_t to_size(std::int64_t value) { return static_cast<std::size_t>(value); }

Term one_operand(const Operand& a, float partial) {
  return {.operands = {a, {}, {}}, .operand_count = 1, .partial = partial};
}

Term two_operands(const Operand& a, const Operand& b, float partial) {
  return {.operands = {a, b, {}}, .operand_count = 2, .partial = partial};
}

Operand constant(float value) { return {.cell = {}, .value = value}; }

}  // namespace

Status Pipeline::check(const Cell& cell) const {
  if (!has(cell.stage)) {
    const bool known = cell.stage < StageId::kNone;
    return {Code::kStageAbsent, known ? stage_of(cell.stage).name : std::string_view("stage")};
  }
  const Shape& shape = entry(cell.stage).shape;
  for (const auto& [index, extent] :
       {std::array{cell.batch, shape.batch}, std::array{cell.head, shape.heads},
        std::array{cell.row, shape.rows}, std::array{cell.col, shape.cols}}) {
    if (index < 0 || index >= extent) {
      return {Code::kCellOutsideStage, stage_of(cell.stage).name, static_cast<double>(index),
              static_cast<double>(extent)};
    }
  }
  return {};
}

std::size_t Pipeline::term_count(const Cell& cell) const {
  const bool of_pair = cell.stage == StageId::kDWeights || cell.stage == StageId::kDScores;
  if (of_pair && hidden(cell.batch, cell.head, cell.row, cell.col)) return 0;
  return term_count(cell.stage);
}

std::size_t Pipeline::term_count(StageId stage) const {
  switch (entry(stage).operation) {
    case Operation::kGiven:
      return 0;
    case Operation::kMatmul:
    case Operation::kRowMax:
    case Operation::kRowSum:
      return to_size(entry(entry(stage).operands[0]).shape.cols);
    case Operation::kSumOfProducts:
      return gradient_term_count(stage);
    default:
      return 1;
  }
}

Operand Pipeline::operand(const Source& source, std::size_t row, std::size_t col) const {
  return {.cell = {source.stage, source.batch, source.head, static_cast<std::int64_t>(row),
                   static_cast<std::int64_t>(source.first_col + col)},
          .value = source.matrix.at(row, col)};
}

Term Pipeline::term(const Cell& cell, std::size_t index) const {
  const std::size_t row = to_size(cell.row);
  const std::size_t col = to_size(cell.col);
  const float value = matrix(cell.stage, cell.batch, cell.head).at(row, col);
  const auto operand_at = [&](std::size_t place, std::size_t r, std::size_t c) {
    return operand(source(cell.stage, place, cell.batch, cell.head), r, c);
  };
  switch (entry(cell.stage).operation) {
    case Operation::kGiven:
      return {};
    case Operation::kMatmul: {
      const Operand a = operand_at(0, row, index);
      const Operand b = operand_at(1, index, col);
      const bool kept_out =
          cell.stage == StageId::kHeads &&
          hidden(cell.batch, cell.head, cell.row, static_cast<std::int64_t>(index));
      return two_operands(a, b, kept_out ? 0 : a.value * b.value);
    }
    case Operation::kJoin: {
      const std::size_t past = to_size(config_.past);
      if (row < past) return one_operand(constant(value), value);
      return one_operand(operand_at(0, row - past, col), value);
    }
    case Operation::kTranspose:
      return one_operand(operand_at(0, col, row), value);
    case Operation::kScale:
      return two_operands(operand_at(0, row, col), constant(scale_), value);
    case Operation::kSoftcap:
      return two_operands(operand_at(0, row, col), constant(*config_.softcap), value);
    case Operation::kAddMask:
      return two_operands(operand_at(0, row, col), operand_at(1, row, col), value);
    case Operation::kRowMax:
    case Operation::kRowSum: {
      const Operand a = operand_at(0, row, index);
      return one_operand(a, a.value);
    }
    case Operation::kSubtractRow:
    case Operation::kDivideByRow:
      return two_operands(operand_at(0, row, col), operand_at(1, row, 0), value);
    case Operation::kExp:
      return one_operand(operand_at(0, row, col), value);
    case Operation::kSumOfProducts:
      return gradient_term(cell, static_cast<std::int64_t>(index));
    case Operation::kConcatHeads: {
      const std::size_t width = to_size(config_.d_v);
      const auto head = static_cast<std::int64_t>(col / width);
      return one_operand(operand(source(cell.stage, 0, cell.batch, head), row, col % width), value);
    }
  }
  return {};
}

}  // namespace attn
