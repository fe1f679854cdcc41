// The terms of every cell of every stage: operands are where they say, partials make the cell.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attn/pipeline.hpp"
#include "random.hpp"
#include "set_up.hpp"

namespace {

using attn::Cell;
using attn::Config;
using attn::Operation;
using attn::Pipeline;
using attn::StageId;
using attn::Term;

constexpr double kEps = std::numeric_limits<float>::epsilon();

float value_of(const Pipeline& pipeline, const Cell& cell) {
  const attn::Shape shape = attn::shape_of(cell.stage, pipeline.config());
  const std::int64_t matrix = cell.batch * shape.heads + cell.head;
  const std::int64_t at = (matrix * shape.rows + cell.row) * shape.cols + cell.col;
  return pipeline.stage(cell.stage)[static_cast<std::size_t>(at)];
}

// A term's partial as its operation combines the operands.
double combined(Operation operation, const Term& term) {
  if (operation == Operation::kSumOfProducts) {
    double product = 1;
    for (const attn::Operand& operand : term.used()) product *= operand.value;
    return product;
  }
  const auto a = static_cast<double>(term.operands[0].value);
  const auto b = static_cast<double>(term.operands[1].value);
  switch (operation) {
    case Operation::kMatmul:
    case Operation::kScale:
      return a * b;
    case Operation::kSoftcap:
      return b * std::tanh(a / b);
    case Operation::kAddMask:
      return a + b;
    case Operation::kSubtractRow:
      return a - b;
    case Operation::kExp:
      return std::exp(a);
    case Operation::kDivideByRow:
      return b == 0 ? 0 : a / b;
    default:
      return a;
  }
}

void check_cell(const Pipeline& pipeline, const Cell& cell) {
  ASSERT_TRUE(pipeline.check(cell).ok());
  const Operation operation = attn::operation_of(cell.stage, pipeline.config());
  const double value = value_of(pipeline, cell);
  const std::size_t count = pipeline.term_count(cell);
  double sum = 0;
  double sizes = 0;
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    const Term term = pipeline.term(cell, i);
    for (const attn::Operand& operand : term.used()) {
      if (operand.cell.stage == StageId::kNone) continue;
      ASSERT_TRUE(pipeline.check(operand.cell).ok());
      ASSERT_EQ(operand.value, value_of(pipeline, operand.cell));
    }
    const double right = combined(operation, term);
    // −∞ − −∞ is the one combination that the mask overrules.
    const bool kept_out = operation == Operation::kSumOfProducts && term.partial == 0;
    if (!std::isnan(right) && !kept_out) {
      if (std::isinf(right)) {
        ASSERT_EQ(term.partial, right);
      } else {
        ASSERT_NEAR(term.partial, right, 2.5 * kEps * std::abs(right));
      }
    }
    sum += term.partial;
    sizes += std::abs(term.partial);
    largest = std::max(largest, static_cast<double>(term.partial));
  }
  if (operation == Operation::kGiven) {
    EXPECT_EQ(count, 0U);
  } else if (operation == Operation::kRowMax) {
    EXPECT_EQ(value, largest);
  } else if (std::isfinite(value)) {
    EXPECT_NEAR(value, sum, kEps * 0.5 * static_cast<double>(count + 1) * sizes);
  }
}

void check_all(const Config& config) {
  Pipeline pipeline;
  ASSERT_TRUE(pipeline.configure(config).ok());
  attn_test::Random random(7);
  attn_test::fill_inputs(pipeline, random);
  pipeline.run();
  for (const attn::Stage& stage : attn::kStages) {
    if (!pipeline.has(stage.id)) continue;
    SCOPED_TRACE(stage.name);
    const attn::Shape shape = attn::shape_of(stage.id, config);
    for (std::int64_t b = 0; b < shape.batch; ++b) {
      for (std::int64_t h = 0; h < shape.heads; ++h) {
        for (std::int64_t i = 0; i < shape.rows; ++i) {
          for (std::int64_t j = 0; j < shape.cols; ++j) {
            check_cell(pipeline, {stage.id, b, h, i, j});
          }
        }
      }
    }
  }
}

TEST(Terms, OfGivenQueriesKeysAndValues) { check_all({.tq = 3, .tk = 5, .d_k = 6, .d_v = 2}); }

TEST(Terms, OfAGroupedCrossAttentionLayer) {
  check_all({.batch = 2,
             .heads = 4,
             .kv_heads = 2,
             .tq = 2,
             .tk = 3,
             .d_k = 3,
             .d_v = 2,
             .d_model = 5,
             .from_x = true,
             .context = true,
             .output_projection = true});
}

TEST(Terms, WithSoftcapMaskAndPast) {
  check_all({.tq = 3, .tk = 5, .d_k = 2, .d_v = 2, .past = 2, .causal = true, .softcap = 1.5F});
}

TEST(Terms, OfTheGradientsOfALayer) {
  check_all({.batch = 2,
             .heads = 4,
             .kv_heads = 2,
             .tq = 3,
             .tk = 5,
             .d_k = 3,
             .d_v = 2,
             .d_model = 4,
             .past = 2,
             .from_x = true,
             .output_projection = true,
             .masked = true,
             .causal = true,
             .gradients = true,
             .softcap = 1.5F});
}

TEST(Terms, OfTheGradientsOfCrossAttention) {
  check_all({.heads = 2,
             .kv_heads = 1,
             .tq = 2,
             .tk = 3,
             .d_k = 3,
             .d_v = 2,
             .d_model = 3,
             .from_x = true,
             .context = true,
             .gradients = true});
}

TEST(Terms, WhatAMaskHidesAddsNothing) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  Pipeline pipeline;
  ASSERT_TRUE(
      pipeline.configure({.tq = 1, .tk = 2, .d_k = 1, .d_v = 1, .masked = true, .gradients = true})
          .ok());
  pipeline.input(StageId::kK)[1] = pipeline.input(StageId::kV)[1] = kNan;
  pipeline.input(StageId::kV)[0] = 3;
  pipeline.input(StageId::kDOutput)[0] = 2;
  pipeline.input(StageId::kMask)[1] = -std::numeric_limits<float>::infinity();
  pipeline.run();
  EXPECT_EQ(pipeline.term({StageId::kHeads, 0, 0, 0, 0}, 1).partial, 0);
  EXPECT_EQ(pipeline.stage(StageId::kHeads)[0], 3);
  EXPECT_EQ(pipeline.term_count({StageId::kDWeights, 0, 0, 0, 1}), 0U);
  EXPECT_EQ(pipeline.term_count({StageId::kDScores, 0, 0, 0, 1}), 0U);
  EXPECT_EQ(pipeline.term({StageId::kDQ, 0, 0, 0, 0}, 1).partial, 0);
  EXPECT_EQ(pipeline.term({StageId::kDV, 0, 0, 1, 0}, 0).partial, 0);
  EXPECT_EQ(pipeline.stage(StageId::kDV)[0], 2);
  // Nor in a row that is NaN for another reason.
  pipeline.input(StageId::kQ)[0] = kNan;
  pipeline.run();
  EXPECT_TRUE(std::isnan(pipeline.term({StageId::kDScores, 0, 0, 0, 0}, 0).partial));
  EXPECT_EQ(pipeline.term({StageId::kDScores, 0, 0, 0, 0}, 1).partial, 0);
}

TEST(Terms, OfARawScoreOfTheWorkedExample) {
  Pipeline pipeline;
  ASSERT_TRUE(pipeline.configure({.tq = 2, .tk = 2, .d_k = 4, .d_v = 2}).ok());
  std::ranges::copy(std::array{2.F, 0.F, 2.F, 0.F, 0.F, 4.F, 0.F, 2.F},
                    pipeline.input(StageId::kQ).begin());
  std::ranges::copy(std::array{1.F, 0.F, 1.F, 0.F, 0.F, 1.F, 0.F, 0.F},
                    pipeline.input(StageId::kK).begin());
  pipeline.run();
  EXPECT_EQ(pipeline.term_count({StageId::kQ, 0, 0, 1, 1}), 0U);
  EXPECT_EQ(pipeline.term({StageId::kQ, 0, 0, 1, 1}, 0).operand_count, 0U);
  const Cell cell{StageId::kRawScores, 0, 0, 1, 1};
  ASSERT_EQ(pipeline.term_count(cell), 4U);
  const Term term = pipeline.term(cell, 1);
  EXPECT_EQ(term.partial, 4);
  EXPECT_EQ(term.operands[0].cell.stage, StageId::kQ);
  EXPECT_EQ(term.operands[0].cell.row, 1);
  EXPECT_EQ(term.operands[0].cell.col, 1);
  EXPECT_EQ(term.operands[0].value, 4);
  EXPECT_EQ(term.operands[1].cell.stage, StageId::kKeyTransposed);
  EXPECT_EQ(term.operands[1].cell.row, 1);
  EXPECT_EQ(term.operands[1].cell.col, 1);
  EXPECT_EQ(term.operands[1].value, 1);
}

TEST(Terms, CellsOutsideAreRefused) {
  Pipeline pipeline;
  ASSERT_TRUE(pipeline.configure({.tq = 2, .tk = 3, .d_k = 4, .d_v = 2}).ok());
  const attn::Status status = pipeline.check({StageId::kWeights, 0, 0, 1, 3});
  EXPECT_EQ(status.code, attn::Code::kCellOutsideStage);
  EXPECT_EQ(status.subject, "weights");
  EXPECT_EQ(status.found, 3);
  EXPECT_EQ(status.expected, 3);
  EXPECT_FALSE(pipeline.check({StageId::kWeights, 0, 0, -1, 0}).ok());
  EXPECT_FALSE(pipeline.check({StageId::kWeights, 1, 0, 0, 0}).ok());
  EXPECT_FALSE(pipeline.check({StageId::kWeights, 0, 1, 0, 0}).ok());
}

}  // namespace
