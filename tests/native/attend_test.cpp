// Fused attention: every vector, and the oracle on random configurations and shapes.
#include "attn/attend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "attend_set_up.hpp"
#include "attn/pipeline.hpp"
#include "compare.hpp"
#include "configurations.hpp"
#include "random.hpp"
#include "result.hpp"
#include "set_up.hpp"
#include "vectors.hpp"

namespace {

using attn::Attention;
using attn::Code;
using attn::Config;
using attn::StageId;
using attn_test::near_all;
using attn_test::Random;
using attn_test::set_rows;
using attn_test::Vector;

constexpr double kEps = std::numeric_limits<float>::epsilon();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class FusedVectors : public testing::TestWithParam<std::string> {};

// The numbers of a stage, given or computed by the generator.
std::vector<float> stage_of(const Vector& vector, const std::string& name) {
  if (vector.inputs.contains(name)) return vector.inputs.at(name);
  const std::vector<double>& exact = vector.expected.at(name).data;
  return {exact.begin(), exact.end()};
}

TEST_P(FusedVectors, HeadsHaveTheirNumbers) {
  const Vector vector = attn_test::read_vector(GetParam());
  Config config = vector.config;
  config.valid_lengths = vector.valid_lengths;
  Attention attention;
  const auto& [shape, boolean, values] = vector.mask;
  ASSERT_TRUE(attention.configure(config, {shape, boolean, {}}).ok());
  std::ranges::copy(stage_of(vector, "q"), attention.input(StageId::kQ).begin());
  for (const auto& [name, present, past] :
       {std::tuple{"k", StageId::kPresentKey, "presentKey"},
        std::tuple{"v", StageId::kPresentValue, "presentValue"}}) {
    set_rows(attention, present, config.past, config.tk - config.past, stage_of(vector, name));
    if (config.past > 0) set_rows(attention, present, 0, config.past, vector.past.at(past));
  }
  if (config.masked) {
    ASSERT_TRUE(attention.set_mask(values).ok());
  }
  attention.run(0, attention.rows());
  const attn_test::Expected& expected = vector.expected.at("heads");
  EXPECT_TRUE(near_all("heads", attention.output(), expected.data,
                       [&](double value) { return expected.tolerance(value); }));
}

INSTANTIATE_TEST_SUITE_P(All, FusedVectors, testing::ValuesIn(attn_test::vector_names()),
                         [](const auto& parameters) {
                           std::string name = parameters.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// Everything that fused attention is given, and what hides or shifts each score.
struct Case {
  Config config;
  std::vector<std::int32_t> lengths{};
  std::vector<std::int64_t> mask_shape{};
  bool boolean = false;
  std::vector<float> q{}, k{}, v{};  // k and v with past rows in front
  std::vector<float> mask{};

  Config with_lengths() const {
    Config whole = config;
    whole.valid_lengths = lengths;
    return whole;
  }
};

std::vector<float> normal_numbers(Random& random, std::int64_t count) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = random.normal();
  return numbers;
}

void fill(Case& given, Random& random) {
  const Config& c = given.config;
  given.q = normal_numbers(random, c.batch * c.heads * c.tq * c.d_k);
  given.k = normal_numbers(random, c.batch * c.kv_heads * c.tk * c.d_k);
  given.v = normal_numbers(random, c.batch * c.kv_heads * c.tk * c.d_v);
  if (!c.masked) return;
  std::int64_t count = 1;
  for (const std::int64_t extent : given.mask_shape) count *= extent;
  given.mask = normal_numbers(random, count);
  for (float& number : given.mask) {
    const bool hidden = random.uniform() < 0.3F;
    if (given.boolean) {
      number = hidden ? 0.0F : 1.0F;
    } else if (hidden) {
      number = -kInfinity;
    }
  }
}

// What is added to the score of a query and a key, worked from the definitions: −∞ hides.
double added(const Case& given, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  const Config& c = given.config;
  const bool limited = !given.lengths.empty();
  const std::int64_t length = limited ? given.lengths[static_cast<std::size_t>(b)] : c.tk;
  if (j >= length) return -HUGE_VAL;
  if (c.causal && j > i + (limited ? length - c.tq : c.past)) return -HUGE_VAL;
  if (!c.masked) return 0;
  std::vector<std::int64_t> axes(4 - given.mask_shape.size(), 1);
  axes.insert(axes.end(), given.mask_shape.begin(), given.mask_shape.end());
  const std::vector<std::int64_t> place{b, h, i, j};
  std::int64_t at = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    const std::int64_t index = axes[axis] == 1 ? 0 : place[axis];
    if (index >= axes[axis]) return -HUGE_VAL;
    at = at * axes[axis] + index;
  }
  const float number = given.mask[static_cast<std::size_t>(at)];
  if (!given.boolean) return number;
  return number == 0 ? -HUGE_VAL : 0;
}

void give(const Case& given, Attention& attention) {
  ASSERT_TRUE(
      attention.configure(given.with_lengths(), {given.mask_shape, given.boolean, {}}).ok());
  std::ranges::copy(given.q, attention.input(StageId::kQ).begin());
  std::ranges::copy(given.k, attention.input(StageId::kPresentKey).begin());
  std::ranges::copy(given.v, attention.input(StageId::kPresentValue).begin());
  if (given.config.masked) {
    ASSERT_TRUE(attention.set_mask(given.mask).ok());
  }
}

// Whether fused attention gives what the oracle does.
testing::AssertionResult agrees(const Case& given) {
  Attention attention;
  give(given, attention);
  attention.run(0, attention.rows());
  // The oracle knows one kind of mask, and the past as rows of its own: here they are keys.
  Config config = given.config;
  config.past = 0;
  config.causal = false;
  attn::reference::Inputs inputs;
  inputs[StageId::kQ] = {given.q.begin(), given.q.end()};
  inputs[StageId::kK] = {given.k.begin(), given.k.end()};
  inputs[StageId::kV] = {given.v.begin(), given.v.end()};
  double magnitude = 1;  // of what is added to the scores, and of the scores
  std::vector<double>& mask = inputs[StageId::kMask];
  for (std::int64_t b = 0; b < config.batch; ++b) {
    for (std::int64_t h = 0; h < config.heads; ++h) {
      for (std::int64_t i = 0; i < config.tq; ++i) {
        for (std::int64_t j = 0; j < config.tk; ++j) {
          mask.push_back(added(given, b, h, i, j));
          if (std::isfinite(mask.back())) magnitude = std::fmax(magnitude, std::abs(mask.back()));
        }
      }
    }
  }
  const double scale = config.scale      ? std::abs(*config.scale)
                       : config.d_k == 0 ? 1
                                         : 1 / std::sqrt(static_cast<double>(config.d_k));
  // Normal numbers: |Σ q·k| stays below 6·√(d_k)·6.
  magnitude += scale * 36 * std::sqrt(static_cast<double>(config.d_k) + 1);
  // [batch, T_q, heads · d_v] becomes [batch, heads, T_q, d_v].
  const std::vector<double> concat = attn::reference::result(config, inputs);
  std::vector<double> heads;
  for (std::int64_t b = 0; b < config.batch; ++b) {
    for (std::int64_t h = 0; h < config.heads; ++h) {
      for (std::int64_t i = 0; i < config.tq; ++i) {
        for (std::int64_t c = 0; c < config.d_v; ++c) {
          const std::int64_t at = ((b * config.tq + i) * config.heads + h) * config.d_v + c;
          heads.push_back(concat[static_cast<std::size_t>(at)]);
        }
      }
    }
  }
  // Errors of scores become relative errors of weights.
  double largest = 6;  // of the values; normal numbers stay below it
  for (const float value : given.v) largest = std::fmax(largest, std::abs(value));
  const double tolerance = kEps * 2 * largest * magnitude;
  return near_all("heads", attention.output(), heads, [&](double) { return tolerance; });
}

// A shape of a mask that may stand for these sizes.
std::vector<std::int64_t> random_mask_shape(const Config& c, Random& random) {
  const auto either = [&](std::int64_t extent) { return random.uniform() < 0.5F ? extent : 1; };
  std::vector<std::int64_t> shape{either(c.batch), either(c.heads), either(c.tq), c.tk};
  if (c.tk > 3 && random.uniform() < 0.3F) shape.back() = c.tk / 2 + 1;
  if (random.uniform() < 0.1F) shape.back() = 1;
  const auto rank = 1 + static_cast<std::ptrdiff_t>(random.uniform() * 4);
  return {shape.end() - rank, shape.end()};
}

TEST(Fused, AgreesWithTheOracleOnRandomConfigurations) {
  attn_test::for_all(41, 400, [](const attn_test::Sample& sample) {
    Random random(static_cast<std::uint64_t>(sample.config.tq * 64 + sample.config.tk));
    Case given{.config = sample.config, .lengths = sample.lengths};
    given.config.from_x = given.config.context = given.config.output_projection = false;
    given.boolean = random.uniform() < 0.5F;
    if (given.config.masked) given.mask_shape = random_mask_shape(given.config, random);
    fill(given, random);
    return agrees(given);
  });
}

// Around the sizes of tiles, panels and blocks, every remainder on every axis.
TEST(Fused, AgreesWithTheOracleOnOddSizes) {
  Random random(42);
  const auto pick = [&](std::initializer_list<std::int64_t> sizes) {
    return sizes
        .begin()[static_cast<std::size_t>(random.uniform() * static_cast<float>(sizes.size()))];
  };
  for (int n = 0; n < 300; ++n) {
    Case given;
    Config& c = given.config;
    c.batch = pick({1, 1, 2});
    c.kv_heads = pick({1, 2});
    c.heads = c.kv_heads * pick({1, 2, 3});
    c.tq = pick({1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 63, 64, 65, 70, 71});
    c.tk = pick({1, 2, 5, 6, 7, 47, 48, 49, 95, 96, 97, 103, 191, 193, 255, 256, 257, 259});
    c.d_k = pick({0, 1, 2, 3, 4, 5, 7, 8, 17, 33});
    c.d_v = pick({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 17, 32, 33, 35});
    c.causal = random.uniform() < 0.4F;
    c.masked = random.uniform() < 0.4F;
    if (random.uniform() < 0.3F) c.past = pick({0, 1, c.tk / 2, c.tk});
    if (c.past == 0 && random.uniform() < 0.3F) {
      for (std::int64_t b = 0; b < c.batch; ++b) {
        given.lengths.push_back(static_cast<std::int32_t>(pick({0, 1, c.tk / 2, c.tk})));
      }
    }
    if (random.uniform() < 0.2F) c.softcap = 2.0F;
    if (random.uniform() < 0.2F) c.scale = -0.7F;
    if (c.masked) given.mask_shape = random_mask_shape(c, random);
    given.boolean = random.uniform() < 0.5F;
    fill(given, random);
    ASSERT_TRUE(agrees(given)) << attn_test::Sample{c, given.lengths} << ", mask of "
                               << given.mask_shape.size() << " axes";
  }
}

// Hidden keys and values may hold anything; visible ones spoil exactly the rows that see them.
TEST(Fused, HiddenNumbersHaveNoInfluenceAndVisibleOnesHaveAll) {
  for (const std::int64_t tq : {1, 3, 4, 7, 8, 15}) {
    for (const float bad : {kNan, kInfinity, -kInfinity}) {
      Random random(43);
      Case given{.config = {.tq = tq, .tk = 130, .d_k = 5, .d_v = 6, .masked = true}};
      given.mask_shape = {tq, 130};
      given.boolean = true;
      fill(given, random);
      constexpr std::size_t kBad = 101;
      for (std::int64_t i = 0; i < tq; ++i) {
        given.mask[static_cast<std::size_t>(i) * 130 + kBad] = i % 2 == 0 ? 0 : 1;
      }
      Attention clean;
      give(given, clean);
      clean.run(0, tq);
      const std::vector<double> right(clean.output().begin(), clean.output().end());
      given.v[kBad * 6 + 2] = bad;
      Attention spoilt;
      give(given, spoilt);
      spoilt.run(0, tq);
      for (std::size_t at = 0; at < right.size(); ++at) {
        const bool reached = at / 6 % 2 == 1 && at % 6 == 2;
        const float found = spoilt.output()[at];
        EXPECT_TRUE(reached ? std::isnan(found) || found == bad
                            : std::abs(found - right[at]) < 1e-5)
            << "value " << bad << ", " << tq << " queries, at " << at << ": " << found;
      }
      given.k[kBad * 5 + 1] = kNan;
      Attention blind;
      give(given, blind);
      blind.run(0, tq);
      for (std::size_t at = 0; at < right.size(); ++at) {
        const float found = blind.output()[at];
        EXPECT_TRUE(at / 6 % 2 == 1 ? std::isnan(found) : std::abs(found - right[at]) < 1e-5)
            << "a NaN key, " << tq << " queries, at " << at << ": " << found;
      }
    }
  }
}

// A score of −∞ that no mask made is seen: alone it gives NaN, beside others a weight of 0.
TEST(Fused, ScoresOfMinusInfinityAreVisible) {
  for (const std::int64_t tq : {1, 4, 8}) {
    Case given{.config = {.tq = tq, .tk = 600, .d_k = 1, .d_v = 1}};
    given.q.assign(static_cast<std::size_t>(tq), 1);
    given.k.assign(600, -kInfinity);
    given.v.assign(600, 3);
    Attention attention;
    give(given, attention);
    attention.run(0, tq);
    for (const float cell : attention.output()) EXPECT_TRUE(std::isnan(cell)) << tq;
    attention.input(StageId::kPresentKey)[450] = 2;
    attention.run(0, tq);
    for (const float cell : attention.output()) EXPECT_EQ(cell, 3) << tq;
  }
}

// With one visible key the row is that key's value, to the last bit, wherever it stands.
TEST(Fused, OneVisibleKeyGivesItsValue) {
  for (const std::int64_t tq : {1, 2, 4, 8}) {
    for (const std::size_t seen : {0, 5, 95, 96, 199}) {
      Random random(44);
      Case given{.config = {.tq = tq, .tk = 200, .d_k = 3, .d_v = 5, .masked = true}};
      given.mask_shape = {200};
      fill(given, random);
      given.mask.assign(200, -kInfinity);
      given.mask[seen] = -3.4e38F;
      Attention attention;
      give(given, attention);
      attention.run(0, tq);
      for (std::size_t at = 0; at < attention.output().size(); ++at) {
        EXPECT_EQ(attention.output()[at], given.v[seen * 5 + at % 5]) << tq << " " << seen;
      }
    }
  }
}

// The weighted values fit into a float, their sum before the division would not.
TEST(Fused, LargeValuesDoNotOverflow) {
  for (const std::int64_t tq : {1, 2, 3, 4, 7, 8, 15}) {
    for (const float large : {3e38F, 1e33F, 1e30F}) {
      Random random(46);
      Case given{.config = {.tq = tq, .tk = 300, .d_k = 2, .d_v = 3}};
      fill(given, random);
      for (std::size_t at = 0; at < given.v.size(); at += 3) {
        given.v[at] = large;
        given.v[at + 1] = -large * random.uniform();
        given.v[at + 2] *= 1e30F;
      }
      EXPECT_TRUE(agrees(given)) << tq << " " << large;
      given.config.causal = true;
      given.config.past = 300 - tq;
      EXPECT_TRUE(agrees(given)) << "causal " << tq << " " << large;
    }
  }
}

// In the careful order, too, and with more columns than are summed at once.
TEST(Fused, LongChainsOfLargeValuesAreSummedInBlocks) {
  constexpr std::int64_t kKeys = 300000;
  Case given{.config = {.tq = 1, .tk = kKeys, .d_k = 0, .d_v = 67}};
  given.v.assign(kKeys * 67, 3e38F);
  Attention attention;
  give(given, attention);
  attention.run(0, 1);
  // The mean of equal values, over a sum of kKeys/256 blocks, each of which rounds it once.
  const double tolerance = kKeys / 256.0 * kEps / 2;
  for (const float cell : attention.output()) EXPECT_NEAR(cell / 3e38, 1, tolerance);
}

// Where a sum overflows depends on its order: it is that of the stages, or comes back to it.
TEST(Fused, ProductsOverflowAsInTheStages) {
  for (const std::int64_t tq : {1, 2, 3, 4, 5, 8}) {
    for (const float hidden : {0.0F, kNan}) {
      Case given{.config = {.tq = tq, .tk = 3, .d_k = 8, .d_v = 1, .masked = true}};
      given.q.assign(static_cast<std::size_t>(tq) * 8, 1);
      given.k.assign(24, 0);
      for (std::size_t d = 0; d < 8; ++d) given.k[d] = d % 2 == 0 ? 2e38F : -2e38F;
      given.v = {1, 2, hidden};
      given.mask_shape = {3};
      given.mask = {0, 0, -kInfinity};
      Attention attention;
      give(given, attention);
      attention.run(0, tq);
      for (const float cell : attention.output()) EXPECT_EQ(cell, 1.5F) << tq << " " << hidden;
    }
  }
}

// A weight that only a number below the smallest normal one can hold still counts.
TEST(Fused, LeastWeightsCount) {
  for (const std::int64_t tq : {1, 3, 4, 8}) {
    for (const float gap : {80.0F, 87.0F, 88.0F, 95.0F, 103.0F}) {
      for (const std::size_t large : {0, 7, 199}) {
        Case given{.config = {.tq = tq, .tk = 200, .d_k = 1, .d_v = 1, .scale = 1.0F}};
        given.q.assign(static_cast<std::size_t>(tq), 1);
        given.k.assign(200, -gap);
        given.k[large] = 0;
        given.v.assign(200, 3e38F);
        given.v[large] = 0;
        Attention attention;
        give(given, attention);
        attention.run(0, tq);
        const double right = 199 * std::exp(-static_cast<double>(gap)) * 3e38;
        // Of the exponential: half a step of the smallest float, and 5e-8 for each unit of the gap.
        const double step = 199 * 3e38 * std::numeric_limits<float>::denorm_min() / 2;
        for (const float cell : attention.output()) {
          EXPECT_NEAR(cell, right, right * (5e-8 * gap + 10 * kEps) + step) << tq << " " << gap;
        }
      }
    }
  }
}

// NaN, infinities and the largest numbers come out where the stages have them.
TEST(Fused, AgreesWithTheStagesOnSpecialNumbers) {
  Random random(47);
  const auto pick = [&](std::initializer_list<float> numbers) {
    const auto count = static_cast<float>(numbers.size());
    return numbers.begin()[static_cast<std::size_t>(random.uniform() * count)];
  };
  for (int n = 0; n < 400; ++n) {
    Config config{.heads = 2, .tq = 1 + n % 13, .tk = 1 + n % 107, .d_k = 3, .d_v = 5};
    config.causal = random.uniform() < 0.3F;
    config.masked = random.uniform() < 0.3F;
    if (random.uniform() < 0.3F) config.softcap = 3.0F;
    attn::Pipeline stages;
    ASSERT_TRUE(stages.configure(config).ok());
    fill_inputs(stages, random);
    for (const StageId id : {StageId::kQ, StageId::kK, StageId::kV}) {
      for (float& cell : stages.input(id)) {
        if (random.uniform() > 0.02F) continue;
        cell = pick({kNan, kInfinity, -kInfinity, 0.0F, -0.0F, 0x1p-149F, -0x1p-130F});
        // In queries and keys the order of a sum would decide about an overflow.
        if (id == StageId::kV) cell = pick({cell, 3.3e38F, -3.3e38F, 1e35F});
      }
    }
    stages.run();
    Attention fused;
    const std::vector<std::int64_t> shape{1, 2, config.tq, config.tk};
    ASSERT_TRUE(fused.configure(config, {shape, false, {}}).ok());
    std::ranges::copy(stages.input(StageId::kQ), fused.input(StageId::kQ).begin());
    std::ranges::copy(stages.input(StageId::kK), fused.input(StageId::kPresentKey).begin());
    std::ranges::copy(stages.input(StageId::kV), fused.input(StageId::kPresentValue).begin());
    if (config.masked) {
      ASSERT_TRUE(fused.set_mask(stages.input(StageId::kMask)).ok());
    }
    fused.run(0, fused.rows());
    const attn::ConstFloats heads = stages.stage(StageId::kHeads);
    const attn::ConstFloats values = stages.input(StageId::kV);
    double magnitude = 0;
    for (const float value : values) {
      if (std::isfinite(value)) magnitude = std::max(magnitude, std::abs(double{value}));
    }
    EXPECT_TRUE(near_all("heads", fused.output(), std::vector<double>(heads.begin(), heads.end()),
                         [&](double) { return 100 * kEps * magnitude; }))
        << n;
  }
}

TEST(Fused, RangesOfRowsGiveTheWholeResult) {
  Random random(45);
  Case given{.config = {.heads = 4, .kv_heads = 2, .tq = 80, .tk = 90, .d_k = 6, .d_v = 7}};
  given.config.causal = true;
  fill(given, random);
  Attention whole;
  give(given, whole);
  whole.run(0, whole.rows());
  const std::vector<double> right(whole.output().begin(), whole.output().end());
  Attention parts;
  give(given, parts);
  // Two heads share keys: their 160 rows make blocks of 64, 64 and 32.
  for (const auto& [first, last] : {std::pair{224, 320}, {0, 64}, {64, 128}, {128, 224}}) {
    parts.run(first, last);
  }
  EXPECT_TRUE(near_all("bits", parts.output(), right, [](double) { return 0; }));
  // Any other range differs by roundings, and touches no other row.
  Attention few;
  give(given, few);
  few.run(3, 5);
  for (std::size_t at = 0; at < right.size(); ++at) {
    const bool inside = at / 7 >= 3 && at / 7 < 5;
    EXPECT_NEAR(few.output()[at], inside ? right[at] : 0, 1e-5) << at;
  }
  few.run(5, 3);
  few.run(-10, 1000);
  EXPECT_TRUE(near_all("heads", few.output(), right, [](double) { return 1e-5; }));
}

TEST(Fused, RefusalsKeepWhatWasThere) {
  Attention attention;
  EXPECT_EQ(attention.rows(), 0);
  EXPECT_TRUE(attention.output().empty());
  EXPECT_EQ(attention.set_mask({}).code, Code::kStageAbsent);
  const std::vector<std::int64_t> shape{2, 3};
  const Config config{.tq = 2, .tk = 3, .d_k = 1, .d_v = 1, .masked = true};
  ASSERT_TRUE(attention.configure(config, {shape, false, {}}).ok());
  EXPECT_TRUE(attention.input(StageId::kWeights).empty());
  const std::vector<std::int64_t> wrong{4};
  EXPECT_EQ(attention.configure(config, {wrong, false, {}}).subject, "maskKeys");
  EXPECT_EQ(attention.configure({.tq = -1}).code, Code::kBadSize);
  // 2³² cells: their number may not be cut to 32 bits.
  const std::vector<std::int64_t> huge{4, 32768, 32768};
  const Config wide{
      .heads = 4, .kv_heads = 1, .tq = 32768, .tk = 32768, .d_k = 1, .d_v = 1, .masked = true};
  EXPECT_EQ(attention.configure(wide, {huge, true, {}}).code, Code::kTooLarge);
  EXPECT_EQ(attention.configure({.heads = 3, .kv_heads = 2}).code, Code::kNotMultiple);
  EXPECT_EQ(attention.rows(), 2);
  EXPECT_EQ(attention.set_mask(std::vector<float>(5)).code, Code::kSizeMismatch);
  // Numbers of the right count may stand where they will be kept.
  EXPECT_EQ(attention.mask_staging().size(), 6U);
  std::ranges::fill(attention.mask_staging(), -1.0F);
  EXPECT_TRUE(attention.set_mask(attention.mask_staging()).ok());
  std::ranges::fill(attention.input(StageId::kPresentValue), 1.0F);
  ASSERT_TRUE(attention.set_mask(std::vector<float>(6, -kInfinity)).ok());
  attention.run(0, 2);
  EXPECT_EQ(attention.output()[0], 0);
  std::vector<float> bad(6, -kInfinity);
  bad[4] = kNan;
  const attn::Status status = attention.set_mask(bad);
  EXPECT_EQ(status.code, Code::kBadMask);
  EXPECT_EQ(status.expected, 4);
  attention.run(0, 2);
  EXPECT_EQ(attention.output()[0], 1);
}

// The bound counts inputs, output and a little scratch, and no T × T matrix.
TEST(Fused, MemoryGrowsAsT) {
  Attention attention;
  // 4 · 500 000 · 32 numbers are 256 MB but for 256 KB.
  const Config most{.tq = 500000, .tk = 500000, .d_k = 32, .d_v = 32};
  EXPECT_TRUE(attention.configure(most).ok());
  Config more = most;
  more.tk = more.tq = 530000;
  const attn::Status status = attention.configure(more);
  EXPECT_EQ(status.code, Code::kTooLarge);
  EXPECT_EQ(status.subject, "arena");
  EXPECT_GT(status.found, 4.0 * 530000 * 32 * 4);
  EXPECT_LT(status.found, 4.0 * 530000 * 32 * 4 + 65536);
}

}  // namespace
