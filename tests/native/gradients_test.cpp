// Gradients against central differences of the oracle, and the products that make them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "attn/backward.hpp"
#include "attn/pipeline.hpp"
#include "compare.hpp"
#include "configurations.hpp"
#include "random.hpp"
#include "result.hpp"
#include "set_up.hpp"

namespace {

using attn::Config;
using attn::Pipeline;
using attn::StageId;
using attn_test::Sample;
using testing::AssertionResult;
using testing::AssertionSuccess;

constexpr double kEps = std::numeric_limits<float>::epsilon();

double loss(const Config& config, const attn::reference::Inputs& inputs,
            std::span<const float> d_output) {
  const std::vector<double> result = attn::reference::result(config, inputs);
  double sum = 0;
  for (std::size_t i = 0; i < result.size(); ++i) sum += result[i] * d_output[i];
  return sum;
}

// The derivative of the loss by every number of an input.
std::vector<double> differences(const Config& config, attn::reference::Inputs inputs,
                                std::span<const float> d_output, StageId stage) {
  // The error of a central difference is about step² times a third derivative, and 1e-16/step.
  constexpr double kStep = 0x1p-17;
  std::vector<double> out;
  std::vector<double>& numbers = inputs[stage];
  for (double& number : numbers) {
    const double middle = number;
    number = middle + kStep;
    const double above = loss(config, inputs, d_output);
    number = middle - kStep;
    const double below = loss(config, inputs, d_output);
    number = middle;
    out.push_back((above - below) / (2 * kStep));
  }
  return out;
}

// Rows of a gradient of keys or values: the past ones or the new ones.
std::vector<float> rows_of(const Pipeline& pipeline, StageId gradient, bool past) {
  const attn::Shape shape = attn::shape_of(gradient, pipeline.config());
  std::vector<float> out;
  const std::int64_t first = past ? 0 : pipeline.config().past;
  const std::int64_t last = past ? pipeline.config().past : shape.rows;
  for (std::int64_t m = 0; m < shape.batch * shape.heads; ++m) {
    for (std::int64_t at = (m * shape.rows + first) * shape.cols;
         at < (m * shape.rows + last) * shape.cols; ++at) {
      out.push_back(pipeline.stage(gradient)[static_cast<std::size_t>(at)]);
    }
  }
  return out;
}

AssertionResult gradients_hold(const Sample& sample) {
  Config config = sample.with_lengths();
  config.gradients = true;
  Pipeline pipeline;
  EXPECT_TRUE(pipeline.configure(config).ok());
  attn_test::Random random(static_cast<std::uint64_t>(config.tq * 7 + config.tk));
  attn_test::fill_inputs(pipeline, random);
  pipeline.run();

  attn::reference::Inputs inputs;
  for (const attn::Stage& stage : attn::kStages) {
    const bool given = pipeline.is_given(stage.id) || stage.id == StageId::kMask;
    if (!given || !pipeline.has(stage.id) || stage.id == StageId::kDOutput) continue;
    const std::span<const float> cells = pipeline.stage(stage.id);
    inputs[stage.id] = {cells.begin(), cells.end()};
  }
  for (const StageId present : {StageId::kPresentKey, StageId::kPresentValue}) {
    attn_test::for_each_past(pipeline, present, [&](attn::Matrix m) {
      inputs[present].insert(inputs[present].end(), m.data, m.data + m.rows * m.cols);
    });
  }

  std::map<StageId, std::pair<StageId, std::vector<float>>> found;  // by input: gradient, numbers
  const auto add = [&](StageId input, StageId gradient) {
    if (!inputs.contains(input)) return;
    const bool keys = gradient == StageId::kDK || gradient == StageId::kDV;
    const bool past = input == StageId::kPresentKey || input == StageId::kPresentValue;
    const std::span<const float> all = pipeline.stage(gradient);
    found[input] = {gradient, keys ? rows_of(pipeline, gradient, past)
                                   : std::vector<float>(all.begin(), all.end())};
  };
  add(StageId::kQ, StageId::kDQ);
  add(StageId::kK, StageId::kDK);
  add(StageId::kV, StageId::kDV);
  add(StageId::kPresentKey, StageId::kDK);
  add(StageId::kPresentValue, StageId::kDV);
  add(StageId::kWq, StageId::kDWq);
  add(StageId::kWk, StageId::kDWk);
  add(StageId::kWv, StageId::kDWv);
  add(StageId::kWo, StageId::kDWo);
  add(StageId::kX, StageId::kDX);
  add(StageId::kXContext, StageId::kDXContext);

  // Everything that goes into a gradient, in the size it has.
  double magnitude = 1;
  for (const StageId id : {StageId::kRawScores, StageId::kDWeights, StageId::kDConcat, StageId::kQ,
                           StageId::kK, StageId::kV}) {
    double largest = 1;
    for (const float cell : pipeline.stage(id)) largest = std::fmax(largest, std::abs(cell));
    magnitude *= std::sqrt(largest);
  }
  for (const auto& [input, item] : found) {
    const auto& [gradient, numbers] = item;
    const std::vector<double> right =
        differences(config, inputs, pipeline.stage(StageId::kDOutput), input);
    double largest = magnitude;
    for (const double number : right) largest = std::fmax(largest, std::abs(number));
    const double tolerance = 100 * kEps * largest;
    const AssertionResult verdict = attn_test::near_all(attn::stage_of(gradient).name, numbers,
                                                        right, [&](double) { return tolerance; });
    if (!verdict) return verdict;
  }
  return AssertionSuccess();
}

TEST(Gradients, AreThoseOfCentralDifferences) { attn_test::for_all(31, 150, gradients_hold); }

TEST(Gradients, HiddenPositionsHoldZeroWhateverStandsThere) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  Pipeline pipeline;
  ASSERT_TRUE(pipeline
                  .configure({.heads = 2,
                              .tq = 2,
                              .tk = 3,
                              .d_k = 2,
                              .d_v = 2,
                              .masked = true,
                              .gradients = true,
                              .softcap = 2.0F})
                  .ok());
  attn_test::Random random(5);
  attn_test::fill_inputs(pipeline, random);
  const std::vector<std::int64_t> shape{3};
  const std::vector<float> mask{0, -INFINITY, 0};
  ASSERT_TRUE(pipeline.set_mask({shape, false, mask}).ok());
  for (const StageId id : {StageId::kK, StageId::kV}) {
    pipeline.input(id)[2] = kNan;
    pipeline.input(id)[3] = INFINITY;
  }
  pipeline.run();
  for (const StageId id :
       {StageId::kDWeights, StageId::kDScores, StageId::kDQ, StageId::kDK, StageId::kDV}) {
    for (const float cell : pipeline.stage(id)) {
      EXPECT_TRUE(std::isfinite(cell)) << attn::stage_of(id).name;
    }
  }
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(pipeline.stage(StageId::kDWeights)[row * 3 + 1], 0);
    EXPECT_EQ(pipeline.stage(StageId::kDScores)[row * 3 + 1], 0);
  }
  for (const StageId id : {StageId::kDK, StageId::kDV}) {
    EXPECT_EQ(pipeline.stage(id)[2], 0);
    EXPECT_EQ(pipeline.stage(id)[3], 0);
  }
}

TEST(Gradients, NanInOneQueryStaysWithWhatItSees) {
  Pipeline pipeline;
  ASSERT_TRUE(
      pipeline.configure({.tq = 2, .tk = 2, .d_k = 1, .d_v = 1, .causal = true, .gradients = true})
          .ok());
  attn_test::Random random(6);
  attn_test::fill_inputs(pipeline, random);
  pipeline.input(StageId::kQ)[0] = std::numeric_limits<float>::quiet_NaN();
  pipeline.run();
  // Query 0 sees key 0 alone.
  EXPECT_TRUE(std::isnan(pipeline.stage(StageId::kDV)[0]));
  EXPECT_TRUE(std::isfinite(pipeline.stage(StageId::kDV)[1]));
  EXPECT_TRUE(std::isfinite(pipeline.stage(StageId::kDK)[1]));
  EXPECT_TRUE(std::isfinite(pipeline.stage(StageId::kDQ)[1]));
}

TEST(Gradients, HugeNumbersOfEmptyMatricesTakeNoTime) {
  constexpr std::int64_t kMany = attn::kMaxSize;
  for (const Config& config :
       {Config{.batch = kMany,
       .heads = kMany,
       .kv_heads = kMany,
       .tq = 0,
       .tk = kMany,
       .d_k = 0,
       .d_v = 0,
       .gradients = true},
        Config{.batch = kMany / 2,
        .heads = 4,
        .kv_heads = 1,
        .tq = 0,
        .tk = 0,
        .d_k = 1,
        .d_v = 1,
        .d_model = 1,
        .from_x = true,
        .output_projection = true,
        .gradients = true},
        Config{.heads = kMany, .tq = 0, .tk = 1, .d_k = 1, .d_v = 1, .gradients = true}}) {
    Pipeline pipeline;
    ASSERT_TRUE(pipeline.configure(config).ok());
    pipeline.run();
  }
}

TEST(SoftmaxJacobian, IsTheDerivativeOfARow) {
  Pipeline pipeline;
  ASSERT_TRUE(pipeline.configure({.tq = 1, .tk = 3, .d_k = 1, .d_v = 1}).ok());
  pipeline.input(StageId::kQ)[0] = 1;
  const std::vector<float> scores{0.5F, -1, 2};
  std::ranges::copy(scores, pipeline.input(StageId::kK).begin());
  pipeline.run();
  const auto weight = [&](std::vector<double> s, std::size_t i) {
    double sum = 0;
    for (const double score : s) sum += std::exp(score);
    return std::exp(s[i]) / sum;
  };
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      std::vector<double> above(scores.begin(), scores.end());
      std::vector<double> below = above;
      above[j] += kStep;
      below[j] -= kStep;
      EXPECT_NEAR(pipeline.softmax_jacobian(0, 0, 0, static_cast<std::int64_t>(i),
                                            static_cast<std::int64_t>(j)),
                  (weight(above, i) - weight(below, i)) / (2 * kStep), 4 * kEps);
    }
  }
}

// A weight that has been rounded to 1 leaves what the others have.
TEST(SoftmaxJacobian, OfASaturatedRowKeepsTheSmallWeights) {
  Pipeline pipeline;
  attn::Config config{.tq = 1, .tk = 3, .d_k = 1, .d_v = 1, .gradients = true};
  config.scale = 1.0F;
  ASSERT_TRUE(pipeline.configure(config).ok());
  pipeline.input(StageId::kQ)[0] = 1;
  std::ranges::copy(std::vector<float>{0, -40, -41}, pipeline.input(StageId::kK).begin());
  std::ranges::copy(std::vector<float>{3, 5, 1}, pipeline.input(StageId::kV).begin());
  pipeline.input(StageId::kDOutput)[0] = 1;
  pipeline.run();
  const double first = std::exp(-40);
  const double second = std::exp(-41);
  EXPECT_NEAR(pipeline.softmax_jacobian(0, 0, 0, 0, 0), first + second, 1e-6 * first);
  // a₀·(Σ aₖ·(v₀ − vₖ)), and for the others aⱼ·(vⱼ − v₀) up to squares.
  const auto gradient = pipeline.stage(StageId::kDScores);
  EXPECT_NEAR(gradient[0], -2 * first + 2 * second, 1e-6 * first);
  EXPECT_NEAR(gradient[1], 2 * first, 1e-6 * first);
  EXPECT_NEAR(gradient[2], -2 * second, 1e-6 * first);
}

TEST(SoftcapSlope, IsTheDerivativeOfTheCap) {
  EXPECT_EQ(attn::softcap_slope(0, 3), 1);
  EXPECT_EQ(attn::softcap_slope(INFINITY, 3), 0);
  EXPECT_EQ(attn::softcap_slope(-INFINITY, 3), 0);
  EXPECT_TRUE(std::isnan(attn::softcap_slope(std::numeric_limits<float>::quiet_NaN(), 3)));
  for (const float s : {-7.0F, -1.0F, 0.3F, 2.0F, 20.0F}) {
    const double cosh = std::cosh(static_cast<double>(s) / 1.5);
    EXPECT_NEAR(attn::softcap_slope(s, 1.5F) * cosh * cosh, 1, kEps);
  }
}

}  // namespace
