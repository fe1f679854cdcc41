// Fused attention of single rows that need care.
#pragma once

#include <cstddef>

#include "attend_block.hpp"

namespace attn {

// Computes one row in the order of the stages, from nothing but the keys that it sees: what is
// hidden may be NaN, and numbers near the largest float do not overflow in the sum of the values.
// Takes a multiple of the time of the quick ways, and no memory that grows with the keys.
void attend_row(const Block& block, std::size_t row);

}  // namespace attn
