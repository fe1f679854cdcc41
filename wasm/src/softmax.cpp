// The steps of a softmax over one row of scores, each into an array of its own.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "attn/kernels.hpp"
#include "simd.hpp"

namespace attn {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// eˣ = 2ⁿ·eʳ with n = round(x/ln 2) and |r| <= ln 2/2.
//
// ln 2 is taken off in two parts, the first with so few bits that n·kLn2High is exact; x·log₂e
// alone would lose up to 7 bits of r. eʳ = 1 + r + r²·g(r), g of degree 4 fitted to a relative
// error of 3.2e-9 over |r| <= 0.35. 2ⁿ is applied as two factors, so that results below the
// smallest normal number are right and too large ones become +∞.
simd::Vector exponential(simd::Vector x) {
  constexpr float kLog2E = 0x1.715476p+0F;
  constexpr float kLn2High = 0x1.62e4p-1F;
  constexpr float kLn2Low = 0x1.7f7d1cp-20F;
  constexpr float kLargest = 89;        // e^89 > the largest float
  constexpr float kSmallest = -104;     // e^-104 < half the smallest float
  constexpr float kRound = 0x1.8p+23F;  // adding it leaves round(x) in the low bits

  // pmin and pmax keep their first operand where it is NaN.
  x = wasm_f32x4_pmax(wasm_f32x4_pmin(x, simd::splat(kLargest)), simd::splat(kSmallest));
  const simd::Vector round = simd::splat(kRound);
  const simd::Vector biased = simd::multiply_add(x, simd::splat(kLog2E), round);
  const simd::Vector n = wasm_f32x4_sub(biased, round);
  simd::Vector r = simd::multiply_add(n, simd::splat(-kLn2High), x);
  r = simd::multiply_add(n, simd::splat(-kLn2Low), r);

  simd::Vector g = simd::splat(0x1.6a2258p-10F);
  for (const float coefficient : {0x1.123b02p-7F, 0x1.5558f8p-5F, 0x1.555490p-3F, 0x1.fffffcp-2F}) {
    g = simd::multiply_add(g, r, simd::splat(coefficient));
  }
  const simd::Vector e_to_r =
      wasm_f32x4_add(simd::multiply_add(wasm_f32x4_mul(r, r), g, r), simd::splat(1));

  const simd::Vector whole = wasm_i32x4_sub(biased, round);  // n as integers
  const simd::Vector half = wasm_i32x4_shr(whole, 1);
  const auto power_of_two = [](simd::Vector exponent) {
    return wasm_i32x4_shl(wasm_i32x4_add(exponent, wasm_i32x4_splat(127)), 23);
  };
  return wasm_f32x4_mul(wasm_f32x4_mul(e_to_r, power_of_two(half)),
                        power_of_two(wasm_i32x4_sub(whole, half)));
}

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
