// What happens to scores before the softmax: scale, softcap, mask.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <numbers>

#include "attn/kernels.hpp"
#include "simd.hpp"

namespace attn {
namespace {

// tanh of two doubles, to the last bits of a float: with m = e^−2|x| − 1 it is −m/(2 + m).
//
// e^−2|x| = 2ⁿ·eʳ with |r| <= ln 2/2, and eʳ = 1 + r·g(r), g of degree 7 fitted to a relative error
// of 5.5e-11: for small x, n is 0 and m is r·g(r), so that nothing cancels.
simd::Vector tanh(simd::Vector x) {
  constexpr double kMost = 20;          // from 9.1 on the nearest float is 1
  constexpr double kRound = 0x1.8p+52;  // adding it leaves round(x) in the low bits
  const auto splat = [](double number) { return wasm_f64x2_splat(number); };

  // pmin keeps its first operand where it is NaN.
  const simd::Vector y =
      wasm_f64x2_mul(wasm_f64x2_pmin(wasm_f64x2_abs(x), splat(kMost)), splat(-2));
  const simd::Vector biased =
      wasm_f64x2_add(wasm_f64x2_mul(y, splat(std::numbers::log2e)), splat(kRound + 1023));
  const simd::Vector n = wasm_f64x2_sub(biased, splat(kRound + 1023));
  const simd::Vector r = wasm_f64x2_sub(y, wasm_f64x2_mul(n, splat(std::numbers::ln2)));
  simd::Vector g = splat(0x1.a374dcp-16);
  for (const float coefficient : {0x1.a293cep-13F, 0x1.6c14bcp-10F, 0x1.110fep-7F, 0x1.555556p-5F,
                                  0x1.555556p-3F, 0.5F, 1.0F}) {
    g = wasm_f64x2_add(wasm_f64x2_mul(g, r), splat(coefficient));
  }
  const simd::Vector unit = wasm_i64x2_shl(biased, 52);  // 2ⁿ
  const simd::Vector m =
      wasm_f64x2_add(wasm_f64x2_sub(unit, splat(1)), wasm_f64x2_mul(unit, wasm_f64x2_mul(r, g)));
  const simd::Vector size = wasm_f64x2_div(m, wasm_f64x2_add(m, splat(2)));
  return wasm_v128_bitselect(x, size, splat(-0.0));
}

}  // namespace

void scale(ConstFloats in, float factor, Floats out) {
  const simd::Vector factors = simd::splat(factor);
  simd::map(in.data(), out.data(), in.size(),
            [&](simd::Vector x) { return wasm_f32x4_mul(x, factors); });
}

void softcap(ConstFloats in, float cap, Floats out) {
  const simd::Vector caps = simd::splat(cap);
  for (std::size_t i = 0; i < in.size(); i += 2) {
    const std::size_t count = std::min<std::size_t>(2, in.size() - i);
    const simd::Vector x = wasm_f32x4_div(simd::load_first(&in[i], count), caps);
    const simd::Vector y = wasm_f32x4_demote_f64x2_zero(tanh(wasm_f64x2_promote_low_f32x4(x)));
    simd::store_first(&out[i], wasm_f32x4_mul(y, caps), count);
  }
}

void add_mask(ConstFloats scores, ConstFloats mask, Floats out) {
  const simd::Vector hidden = simd::splat(-std::numeric_limits<float>::infinity());
  simd::map(scores.data(), mask.data(), out.data(), scores.size(),
            [&](simd::Vector s, simd::Vector m) {
              return wasm_v128_bitselect(hidden, wasm_f32x4_add(s, m), wasm_f32x4_eq(m, hidden));
            });
}

}  // namespace attn
