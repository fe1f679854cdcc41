// Fused attention: every vector, and the oracle on random configurations and shapes.
#include "attn/attend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "attend_set_up.hpp"
#include "attn/pipeline.hpp"
#include "compare.hpp"
#include "configurations.hpp"
#include "random.hpp"
#include "result.hpp"
#include "vectors.hpp"

namespace {

using attn::Attention;
using attn::Code;
using attn::Config;
using attn::StageId;
using attn_test::near_all;
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

}  // namespace
