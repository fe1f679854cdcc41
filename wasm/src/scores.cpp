// What happens to scores before the softmax: scale, softcap, mask.
#include <cmath>
#include <limits>

#include "attn/kernels.hpp"
#include "elementary.hpp"
#include "simd.hpp"

namespace attn {

void scale(ConstFloats in, float factor, Floats out) {
  const simd::Vector factors = simd::splat(factor);
  simd::map(in.data(), out.data(), in.size(),
            [&](simd::Vector x) { return wasm_f32x4_mul(x, factors); });
}

void softcap(ConstFloats in, float cap, Floats out) {
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = cap * elementary::tanh(in[i] / cap);
}

void add_mask(ConstFloats scores, ConstFloats mask, Floats out) {
  const simd::Vector hidden = simd::splat(-std::numeric_limits<float>::infinity());
  simd::map(scores.data(), mask.data(), out.data(), scores.size(),
            [&](simd::Vector s, simd::Vector m) {
              return wasm_v128_bitselect(hidden, wasm_f32x4_add(s, m), wasm_f32x4_eq(m, hidden));
            });
}

}  // namespace attn
