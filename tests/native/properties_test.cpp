// What must hold for every configuration; failures are shrunk to the smallest one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "attn/pipeline.hpp"
#include "compare.hpp"
#include "configurations.hpp"
#include "random.hpp"
#include "result.hpp"
#include "set_up.hpp"

namespace {

using attn::Config;
using attn::Pipeline;
using attn::StageId;
using attn_test::fill_inputs;
using attn_test::for_all;
using attn_test::near_all;
using attn_test::Random;
using attn_test::Sample;
using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

constexpr double kEps = std::numeric_limits<float>::epsilon();
constexpr int kSamples = 300;

// A pipeline of random inputs that has run.
struct Computed {
  explicit Computed(const Config& config, std::uint64_t seed = 1) {
    EXPECT_TRUE(pipeline.configure(config).ok());
    Random random(seed);
    fill_inputs(pipeline, random);
    pipeline.run();
  }

  std::span<const float> stage(StageId id) const { return pipeline.stage(id); }

  Pipeline pipeline;
};

AssertionResult same(std::span<const float> found, std::span<const float> expected) {
  const auto equal = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  if (std::ranges::equal(found, expected, equal)) return AssertionSuccess();
  return near_all("bits", found, std::vector<double>(expected.begin(), expected.end()),
                  [](double) { return 0; });
}

// The given matrices of one batch and head, copied to where they are the only ones.
void copy_matrix(const Pipeline& from, StageId id, std::int64_t batch, std::int64_t head,
                 Pipeline& to) {
  const attn::Shape shape = attn::shape_of(id, from.config());
  const auto cells = static_cast<std::size_t>(shape.matrix_cells());
  const auto index = static_cast<std::size_t>(batch * shape.heads + head);
  std::ranges::copy(from.stage(id).subspan(index * cells, cells), to.input(id).begin());
}

// Queries, keys and values given, nothing else; most properties speak of one attention.
Config given_only(const Sample& sample) {
  Config config = sample.config;
  config.from_x = config.context = config.output_projection = false;
  return config;
}

TEST(Properties, ResultsAgreeWithTheOracle) {
  for_all(11, kSamples, [](const Sample& sample) -> AssertionResult {
    const Config config = sample.with_lengths();
    const Computed run(config);
    attn::reference::Inputs inputs;
    for (const attn::Stage& stage : attn::kStages) {
      const bool given = run.pipeline.is_given(stage.id) || stage.id == StageId::kMask;
      if (!given || !run.pipeline.has(stage.id)) continue;
      const std::span<const float> cells = run.stage(stage.id);
      inputs[stage.id] = {cells.begin(), cells.end()};
    }
    for (const StageId present : {StageId::kPresentKey, StageId::kPresentValue}) {
      attn_test::for_each_past(const_cast<Pipeline&>(run.pipeline), present, [&](attn::Matrix m) {
        inputs[present].insert(inputs[present].end(), m.data, m.data + m.rows * m.cols);
      });
    }
    const std::vector<double> right = attn::reference::result(config, inputs);
    // Scores of products of normal numbers, up to d_model² · d_k of them, become relative errors of
    // the weights; measured magnitudes stay below 100.
    double magnitude = 1;
    for (const float score : run.stage(StageId::kRawScores)) {
      magnitude = std::fmax(magnitude, std::abs(static_cast<double>(score)));
    }
    double largest = 1;
    for (const double cell : right) largest = std::fmax(largest, std::abs(cell));
    for (const float cell : run.stage(StageId::kV)) {
      largest = std::fmax(largest, std::abs(static_cast<double>(cell)));
    }
    const double outputs =
        config.output_projection ? 6.0 * static_cast<double>(config.heads * config.d_v) : 1;
    const double tolerance = kEps * 16 * magnitude * largest * outputs;
    return near_all("result",
                    run.stage(config.output_projection ? StageId::kOutput : StageId::kConcat),
                    right, [&](double) { return tolerance; });
  });
}

TEST(Properties, RowsSumToOneOrToZero) {
  for_all(12, kSamples, [](const Sample& sample) -> AssertionResult {
    const Config config = sample.with_lengths();
    const Computed run(config);
    const auto keys = static_cast<std::size_t>(config.tk);
    if (keys == 0) return AssertionSuccess();
    const std::span<const float> weights = run.stage(StageId::kWeights);
    const std::span<const float> mask = run.stage(StageId::kMask);
    for (std::size_t first = 0; first < weights.size(); first += keys) {
      const std::span<const float> row = weights.subspan(first, keys);
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      const bool visible =
          mask.empty() ||
          std::ranges::any_of(mask.subspan(first, keys), [](float m) { return m != -INFINITY; });
      if (!(std::abs(sum - (visible ? 1 : 0)) <= kEps * static_cast<double>(keys + 2))) {
        return AssertionFailure() << "a row sums to " << sum;
      }
      for (std::size_t j = 0; j < keys; ++j) {
        if (!mask.empty() && mask[first + j] == -INFINITY && row[j] != 0) {
          return AssertionFailure() << "a hidden key weighs " << row[j];
        }
      }
    }
    return AssertionSuccess();
  });
}

TEST(Properties, StatisticsAreThoseOfTheWeightsThatStandThere) {
  for_all(13, kSamples, [](const Sample& sample) -> AssertionResult {
    const Config config = sample.with_lengths();
    const Computed run(config);
    const auto keys = static_cast<std::size_t>(config.tk);
    for (std::int64_t b = 0; b < config.batch; ++b) {
      for (std::int64_t h = 0; h < config.heads; ++h) {
        for (std::int64_t i = 0; i < config.tq; ++i) {
          const auto row = static_cast<std::size_t>((b * config.heads + h) * config.tq + i);
          double max = 0;
          double entropy = 0;
          for (const float a : run.stage(StageId::kWeights).subspan(row * keys, keys)) {
            max = std::fmax(max, a);
            if (a > 0) entropy -= static_cast<double>(a) * std::log(static_cast<double>(a));
          }
          const attn::RowStatistics found = run.pipeline.row_statistics(b, h, i);
          // Float32 weights against exact ones.
          const double tolerance = 8 * kEps * (1 + static_cast<double>(keys));
          if (!(std::abs(found.maximum - max) <= tolerance) ||
              !(std::abs(found.entropy - entropy) <= tolerance)) {
            return AssertionFailure() << "maximum " << found.maximum << " not " << max
                                      << ", entropy " << found.entropy << " not " << entropy;
          }
          if (max == 0 && (found.effective_keys != 0 || !std::isnan(found.saturation))) {
            return AssertionFailure() << "a row without keys has " << found.effective_keys;
          }
        }
      }
    }
    return AssertionSuccess();
  });
}

TEST(Properties, AddingAConstantToARowOfScoresChangesNothing) {
  for_all(14, kSamples, [](const Sample& sample) -> AssertionResult {
    Config config = given_only(sample);
    config.masked = true;
    config.valid_lengths = sample.lengths;
    Computed run(config);
    const std::span<const float> heads = run.stage(StageId::kHeads);
    const std::vector<double> before(heads.begin(), heads.end());
    constexpr float kConstant = 32;
    double largest = 1;
    for (const float score : run.stage(StageId::kMaskedScores)) {
      if (std::isfinite(score)) largest = std::fmax(largest, std::abs(score));
    }
    for (float& cell : run.pipeline.input(StageId::kMask)) cell += kConstant;
    run.pipeline.run();
    // Scores are rounded at most twice more, at the size of the constant; values stay below 6.
    const double tolerance = kEps * 4 * 6 * (kConstant + largest);
    return near_all("heads", run.stage(StageId::kHeads), before, [&](double) { return tolerance; });
  });
}

TEST(Properties, PermutingKeysWithTheirValuesChangesNothing) {
  for_all(15, kSamples, [](const Sample& sample) -> AssertionResult {
    Config config = given_only(sample);
    config.masked = config.causal = false;
    config.tk -= config.past;
    config.past = 0;
    Computed run(config);
    const std::span<const float> heads = run.stage(StageId::kHeads);
    const std::vector<double> before(heads.begin(), heads.end());
    for (const StageId id : {StageId::kK, StageId::kV}) {
      const attn::Shape shape = attn::shape_of(id, config);
      const std::span<float> cells = run.pipeline.input(id);
      const auto size = static_cast<std::size_t>(shape.matrix_cells());
      // Rotates the rows of every matrix by one.
      const auto width = static_cast<std::ptrdiff_t>(shape.cols);
      for (std::size_t at = 0; size > 0 && at < cells.size(); at += size) {
        const std::span<float> rows = cells.subspan(at, size);
        std::rotate(rows.begin(), rows.begin() + width, rows.end());
      }
    }
    run.pipeline.run();
    const double tolerance = kEps * 6 * static_cast<double>(config.tk + 4);
    return near_all("heads", run.stage(StageId::kHeads), before, [&](double) { return tolerance; });
  });
}

TEST(Properties, CausalRowsDoNotDependOnLaterTokens) {
  for_all(16, kSamples, [](const Sample& sample) -> AssertionResult {
    Config config = given_only(sample);
    config.causal = true;
    config.valid_lengths = sample.lengths;
    Computed run(config);
    if (config.tk == config.past || config.d_k == 0 || config.d_v == 0) return AssertionSuccess();
    const std::span<const float> heads = run.stage(StageId::kHeads);
    const std::vector<float> before(heads.begin(), heads.end());
    // The last new key becomes NaN in every batch and head.
    for (const StageId id : {StageId::kK, StageId::kV}) {
      const attn::Shape shape = attn::shape_of(id, config);
      const std::span<float> cells = run.pipeline.input(id);
      for (auto end = static_cast<std::size_t>(shape.matrix_cells()); end <= cells.size();
           end += static_cast<std::size_t>(shape.matrix_cells())) {
        std::ranges::fill(cells.subspan(end - static_cast<std::size_t>(shape.cols),
                                        static_cast<std::size_t>(shape.cols)),
                          std::numeric_limits<float>::quiet_NaN());
      }
    }
    run.pipeline.run();
    const auto width = static_cast<std::size_t>(config.d_v);
    for (std::int64_t b = 0; b < config.batch; ++b) {
      const std::int64_t length =
          sample.lengths.empty() ? config.tk : sample.lengths[static_cast<std::size_t>(b)];
      const std::int64_t offset = sample.lengths.empty() ? config.past : length - config.tq;
      for (std::int64_t h = 0; h < config.heads; ++h) {
        for (std::int64_t i = 0; i < config.tq; ++i) {
          if (i + offset >= config.tk - 1 && length == config.tk) continue;  // sees the last key
          const auto row = static_cast<std::size_t>((b * config.heads + h) * config.tq + i);
          const AssertionResult verdict =
              same(run.stage(StageId::kHeads).subspan(row * width, width),
                   std::span(before).subspan(row * width, width));
          if (!verdict) return verdict;
        }
      }
    }
    return AssertionSuccess();
  });
}

TEST(Properties, BatchesAndHeadsEqualSingleRuns) {
  for_all(17, kSamples, [](const Sample& sample) -> AssertionResult {
    Config config = given_only(sample);
    config.tk -= config.past;
    config.past = 0;
    config.valid_lengths = sample.lengths;
    config.gradients = true;
    const Computed all(config);
    Config one = config;
    one.batch = one.heads = one.kv_heads = 1;
    const std::int64_t group = config.heads / config.kv_heads;
    for (std::int64_t b = 0; b < config.batch; ++b) {
      if (!sample.lengths.empty()) {
        one.valid_lengths = std::span(sample.lengths).subspan(static_cast<std::size_t>(b), 1);
      }
      for (std::int64_t h = 0; h < config.heads; ++h) {
        Pipeline single;
        EXPECT_TRUE(single.configure(one).ok());
        copy_matrix(all.pipeline, StageId::kQ, b, h, single);
        copy_matrix(all.pipeline, StageId::kK, b, h / group, single);
        copy_matrix(all.pipeline, StageId::kV, b, h / group, single);
        if (config.masked) copy_matrix(all.pipeline, StageId::kMask, b, h, single);
        const std::span<float> gradient = single.input(StageId::kDOutput);
        for (std::size_t at = 0; at < gradient.size(); ++at) {
          const auto row = static_cast<std::int64_t>(at) / config.d_v;
          const std::int64_t from = (b * config.tq + row) * config.heads * config.d_v +
                                    h * config.d_v + static_cast<std::int64_t>(at) % config.d_v;
          gradient[at] = all.stage(StageId::kDOutput)[static_cast<std::size_t>(from)];
        }
        single.run();
        for (const StageId id :
             {StageId::kWeights, StageId::kHeads, StageId::kDScores, StageId::kDQ}) {
          const std::span<const float> expected = single.stage(id);
          const auto index = static_cast<std::size_t>(b * config.heads + h);
          const AssertionResult verdict =
              same(all.stage(id).subspan(index * expected.size(), expected.size()), expected);
          if (!verdict) return verdict;
        }
      }
    }
    return AssertionSuccess();
  });
}

TEST(Properties, GroupedHeadsEqualRepeatedHeads) {
  for_all(18, kSamples, [](const Sample& sample) -> AssertionResult {
    Config config = given_only(sample);
    config.tk -= config.past;
    config.past = 0;
    config.valid_lengths = sample.lengths;
    const Computed grouped(config);
    Config wide = config;
    wide.kv_heads = wide.heads;
    Pipeline repeated;
    EXPECT_TRUE(repeated.configure(wide).ok());
    for (const StageId id : {StageId::kQ, StageId::kMask}) {
      if (repeated.is_given(id)) {
        std::ranges::copy(grouped.stage(id), repeated.input(id).begin());
      }
    }
    const std::int64_t group = config.heads / config.kv_heads;
    for (const StageId id : {StageId::kK, StageId::kV}) {
      const auto size = static_cast<std::size_t>(attn::shape_of(id, config).matrix_cells());
      for (std::int64_t head = 0; head < config.batch * config.heads; ++head) {
        const auto from = static_cast<std::size_t>(head / group) * size;
        std::ranges::copy(grouped.stage(id).subspan(from, size),
                          repeated.input(id).begin() + head * static_cast<std::int64_t>(size));
      }
    }
    repeated.run();
    return same(repeated.stage(StageId::kConcat), grouped.stage(StageId::kConcat));
  });
}

TEST(Properties, PastPlusNewEqualsAllAtOnce) {
  for_all(19, kSamples, [](const Sample& sample) -> AssertionResult {
    Config config = given_only(sample);
    config.causal = true;
    config.masked = false;
    config.tk = config.past + config.tq;
    const Computed cached(config);
    Config whole = config;
    whole.past = 0;
    whole.tq = config.tk;
    Pipeline all;
    EXPECT_TRUE(all.configure(whole).ok());
    const bool joined = cached.pipeline.has(StageId::kPresentKey);
    std::ranges::copy(cached.stage(joined ? StageId::kPresentKey : StageId::kK),
                      all.input(StageId::kK).begin());
    std::ranges::copy(cached.stage(joined ? StageId::kPresentValue : StageId::kV),
                      all.input(StageId::kV).begin());
    const auto q_size = static_cast<std::size_t>(config.tq * config.d_k);
    const auto rows = static_cast<std::size_t>(config.tk);
    const auto first = static_cast<std::size_t>(config.past);
    const auto d_k = static_cast<std::size_t>(config.d_k);
    const auto d_v = static_cast<std::size_t>(config.d_v);
    for (std::size_t m = 0; m < static_cast<std::size_t>(config.batch * config.heads); ++m) {
      std::ranges::copy(cached.stage(StageId::kQ).subspan(m * q_size, q_size),
                        all.input(StageId::kQ).subspan((m * rows + first) * d_k, q_size).begin());
    }
    all.run();
    const auto size = static_cast<std::size_t>(config.tq * config.d_v);
    for (std::size_t m = 0; m < static_cast<std::size_t>(config.batch * config.heads); ++m) {
      const AssertionResult verdict =
          same(all.stage(StageId::kHeads).subspan((m * rows + first) * d_v, size),
               cached.stage(StageId::kHeads).subspan(m * size, size));
      if (!verdict) return verdict;
    }
    return AssertionSuccess();
  });
}

TEST(Properties, AWidthOfOneMakesRawEqualScaled) {
  for_all(20, kSamples, [](const Sample& sample) -> AssertionResult {
    Config config = sample.with_lengths();
    config.d_k = 1;
    config.scale.reset();
    const Computed run(config);
    return same(run.stage(StageId::kScaledScores), run.stage(StageId::kRawScores));
  });
}

TEST(Properties, EqualProjectionsMakeScoresSymmetric) {
  for_all(21, kSamples, [](const Sample& sample) -> AssertionResult {
    Config config = sample.config;
    config.from_x = true;
    config.context = false;
    config.past = 0;
    config.tk = config.tq;
    config.kv_heads = config.heads;
    Computed run(config);
    std::ranges::copy(run.stage(StageId::kWq), run.pipeline.input(StageId::kWk).begin());
    run.pipeline.run();
    const auto size = static_cast<std::size_t>(config.tq);
    const std::span<const float> scores = run.stage(StageId::kRawScores);
    for (std::size_t m = 0; m * size * size < scores.size(); ++m) {
      for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          const float a = scores[(m * size + i) * size + j];
          const float b = scores[(m * size + j) * size + i];
          if (a != b) return AssertionFailure() << a << " across from " << b;
        }
      }
    }
    return AssertionSuccess();
  });
}

}  // namespace
