// Fills a pipeline for a test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "attn/pipeline.hpp"
#include "random.hpp"

namespace attn_test {

// Calls f(matrix) for the past rows of every batch and head, in the order of the stage.
template <typename F>
void for_each_past(attn::Pipeline& pipeline, attn::StageId present, F f) {
  if (!pipeline.has(present)) return;
  const attn::Shape shape = attn::shape_of(present, pipeline.config());
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t g = 0; g < shape.heads; ++g) f(pipeline.past(present, b, g));
  }
}

inline void set_past(attn::Pipeline& pipeline, attn::StageId present,
                     std::span<const float> numbers) {
  for_each_past(pipeline, present, [&](attn::Matrix rows) {
    const std::size_t count = rows.rows * rows.cols;
    std::ranges::copy(numbers.first(count), rows.data);
    numbers = numbers.subspan(count);
  });
}

// Normal numbers for every input, past rows included; a mask has about a third of its keys hidden.
inline void fill_inputs(attn::Pipeline& pipeline, Random& random) {
  for (const attn::Stage& stage : attn::kStages) {
    for (float& cell : pipeline.input(stage.id)) {
      cell = random.normal();
      if (stage.id == attn::StageId::kMask && random.uniform() < 0.3F) cell = -INFINITY;
    }
  }
  for (const attn::StageId present : {attn::StageId::kPresentKey, attn::StageId::kPresentValue}) {
    for_each_past(pipeline, present, [&](attn::Matrix rows) {
      for (std::size_t i = 0; i < rows.rows * rows.cols; ++i) rows.data[i] = random.normal();
    });
  }
}

}  // namespace attn_test
