// The normal generator: bits from tests/vectors/normal, and what the numbers look like as a crowd.
#include "attn/normal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "vectors.hpp"

namespace {

constexpr std::size_t kMany = 1'000'000;

std::vector<float> draws(std::uint32_t seed, std::uint32_t stream, std::size_t count) {
  std::vector<float> numbers(count);
  attn::fill_normal(seed, stream, numbers);
  return numbers;
}

TEST(Normal, EveryBitIsThatOfTheExactMethod) {
  const nlohmann::json cases = attn_test::read_json("normal/draws.json");
  ASSERT_FALSE(cases.empty());
  for (const auto& item : cases) {
    const std::vector<float> expected = item.at("data");
    EXPECT_EQ(draws(item.at("seed"), item.at("stream"), expected.size()), expected)
        << "seed " << item.at("seed") << ", stream " << item.at("stream");
  }
}

TEST(Normal, ALongerFillBeginsWithAShorterOne) {
  const std::vector<float> longer = draws(5, 2, 9);
  for (std::size_t count = 0; count <= longer.size(); ++count) {
    const std::vector<float> shorter = draws(5, 2, count);
    EXPECT_TRUE(std::ranges::equal(shorter, std::span(longer).first(count))) << count;
  }
}

TEST(Normal, HasTheMomentsOfANormalDistribution) {
  double moments[5] = {};
  double beyond_two = 0;
  for (const float draw : draws(11, 0, kMany)) {
    double power = 1;
    for (double& moment : moments) {
      moment += power / kMany;
      power *= draw;
    }
    if (std::abs(draw) > 2) beyond_two += 1.0 / kMany;
  }
  // Five standard errors: the variances of x, x², x³, x⁴ are 1, 2, 15, 96.
  const double error = 5 / std::sqrt(static_cast<double>(kMany));
  EXPECT_NEAR(moments[1], 0, error);
  EXPECT_NEAR(moments[2], 1, error * std::sqrt(2.0));
  EXPECT_NEAR(moments[3], 0, error * std::sqrt(15.0));
  EXPECT_NEAR(moments[4], 3, error * std::sqrt(96.0));
  constexpr double kTails = 0.04550026389635842;  // erfc(√2)
  EXPECT_NEAR(beyond_two, kTails, error * std::sqrt(kTails * (1 - kTails)));
}

TEST(Normal, StreamsAndSeedsAndNeighboursAreUncorrelated) {
  const std::vector<float> base = draws(1, 0, kMany);
  const auto correlation = [&](std::span<const float> other) {
    double sum = 0;
    for (std::size_t i = 0; i < other.size(); ++i) sum += double{base[i]} * double{other[i]};
    return sum / static_cast<double>(other.size());
  };
  const double error = 5 / std::sqrt(static_cast<double>(kMany));
  EXPECT_NEAR(correlation(draws(1, 1, kMany)), 0, error);
  EXPECT_NEAR(correlation(draws(2, 0, kMany)), 0, error);
  EXPECT_NEAR(correlation(std::span(base).subspan(1)), 0, error);
  EXPECT_NEAR(correlation(std::span(base).subspan(2)), 0, error);
}

}  // namespace
