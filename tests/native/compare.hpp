// Compares a float32 tensor with expected numbers and says what is wrong in a few lines.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <span>
#include <string_view>

namespace attn_test {

// `tolerance(expected)` is the allowed difference; infinities and NaN have to be the same.
template <typename Tolerance>
testing::AssertionResult near_all(std::string_view tensor, std::span<const float> found,
                                  std::span<const double> expected, Tolerance tolerance) {
  if (found.size() != expected.size()) {
    return testing::AssertionFailure()
           << tensor << " has " << found.size() << " cells, not " << expected.size();
  }
  std::size_t worst = found.size();
  double worst_excess = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(found[i])) continue;
    if (expected[i] == static_cast<double>(found[i])) continue;
    const double difference = std::abs(static_cast<double>(found[i]) - expected[i]);
    const double excess = difference / tolerance(expected[i]);
    if (excess <= 1 || (excess <= worst_excess)) continue;
    worst = i;
    // NaN and infinity on one side only.
    worst_excess = std::isfinite(excess) ? excess : INFINITY;
  }
  if (worst == found.size()) return testing::AssertionSuccess();
  auto failure = testing::AssertionFailure();
  failure << std::setprecision(9) << tensor << ": largest difference "
          << std::abs(found[worst] - expected[worst]) << " (" << worst_excess
          << " times what is allowed) at " << worst << ", " << found[worst] << " instead of "
          << expected[worst] << "; first values";
  for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 4); ++i) {
    failure << " " << found[i] << " (" << expected[i] << ")";
  }
  return failure;
}

}  // namespace attn_test
