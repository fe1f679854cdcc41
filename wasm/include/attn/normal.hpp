// Seeded draws from the standard normal distribution, the same bits on every machine and build.
#pragma once

#include <cstdint>

#include "attn/kernels.hpp"

namespace attn {

// Fills `out` with independent draws from N(0, 1). The k-th number depends on the seed, the stream
// and k alone, so a longer fill begins with a shorter one. Uses whole numbers and + − × ÷ √ in
// double only, which IEEE 754 fixes to the last bit: no library function, no fused multiply-add.
//
// Generator: SplitMix64 (Steele, Lea, Flood 2014); distribution: the polar method (Marsaglia, Bray
// 1964).
void fill_normal(std::uint32_t seed, std::uint32_t stream, Floats out);

}  // namespace attn
