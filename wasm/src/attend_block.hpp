// The inner loops of fused attention: a block of query rows against the keys that they see.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "attn/attend.hpp"
#include "attn/matrix.hpp"

namespace attn {

inline constexpr auto kBlockRows = static_cast<std::size_t>(kRowBlock);

struct Block {
  const float* queries = nullptr;  // [count, d_k]
  float* out = nullptr;            // [count, d_v]
  std::size_t count = 0;           // at most kBlockRows
  ConstMatrix keys;                // [T_k, d_k]
  ConstMatrix values;              // [T_k, d_v]
  float scale = 1;
  std::optional<float> softcap{};
  // Row r sees the keys below limits[r] that its mask does not hide.
  std::array<std::int32_t, kBlockRows> limits{};
  // What is added to the scores of row r: the number of key j is masks[r][j·mask_step].
  bool masked = false;
  std::array<const float*, kBlockRows> masks{};
  std::size_t mask_step = 1;
};

// The numbers of scratch that blocks of up to `rows` rows need; 2⁶² at most.
std::int64_t scratch_of_block(std::int64_t rows, std::int64_t d_k, std::int64_t d_v);

// Computes block.out. The scratch is aligned to 16 bytes.
void attend(const Block& block, float* scratch);

}  // namespace attn
