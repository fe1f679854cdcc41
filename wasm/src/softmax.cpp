// The steps of a softmax over one row of scores, each into an array of its own.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "attn/kernels.hpp"
#include "exponential.hpp"
#include "simd.hpp"

namespace attn {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

float row_max(ConstFloats scores) {
  // max, not pmax: a NaN has to show.
  simd::Vector lanes = simd::splat(-kInfinity);
  std::size_t i = 0;
  for (; i + simd::kLanes <= scores.size(); i += simd::kLanes) {
    lanes = wasm_f32x4_max(lanes, simd::load(scores.data() + i));
  }
  lanes = wasm_f32x4_max(lanes, wasm_i32x4_shuffle(lanes, lanes, 2, 3, 0, 1));
  lanes = wasm_f32x4_max(lanes, wasm_i32x4_shuffle(lanes, lanes, 1, 0, 3, 2));
  for (; i < scores.size(); ++i) lanes = wasm_f32x4_max(lanes, simd::splat(scores[i]));
  return wasm_f32x4_extract_lane(lanes, 0);
}

void subtract_max(ConstFloats scores, ConstFloats mask, float max, Floats out) {
  const simd::Vector maxima = simd::splat(max);
  if (mask.empty()) {
    simd::map(scores.data(), out.data(), scores.size(),
              [&](simd::Vector s) { return wasm_f32x4_sub(s, maxima); });
    return;
  }
  const simd::Vector hidden = simd::splat(-kInfinity);
  simd::map(
      scores.data(), mask.data(), out.data(), scores.size(), [&](simd::Vector s, simd::Vector m) {
        return wasm_v128_bitselect(hidden, wasm_f32x4_sub(s, maxima), wasm_f32x4_eq(m, hidden));
      });
}

void exponential(ConstFloats in, Floats out) {
  simd::map(in.data(), out.data(), in.size(), [](simd::Vector x) { return exponential(x); });
}

float row_sum(ConstFloats in) {
  simd::Vector lanes = simd::splat(0);
  std::size_t i = 0;
  for (; i + simd::kLanes <= in.size(); i += simd::kLanes) {
    lanes = wasm_f32x4_add(lanes, simd::load(in.data() + i));
  }
  if (i < in.size()) {
    lanes = wasm_f32x4_add(lanes, simd::load_first(in.data() + i, in.size() - i));
  }
  return simd::sum(lanes);
}

void divide(ConstFloats in, ConstFloats mask, float sum, Floats out) {
  if (sum == 0) {
    std::ranges::fill(out, 0.0F);
    return;
  }
  // A true division: with one visible key x/x is exactly 1, which x·(1/x) need not be.
  const simd::Vector sums = simd::splat(sum);
  simd::map(in.data(), out.data(), in.size(),
            [&](simd::Vector x) { return wasm_f32x4_div(x, sums); });
  if (!std::isnan(sum)) return;
  for (std::size_t j = 0; j < mask.size(); ++j) {
    if (mask[j] == -kInfinity) out[j] = 0;
  }
}

}  // namespace attn
