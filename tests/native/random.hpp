// Numbers for tests that are the same in every run and on every machine.
#pragma once

#include <cstdint>

namespace attn_test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // 0 <= result < 1, a multiple of 2^-24.
  float uniform() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<float>(state_ >> 40U) * 0x1p-24F;
  }

  // Mean 0, variance 1, between -6 and 6: the sum of twelve uniform numbers.
  float normal() {
    float sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t state_;
};

}  // namespace attn_test
