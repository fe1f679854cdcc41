// Statistics of rows against tests/vectors/statistics: definitions worked in high precision.
#include "attn/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "vectors.hpp"

namespace {

// A few dozen roundings in double, in a sum of up to 200 terms.
void expect_near(double found, const nlohmann::json& json, const std::string& what) {
  const double expected = attn_test::number_from(json);
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found)) << what << " is " << found;
  } else {
    EXPECT_NEAR(found, expected, 2e-15 + 2e-13 * std::abs(expected)) << what;
  }
}

TEST(RowStatistics, AreThoseOfTheDefinitions) {
  const nlohmann::json rows = attn_test::read_json("statistics/rows.json");
  ASSERT_FALSE(rows.empty());
  for (const auto& row : rows) {
    const std::string name = row.at("name");
    const attn::RowStatistics found = attn::row_statistics(attn_test::floats_from(row.at("scores")),
                                                           attn_test::floats_from(row.at("mask")));
    const nlohmann::json& expected = row.at("expected");
    expect_near(found.maximum, expected.at("maximum"), name + ": maximum");
    expect_near(found.entropy, expected.at("entropy"), name + ": entropy");
    expect_near(found.effective_keys, expected.at("effectiveKeys"), name + ": effective keys");
    expect_near(found.jacobian_norm, expected.at("jacobianNorm"), name + ": Jacobian norm");
    expect_near(found.saturation, expected.at("saturation"), name + ": saturation");
  }
}

TEST(RowStatistics, TinyEntropiesAreNotRoundedAway) {
  // Two keys 50 apart: entropy e⁻⁵⁰·(1 + 50) to first order, far below the precision of 1 − a.
  const attn::RowStatistics found = attn::row_statistics(std::vector<float>{50, 0}, {});
  EXPECT_NEAR(found.entropy / (51 * std::exp(-50.0)), 1, 1e-12);
  EXPECT_NEAR(found.jacobian_norm / (2 * std::exp(-50.0)), 1, 1e-12);
}

TEST(RowStatistics, NoMaskIsAMaskThatHidesNothing) {
  const std::vector<float> scores{1, 4, -2};
  const attn::RowStatistics with = attn::row_statistics(scores, std::vector<float>(3, 0));
  const attn::RowStatistics without = attn::row_statistics(scores, {});
  EXPECT_EQ(with.entropy, without.entropy);
  EXPECT_EQ(with.jacobian_norm, without.jacobian_norm);
}

}  // namespace
