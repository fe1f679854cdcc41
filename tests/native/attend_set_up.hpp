// Sets up fused attention for a test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attn/attend.hpp"

namespace attn_test {

// Copies rows first … first + count of every matrix of keys or values; all of them lie one after
// another in `numbers`.
inline void set_rows(attn::Attention& attention, attn::StageId present, std::int64_t first,
                     std::int64_t count, std::span<const float> numbers) {
  const attn::Config& c = attention.config();
  const auto width =
      static_cast<std::size_t>(present == attn::StageId::kPresentKey ? c.d_k : c.d_v);
  const std::size_t part = static_cast<std::size_t>(count) * width;
  if (part == 0) return;
  for (std::span<float> rest = attention.input(present); !rest.empty();
       rest = rest.subspan(static_cast<std::size_t>(c.tk) * width)) {
    std::ranges::copy(numbers.first(part),
                      rest.begin() + first * static_cast<std::ptrdiff_t>(width));
    numbers = numbers.subspan(part);
  }
}

}  // namespace attn_test
