// A mask as somebody gives it: checked against the sizes, then spread over every score.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "attn/kernels.hpp"
#include "attn/stages.hpp"
#include "attn/status.hpp"

namespace attn {

// One to four axes, the last ones of [batch, heads, T_q, T_k]; an axis of 1 stands for all. A last
// axis that is longer than 1 and shorter than T_k leaves the keys beyond it hidden.
struct GivenMask {
  std::span<const std::int64_t> shape;
  bool boolean = false;  // 1 may attend, 0 is hidden; else added to the scores, and −∞ hides
  ConstFloats values;    // row-major
};

// All four axes of a mask of one to four, those that are not given as 1.
std::array<std::int64_t, 4> mask_axes(std::span<const std::int64_t> shape);

// Whether the axes and the count of the values fit the configuration.
Status check(const GivenMask& mask, const Config& config);

// Whether every number is one that such a mask may hold.
Status check_values(const GivenMask& mask);

// out[batch, heads, T_q, T_k] = what is added to each score. `mask` must pass both checks, and its
// values must not overlap `out`.
void spread(const GivenMask& mask, const Config& config, Floats out);

}  // namespace attn
