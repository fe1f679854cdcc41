// Statistics of rows against tests/vectors/statistics: definitions worked in high precision.
#include "attn/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/pipeline.hpp"
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

void expect_row(const attn::RowStatistics& found, const nlohmann::json& expected,
                const std::string& what) {
  expect_near(found.maximum, expected.at("maximum"), what + ": maximum");
  expect_near(found.entropy, expected.at("entropy"), what + ": entropy");
  expect_near(found.effective_keys, expected.at("effectiveKeys"), what + ": effective keys");
  expect_near(found.jacobian_norm, expected.at("jacobianNorm"), what + ": Jacobian norm");
  expect_near(found.saturation, expected.at("saturation"), what + ": saturation");
}

void expect_summary(const attn::RowsSummary& found, const nlohmann::json& expected,
                    const std::string& what) {
  EXPECT_EQ(found.rows, expected.at("rows")) << what;
  EXPECT_EQ(found.empty, expected.at("empty")) << what;
  expect_row(found.mean, expected.at("mean"), what + ", mean");
  expect_row(found.largest, expected.at("largest"), what + ", largest");
}

TEST(RowStatistics, AreThoseOfTheDefinitions) {
  const nlohmann::json rows = attn_test::read_json("statistics/rows.json");
  ASSERT_FALSE(rows.empty());
  for (const auto& row : rows) {
    const std::string name = row.at("name");
    const attn::RowStatistics found = attn::row_statistics(attn_test::floats_from(row.at("scores")),
                                                           attn_test::floats_from(row.at("mask")));
    expect_row(found, row.at("expected"), name);
  }
}

TEST(RowsSummary, OfEveryHeadAndOfEveryBatch) {
  const nlohmann::json cases = attn_test::read_json("statistics/summaries.json");
  ASSERT_FALSE(cases.empty());
  for (const auto& item : cases) {
    const std::string name = item.at("name");
    const auto shape = item.at("shape").get<std::vector<std::int64_t>>();
    attn::Pipeline pipeline;
    // Queries and keys of 0 leave the scores to the mask, and a query of NaN makes all of its own
    // NaN.
    ASSERT_TRUE(pipeline
                    .configure({.batch = shape[0],
                                .heads = shape[1],
                                .tq = shape[2],
                                .tk = shape[3],
                                .d_k = 1,
                                .masked = true})
                    .ok());
    for (const std::size_t row : item.at("nanRows")) {
      pipeline.input(attn::StageId::kQ)[row] = std::nanf("");
    }
    const std::vector<float> scores = attn_test::floats_from(item.at("scores"));
    ASSERT_TRUE(pipeline.set_mask({shape, false, scores}).ok());
    pipeline.run();
    for (std::int64_t b = 0; b < shape[0]; ++b) {
      const std::string batch = name + ", batch " + std::to_string(b);
      expect_summary(pipeline.summary(b, 0, shape[1]),
                     item.at("batches").at(static_cast<std::size_t>(b)), batch);
      for (std::int64_t h = 0; h < shape[1]; ++h) {
        expect_summary(pipeline.summary(b, h, 1),
                       item.at("heads").at(static_cast<std::size_t>(b * shape[1] + h)),
                       batch + ", head " + std::to_string(h));
      }
    }
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
