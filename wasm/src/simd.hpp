// The one place that chooses where SIMD intrinsics come from and how a product is added.
#pragma once

#include <cstddef>

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/wasm/simd128.h>
#endif

namespace attn::simd {

inline constexpr std::size_t kLanes = 4;

// Rows of the widest register tile, whose rows are two vectors: with a product rounded once its
// sums and operands take 15 registers; where a product needs one of its own, 11. More than eight
// stores that wait for their sums hold up a Zen 3: of its peak, native Q·Kᵀ with d = 64 reaches 93
// % with six rows and 98 % with four; but four take more instructions for a product, which narrower
// processors have no room for.
#ifdef __wasm_relaxed_simd__
inline constexpr std::size_t kTileRows = 6;
#else
inline constexpr std::size_t kTileRows = 4;
#endif

using Vector = v128_t;

inline Vector load(const float* from) { return wasm_v128_load(from); }
inline void store(float* to, Vector value) { wasm_v128_store(to, value); }
inline Vector splat(float value) { return wasm_f32x4_splat(value); }
inline Vector load_splat(const float* from) { return wasm_v128_load32_splat(from); }

// The first `count` (1 to 3) lanes from memory, zeros in the others; reads nothing beyond them.
inline Vector load_first(const float* from, std::size_t count) {
  if (count == 1) return wasm_v128_load32_zero(from);
  const Vector pair = wasm_v128_load64_zero(from);
  return count == 2 ? pair : wasm_v128_load32_lane(from + 2, pair, 2);
}

// The first `count` (1 to 3) lanes to memory; writes nothing beyond them.
inline void store_first(float* to, Vector value, std::size_t count) {
  if (count == 1) {
    wasm_v128_store32_lane(to, value, 0);
    return;
  }
  wasm_v128_store64_lane(to, value, 0);
  if (count == 3) wasm_v128_store32_lane(to + 2, value, 2);
}

// a·b + c, rounded once in the relaxed build and twice elsewhere.
inline Vector multiply_add(Vector a, Vector b, Vector c) {
#ifdef __wasm_relaxed_simd__
  return wasm_f32x4_relaxed_madd(a, b, c);
#else
  return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
#endif
}

// The sum of the four lanes, in pairs.
inline float sum(Vector lanes) {
  lanes = wasm_f32x4_add(lanes, wasm_i32x4_shuffle(lanes, lanes, 2, 3, 0, 1));
  lanes = wasm_f32x4_add(lanes, wasm_i32x4_shuffle(lanes, lanes, 1, 0, 3, 2));
  return wasm_f32x4_extract_lane(lanes, 0);
}

// The 4 × 4 numbers at `from` transposed to `to`; both have a stride between rows.
inline void transpose_square(const float* from, std::size_t from_stride, float* to,
                             std::size_t to_stride) {
  const Vector a = load(from);
  const Vector b = load(from + from_stride);
  const Vector c = load(from + 2 * from_stride);
  const Vector d = load(from + 3 * from_stride);
  const Vector ab_low = wasm_i32x4_shuffle(a, b, 0, 4, 1, 5);
  const Vector ab_high = wasm_i32x4_shuffle(a, b, 2, 6, 3, 7);
  const Vector cd_low = wasm_i32x4_shuffle(c, d, 0, 4, 1, 5);
  const Vector cd_high = wasm_i32x4_shuffle(c, d, 2, 6, 3, 7);
  store(to, wasm_i32x4_shuffle(ab_low, cd_low, 0, 1, 4, 5));
  store(to + to_stride, wasm_i32x4_shuffle(ab_low, cd_low, 2, 3, 6, 7));
  store(to + 2 * to_stride, wasm_i32x4_shuffle(ab_high, cd_high, 0, 1, 4, 5));
  store(to + 3 * to_stride, wasm_i32x4_shuffle(ab_high, cd_high, 2, 3, 6, 7));
}

// out[i] = operation(in[i]), four lanes at a time; unused lanes of the last vector hold zeros.
template <typename Operation>
inline void map(const float* in, float* out, std::size_t count, Operation operation) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(out + i, operation(load(in + i)));
  if (i < count) store_first(out + i, operation(load_first(in + i, count - i)), count - i);
}

// out[i] = operation(a[i], b[i]), likewise.
template <typename Operation>
inline void map(const float* a, const float* b, float* out, std::size_t count,
                Operation operation) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(out + i, operation(load(a + i), load(b + i)));
  if (i < count) {
    const std::size_t rest = count - i;
    store_first(out + i, operation(load_first(a + i, rest), load_first(b + i, rest)), rest);
  }
}

// Σ a[i]·b[i].
inline float dot(const float* a, const float* b, std::size_t count) {
  Vector lanes = splat(0);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) lanes = multiply_add(load(a + i), load(b + i), lanes);
  if (i < count) {
    const std::size_t rest = count - i;
    lanes = multiply_add(load_first(a + i, rest), load_first(b + i, rest), lanes);
  }
  return sum(lanes);
}

// out += factor·row.
inline void add_multiple(float factor, const float* row, float* out, std::size_t count) {
  const Vector factors = splat(factor);
  map(row, out, out, count, [&](Vector r, Vector o) { return multiply_add(factors, r, o); });
}

}  // namespace attn::simd
