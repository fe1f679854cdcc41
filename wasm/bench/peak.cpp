// What the processor can do at best: multiply-adds on registers alone, as this build makes them.
#include <cstddef>

#include "simd.hpp"

namespace {

// So many chains and the two operands fill the 15 registers that V8 leaves: the more chains, the
// better they hide the latency of a multiplication followed by an addition.
constexpr std::size_t kChains = 13;

}  // namespace

extern "C" {

// Floating-point operations in one round of `peak`.
std::size_t peak_flops() { return kChains * attn::simd::kLanes * 2; }

// chain = chain·factor + addend, so many rounds; returns a number that depends on all of them.
// A factor below 1 keeps the chains away from infinity and from subnormal numbers.
float peak(std::size_t rounds, float factor, float addend) {
  const attn::simd::Vector a = attn::simd::splat(factor);
  const attn::simd::Vector b = attn::simd::splat(addend);
  attn::simd::Vector chains[kChains];
  for (std::size_t c = 0; c < kChains; ++c) chains[c] = attn::simd::splat(static_cast<float>(c));
  for (std::size_t i = 0; i < rounds; ++i) {
    for (attn::simd::Vector& chain : chains) chain = attn::simd::multiply_add(chain, a, b);
  }
  float total = 0;
  for (const attn::simd::Vector chain : chains) total += attn::simd::sum(chain);
  return total;
}

}  // extern "C"
