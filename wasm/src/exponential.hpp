// eˣ for differences to a running maximum: quick, with its constants in registers.
#pragma once

#include <cstddef>

#include "simd.hpp"

namespace attn {

// eˣ = 2ⁿ·2ʳ with n = round(x·log₂e) and |r| <= ½, for x <= 0.
//
// 2ʳ = 1 + r·g(r), g of degree 4 fitted to a relative error of 9.4e-8; 2⁰ is exactly 1. The error
// of x·log₂e adds |x|·4e-8 to it, which is little where eˣ is not. Below e^-87.7 the result is 0.
//
// The constants come from memory that a compiler cannot know: what it knows it loads anew in every
// turn of a loop instead of keeping it in a register.
class Exponential {
 public:
  static constexpr std::size_t kNumbers = 9;

  static void write(float* to) {
    constexpr float kConstants[kNumbers] = {
        0x1.715476p+0F,    // log₂e
        -127,              // where 2ⁿ has become 0
        0x1.8p+23F + 127,  // adding it leaves n in the low bits, as an exponent has it
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

 private:
  simd::Vector log2e_;
  simd::Vector least_;
  simd::Vector round_;
  simd::Vector g_[5];
  simd::Vector one_;
};

}  // namespace attn
