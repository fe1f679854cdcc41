// The pipeline as a whole: life cycle, sizes of zero, exact promises, agreement with the oracle.
#include "attn/pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "compare.hpp"
#include "configurations.hpp"
#include "random.hpp"
#include "reference.hpp"
#include "set_up.hpp"

namespace {

using attn::Config;
using attn::Pipeline;
using attn::StageId;

using attn_test::fill_inputs;

attn::reference::Table table(const Pipeline& pipeline, StageId id) {
  const attn::Shape shape = attn::shape_of(id, pipeline.config());
  const auto rows = static_cast<std::size_t>(shape.rows);
  const auto cols = static_cast<std::size_t>(shape.cols);
  return attn::reference::Table(attn::ConstMatrix{pipeline.stage(id).data(), rows, cols, cols});
}

TEST(Pipeline, HasNothingBeforeItIsConfigured) {
  Pipeline pipeline;
  pipeline.run();
  for (const attn::Stage& stage : attn::kStages) {
    EXPECT_FALSE(pipeline.has(stage.id));
    EXPECT_TRUE(pipeline.stage(stage.id).empty());
    EXPECT_TRUE(pipeline.input(stage.id).empty());
    EXPECT_EQ(pipeline.check({.stage = stage.id}).code, attn::Code::kStageAbsent);
  }
}

TEST(Pipeline, OnlyInputsCanBeWritten) {
  Pipeline pipeline;
  ASSERT_TRUE(pipeline.configure({.tq = 2, .tk = 2, .d_k = 4, .d_v = 2}).ok());
  EXPECT_EQ(pipeline.input(StageId::kQ).size(), 8U);
  EXPECT_TRUE(pipeline.input(StageId::kWeights).empty());
  EXPECT_TRUE(pipeline.input(StageId::kX).empty());
}

TEST(Pipeline, FillsInputsFromAStreamOfTheirOwn) {
  Pipeline pipeline;
  ASSERT_TRUE(pipeline.configure({.tq = 2, .tk = 2, .d_k = 4, .d_v = 4}).ok());
  ASSERT_TRUE(pipeline.fill_normal(StageId::kQ, 3).ok());
  ASSERT_TRUE(pipeline.fill_normal(StageId::kK, 3).ok());
  EXPECT_FALSE(std::ranges::equal(pipeline.stage(StageId::kQ), pipeline.stage(StageId::kK)));
  EXPECT_EQ(pipeline.fill_normal(StageId::kX, 3).code, attn::Code::kStageAbsent);
  EXPECT_EQ(pipeline.fill_normal(StageId::kWeights, 3).code, attn::Code::kNotGiven);
}

TEST(Pipeline, AMaskMayBeStagedInTheScoresItChanges) {
  Pipeline pipeline;
  EXPECT_TRUE(pipeline.mask_staging().empty());
  ASSERT_TRUE(pipeline.configure({.tq = 1, .tk = 2, .d_k = 1, .d_v = 1, .masked = true}).ok());
  pipeline.input(StageId::kV)[0] = 1;
  pipeline.input(StageId::kV)[1] = 3;
  const std::span<float> staging = pipeline.mask_staging();
  ASSERT_EQ(staging.size(), 2U);
  const std::array<std::int64_t, 1> shape{2};
  staging[0] = 0;
  staging[1] = 1;
  ASSERT_TRUE(pipeline.set_mask({shape, true, staging}).ok());
  pipeline.run();
  EXPECT_EQ(pipeline.stage(StageId::kHeads)[0], 3);
  // A refused mask leaves what was computed, too.
  staging[0] = staging[1] = 2;
  EXPECT_FALSE(pipeline.set_mask({shape, true, staging}).ok());
  EXPECT_EQ(pipeline.stage(StageId::kMaskedScores)[0], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(pipeline.stage(StageId::kMaskedScores)[1], 0);
}

TEST(Pipeline, ConfigureZeroesWhatIsGiven) {
  Pipeline pipeline;
  const Config config{.tq = 2, .tk = 3, .d_k = 4, .d_v = 2, .past = 1, .masked = true};
  ASSERT_TRUE(pipeline.configure(config).ok());
  attn_test::Random random(1);
  fill_inputs(pipeline, random);
  pipeline.run();
  ASSERT_TRUE(pipeline.configure(config).ok());
  for (const attn::Stage& stage : attn::kStages) {
    for (const float cell : pipeline.input(stage.id)) ASSERT_EQ(cell, 0) << stage.name;
  }
  for (const StageId present : {StageId::kPresentKey, StageId::kPresentValue}) {
    const attn::Matrix past = pipeline.past(present, 0, 0);
    for (std::size_t i = 0; i < past.cols; ++i) EXPECT_EQ(past.at(0, i), 0);
  }
}

TEST(Pipeline, StepsInAnyDivisionGiveTheSameBits) {
  std::int64_t most_steps = 0;
  attn_test::for_all(31, 300, [&](const attn_test::Sample& sample) {
    Config config = sample.with_lengths();
    config.gradients = true;
    Pipeline whole;  // Each of these matrices is one step.
    Pipeline parts(32);
    attn_test::Random divide(config.tq + 7);
    if (!whole.configure(config).ok() || !parts.configure(config).ok()) {
      return testing::AssertionFailure() << "refused";
    }
    for (Pipeline* const pipeline : {&whole, &parts}) {
      attn_test::Random random(3);
      fill_inputs(*pipeline, random);
    }
    whole.run();
    const std::int64_t steps = parts.steps();
    most_steps = std::max(most_steps, steps);
    for (std::int64_t at = 0; at < steps;) {
      const auto count = 1 + static_cast<std::int64_t>(divide.uniform() * 4);
      const std::int64_t end = std::min(at + count, steps);
      parts.run(at, end);
      at = end;
    }
    for (const attn::Stage& stage : attn::kStages) {
      const std::span<const float> expected = whole.stage(stage.id);
      const std::span<const float> found = parts.stage(stage.id);
      if (!expected.empty() &&
          std::memcmp(expected.data(), found.data(), expected.size_bytes()) != 0) {
        return testing::AssertionFailure() << stage.name << " differs";
      }
    }
    return testing::AssertionSuccess();
  });
  EXPECT_GT(most_steps, 300);
}

TEST(Pipeline, AStepIsABoundedAmountOfWork) {
  Pipeline pipeline;
  EXPECT_EQ(pipeline.steps(), 0);
  // 256 x 512 scores from 64 products each, 2^23 in all: 4 steps. Of the other stages Q, K and V
  // are given; K transposed and five of the size of the scores take 16 a cell, 1 step each; the
  // three row statistics 1 each; the heads, 256 x 64 from 512 products each, 4; their
  // concatenation 1.
  ASSERT_TRUE(pipeline.configure({.tq = 256, .tk = 512, .d_k = 64, .d_v = 64}).ok());
  EXPECT_EQ(pipeline.steps(), 4 + 1 + 5 + 3 + 4 + 1);
  // One matrix of each head, and none of a stage without cells.
  ASSERT_TRUE(pipeline.configure({.heads = 3, .tq = 2, .tk = 2, .d_k = 2, .d_v = 0}).ok());
  EXPECT_EQ(pipeline.steps(), 1 + 3 * 9);
}

TEST(Pipeline, TheDefaultScaleIsOneOverTheRootOfTheWidth) {
  Pipeline pipeline;
  ASSERT_TRUE(pipeline.configure({.d_k = 64}).ok());
  EXPECT_EQ(pipeline.scale(), 0.125F);
  ASSERT_TRUE(pipeline.configure({.d_k = 2}).ok());
  EXPECT_EQ(pipeline.scale(), 0x1.6a09e6p-1F);
  ASSERT_TRUE(pipeline.configure({.d_k = 64, .scale = 0.0F}).ok());
  EXPECT_EQ(pipeline.scale(), 0);
  ASSERT_TRUE(pipeline.configure({.d_k = 0}).ok());
  EXPECT_EQ(pipeline.scale(), 1);
}

TEST(Pipeline, EverySizeMayBeZero) {
  attn_test::Random random(2);
  const Config full{.batch = 2,
                    .heads = 4,
                    .kv_heads = 2,
                    .tq = 3,
                    .tk = 3,
                    .d_k = 5,
                    .d_v = 6,
                    .d_model = 7,
                    .from_x = true,
                    .context = true,
                    .output_projection = true};
  for (const auto size : {&Config::tq, &Config::tk, &Config::d_k, &Config::d_v, &Config::d_model}) {
    Config config = full;
    config.*size = 0;
    Pipeline pipeline;
    ASSERT_TRUE(pipeline.configure(config).ok());
    fill_inputs(pipeline, random);
    pipeline.run();
    for (const float cell : pipeline.stage(StageId::kOutput)) EXPECT_TRUE(std::isfinite(cell));
    if (size != &Config::d_model) continue;
    for (const float cell : pipeline.stage(StageId::kWeights)) EXPECT_FLOAT_EQ(cell, 1.0F / 3);
  }
}

TEST(Pipeline, ManyEmptyMatricesTakeNoTime) {
  Pipeline pipeline;
  const Config config{.batch = attn::kMaxSize,
                      .heads = attn::kMaxSize,
                      .kv_heads = attn::kMaxSize,
                      .tq = 0,
                      .tk = attn::kMaxSize,
                      .d_k = 0,
                      .d_v = 0,
                      .causal = true};
  ASSERT_TRUE(pipeline.configure(config).ok());
  pipeline.run();
}

TEST(Pipeline, OneKeyHasAWeightOfExactlyOne) {
  attn_test::Random random(3);
  Pipeline pipeline;
  ASSERT_TRUE(pipeline.configure({.tq = 9, .tk = 1, .d_k = 7, .d_v = 5}).ok());
  fill_inputs(pipeline, random);
  pipeline.run();
  for (const float weight : pipeline.stage(StageId::kWeights)) EXPECT_EQ(weight, 1);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_TRUE(std::ranges::equal(pipeline.stage(StageId::kHeads).subspan(i * 5, 5),
                                   pipeline.stage(StageId::kV)));
  }
}

TEST(Pipeline, NanInAQueryStaysInItsRow) {
  attn_test::Random random(4);
  Pipeline pipeline;
  ASSERT_TRUE(pipeline.configure({.tq = 3, .tk = 5, .d_k = 6, .d_v = 2}).ok());
  fill_inputs(pipeline, random);
  pipeline.input(StageId::kQ)[6] = std::numeric_limits<float>::quiet_NaN();
  pipeline.run();
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t c = 0; c < 2; ++c) {
      EXPECT_EQ(std::isnan(pipeline.stage(StageId::kHeads)[i * 2 + c]), i == 1);
    }
    EXPECT_EQ(std::isnan(pipeline.stage(StageId::kRowMax)[i]), i == 1);
  }
}

TEST(Pipeline, AgreesWithTheOracleOverSizes) {
  attn_test::Random random(5);
  constexpr double kEps = std::numeric_limits<float>::epsilon();
  for (std::int64_t n = 1; n <= 40; n += 3) {
    const Config config{.tq = n, .tk = 41 - n, .d_k = n % 11 + 1, .d_v = n % 7 + 1};
    Pipeline pipeline;
    ASSERT_TRUE(pipeline.configure(config).ok());
    fill_inputs(pipeline, random);
    pipeline.run();
    const attn::reference::Table right = attn::reference::attention(
        table(pipeline, StageId::kQ), table(pipeline, StageId::kK), table(pipeline, StageId::kV),
        1 / std::sqrt(static_cast<double>(config.d_k)));
    // Scores below 36·d_k/√d_k with (d_k + 3)/2 roundings become a relative error of the weights,
    // twice (numerator and sum); the sum and the product with V (below 6) add (2·T_k + 6)/2.
    const auto d_k = static_cast<double>(config.d_k);
    const auto tk = static_cast<double>(config.tk);
    const double tolerance = kEps * 6 * (36 * std::sqrt(d_k) * (d_k + 3) + tk + 3);
    EXPECT_TRUE(attn_test::near_all("heads", pipeline.stage(StageId::kHeads), right.cells,
                                    [&](double) { return tolerance; }));
  }
}

TEST(Pipeline, HeadsAndBatchesEqualSingleRuns) {
  attn_test::Random random(6);
  const Config config{.batch = 2, .heads = 4, .kv_heads = 2, .tq = 3, .tk = 5, .d_k = 6, .d_v = 7};
  Pipeline all;
  ASSERT_TRUE(all.configure(config).ok());
  fill_inputs(all, random);
  all.run();
  Config one = config;
  one.batch = one.heads = one.kv_heads = 1;
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t h = 0; h < 4; ++h) {
      Pipeline single;
      ASSERT_TRUE(single.configure(one).ok());
      const auto copy = [&](StageId id, std::size_t matrix) {
        const std::span<float> to = single.input(id);
        std::ranges::copy(all.stage(id).subspan(matrix * to.size(), to.size()), to.begin());
      };
      copy(StageId::kQ, b * 4 + h);
      copy(StageId::kK, b * 2 + h / 2);
      copy(StageId::kV, b * 2 + h / 2);
      single.run();
      const std::span<const float> heads = single.stage(StageId::kHeads);
      EXPECT_TRUE(std::ranges::equal(
          heads, all.stage(StageId::kHeads).subspan((b * 4 + h) * heads.size(), heads.size())));
      // Row 1 of the concatenation, the columns of head h.
      EXPECT_TRUE(std::ranges::equal(
          heads.subspan(7, 7), all.stage(StageId::kConcat).subspan(b * 3 * 28 + 28 + h * 7, 7)));
    }
  }
}

}  // namespace
