// The measure of the machine.
#include "attn/peak.hpp"

#include <gtest/gtest.h>

namespace attn {
namespace {

TEST(Peak, CountsTwoOperationsForEachLaneOfEachMultiplyAdd) {
  EXPECT_EQ(multiply_adds(0), 0);
  EXPECT_EQ(multiply_adds(1), 13 * 4 * 2);
  EXPECT_EQ(multiply_adds(1'000'000), 1e6 * 13 * 4 * 2);
}

}  // namespace
}  // namespace attn
