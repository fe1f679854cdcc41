// eˣ of vectors: for every x, and for differences to a running maximum, quick and with its
// constants in registers.
#pragma once

#include <cstddef>

#include "simd.hpp"

namespace attn {

// eˣ = 2ⁿ·eʳ with n = round(x/ln 2) and |r| <= ln 2/2.
//
// ln 2 is taken off in two parts, the first with so few bits that n·kLn2High is exact; x·log₂e
// alone would lose up to 7 bits of r. eʳ = 1 + r + r²·g(r), g of degree 4 fitted to a relative
// error of 3.2e-9 over |r| <= 0.35. 2ⁿ is applied as two factors, so that results below the
// smallest normal number are right and too large ones become +∞.
inline simd::Vector exponential(simd::Vector x) {
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

// 2²³·eˣ = 2ⁿ⁺²³·2ʳ with n = round(x·log₂e) and |r| <= ½, for x <= 0.
//
// 2ʳ = 1 + r·g(r), g of degree 4 fitted to a relative error of 9.4e-8; 2⁰ is exactly 1. The error
// of x·log₂e adds |x|·4e-8 to it, which is little where eˣ is not. Below e^-103.6 the result is 0.
// The factor costs nothing, cancels where sums are divided by sums, and lets all results that a
// float can hold without it, down to the smallest, be normal numbers.
//
// The constants come from memory that a compiler cannot know: what it knows it loads anew in every
// turn of a loop instead of keeping it in a register.
class Exponential {
 public:
  static constexpr std::size_t kNumbers = 9;
  static constexpr float kUnit = 0x1p+23F;  // the result for x = 0

  static void write(float* to) {
    constexpr float kConstants[kNumbers] = {
        0x1.715476p+0F,    // log₂e
        -150,              // where the result has become 0
        0x1.8p+23F + 150,  // adding it leaves n + 23 in the low bits, as an exponent has it
        0x1.5bd95cp-10F,
        0x1.3ce8b4p-7F,
        0x1.c6b6dap-5F,
        0x1.ebf9c2p-3F,
        0x1.62e42ap-1F,
        1};
    for (std::size_t i = 0; i < kNumbers; ++i) to[i] = kConstants[i];
  }

  explicit Exponential(const float* from)
      : log2e_(simd::load_splat(from)),
        least_(simd::load_splat(from + 1)),
        round_(simd::load_splat(from + 2)),
        g_{simd::load_splat(from + 3), simd::load_splat(from + 4), simd::load_splat(from + 5),
           simd::load_splat(from + 6), simd::load_splat(from + 7)},
        one_(simd::load_splat(from + 8)) {}

  // NaN stays: pmax keeps its first operand where it is NaN.
  simd::Vector operator()(simd::Vector x) const {
    const simd::Vector t = wasm_f32x4_pmax(wasm_f32x4_mul(x, log2e_), least_);
    const simd::Vector biased = wasm_f32x4_add(t, round_);
    const simd::Vector r = wasm_f32x4_sub(t, wasm_f32x4_sub(biased, round_));
    simd::Vector series = simd::multiply_add(g_[0], r, g_[1]);
    series = simd::multiply_add(series, r, g_[2]);
    series = simd::multiply_add(series, r, g_[3]);
    series = simd::multiply_add(series, r, g_[4]);
    series = simd::multiply_add(series, r, one_);
    return wasm_f32x4_mul(series, wasm_i32x4_shl(biased, 23));
  }

  // eˣ itself: what sums are multiplied by when their maximum grows by −x.
  simd::Vector factor(simd::Vector x) const {
    return wasm_f32x4_mul((*this)(x), simd::splat(1 / kUnit));
  }

 private:
  simd::Vector log2e_;
  simd::Vector least_;
  simd::Vector round_;
  simd::Vector g_[5];
  simd::Vector one_;
};

}  // namespace attn
