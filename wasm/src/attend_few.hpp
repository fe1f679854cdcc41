// Fused attention of one to three rows.
#pragma once

#include <cstddef>

#include "attend_block.hpp"
#include "attn/kernels.hpp"

namespace attn {

// Computes the rows of a block from `first` on, fewer than four. `constants` are those of
// Exponential; the scratch holds at least 1536 numbers.
void attend_few(const Block& block, std::size_t first, const float* constants, Floats scratch);

}  // namespace attn
