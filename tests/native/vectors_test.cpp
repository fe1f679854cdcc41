// Every vector of tests/vectors through the pipeline, every stage compared.
#include "vectors.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "attn/pipeline.hpp"
#include "compare.hpp"
#include "set_up.hpp"

namespace {

using attn::Pipeline;
using attn::Stage;
using attn_test::Expected;
using attn_test::Vector;

attn::StageId stage_named(std::string_view name) {
  for (const Stage& stage : attn::kStages) {
    if (stage.name == name) return stage.id;
  }
  return attn::StageId::kNone;
}

class Vectors : public testing::TestWithParam<std::string> {};

attn::Config config_of(const Vector& vector) {
  attn::Config config = vector.config;
  config.valid_lengths = vector.valid_lengths;
  return config;
}

TEST_P(Vectors, EveryStageHasItsNumbers) {
  const Vector vector = attn_test::read_vector(GetParam());
  Pipeline pipeline;
  ASSERT_TRUE(pipeline.configure(config_of(vector)).ok());
  for (const auto& [name, numbers] : vector.inputs) {
    const std::span<float> input = pipeline.input(stage_named(name));
    ASSERT_EQ(input.size(), numbers.size()) << name;
    std::ranges::copy(numbers, input.begin());
  }
  for (const auto& [name, numbers] : vector.past) {
    attn_test::set_past(pipeline, stage_named(name), numbers);
  }
  if (!vector.mask.shape.empty()) {
    const auto& [shape, boolean, values] = vector.mask;
    ASSERT_TRUE(pipeline.set_mask({shape, boolean, values}).ok());
  }
  pipeline.run();
  for (const auto& item : vector.expected) {
    const std::string& name = item.first;
    const Expected& expected = item.second;
    const attn::StageId id = stage_named(name);
    ASSERT_TRUE(pipeline.has(id)) << name;
    EXPECT_EQ(attn::shape_of(id, pipeline.config()), expected.shape) << name;
    EXPECT_TRUE(attn_test::near_all(name, pipeline.stage(id), expected.data,
                                    [&](double value) { return expected.tolerance(value); }));
  }
}

TEST_P(Vectors, EveryStageIsListed) {
  const Vector vector = attn_test::read_vector(GetParam());
  Pipeline pipeline;
  ASSERT_TRUE(pipeline.configure(config_of(vector)).ok());
  for (const Stage& stage : attn::kStages) {
    const std::string name(stage.name);
    // Of a mask the vectors list what all that hides makes together.
    if (stage.id == attn::StageId::kMask) {
      EXPECT_EQ(pipeline.has(stage.id), vector.expected.contains(name));
      continue;
    }
    EXPECT_EQ(pipeline.is_given(stage.id), vector.inputs.contains(name)) << name;
    EXPECT_EQ(pipeline.has(stage.id) && !pipeline.is_given(stage.id),
              vector.expected.contains(name))
        << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Vectors, testing::ValuesIn(attn_test::vector_names()),
                         [](const auto& parameters) {
                           std::string name = parameters.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
