// Multiply-adds on registers alone.
#include "attn/peak.hpp"

#include <cstddef>
#include <limits>

#include "simd.hpp"

namespace attn {
namespace {

// So many chains and the two operands fill the 15 registers that V8 leaves: the more chains, the
// better they hide the latency of a multiplication followed by an addition.
constexpr std::size_t kChains = 13;

}  // namespace

double multiply_adds(std::uint32_t rounds) {
  // A factor below 1 keeps the chains away from infinity and from subnormal numbers.
  const simd::Vector factor = simd::splat(0.99F);
  const simd::Vector addend = simd::splat(0.01F);
  simd::Vector chains[kChains];
  for (std::size_t c = 0; c < kChains; ++c) chains[c] = simd::splat(static_cast<float>(c));
  for (std::uint32_t i = 0; i < rounds; ++i) {
    for (simd::Vector& chain : chains) chain = simd::multiply_add(chain, factor, addend);
  }
  // The result depends on all of them, or a compiler would leave them out.
  float total = 0;
  for (const simd::Vector chain : chains) total += simd::sum(chain);
  if (total != total) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(rounds) * kChains * simd::kLanes * 2;
}

}  // namespace attn
