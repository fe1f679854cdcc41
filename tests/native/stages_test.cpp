// The stage table's own consistency, shapes, and every refusal of a configuration.
#include "attn/stages.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <span>

#include "attn/pipeline.hpp"

namespace {

using attn::Code;
using attn::Config;
using attn::Operation;
using attn::Shape;
using attn::Stage;
using attn::StageId;
using attn::Status;

constexpr Config kWorked{.tq = 2, .tk = 2, .d_k = 4, .d_v = 2};

TEST(StageTable, RowsStandAtTheirId) {
  for (std::size_t i = 0; i < attn::kStageCount; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(attn::kStages[i].id), i) << attn::kStages[i].name;
  }
}

TEST(StageTable, OperandsComeBeforeWhatTheyMake) {
  for (const Stage& stage : attn::kStages) {
    for (const attn::Slot& slot : stage.operands) {
      for (const StageId operand : slot) {
        EXPECT_TRUE(operand == StageId::kNone || operand < stage.id) << stage.name;
      }
    }
    const bool has_operand = *stage.operands[0].begin() != StageId::kNone;
    EXPECT_EQ(stage.operation != Operation::kGiven, has_operand) << stage.name;
  }
}

TEST(StageTable, ColumnsHavePublicNames) {
  EXPECT_EQ(attn::name_of(attn::Axis::kQuery), "query");
  EXPECT_EQ(attn::name_of(attn::Axis::kResult), "result");
  EXPECT_EQ(attn::name_of(attn::Axis::kOne), "one");
  EXPECT_EQ(attn::name_of(attn::PerHead::kNone), "none");
  EXPECT_EQ(attn::name_of(attn::PerHead::kKvHeads), "kvHeads");
  EXPECT_EQ(attn::name_of(Operation::kGiven), "given");
  EXPECT_EQ(attn::name_of(Operation::kRowMax), "rowMax");
  EXPECT_EQ(attn::name_of(Operation::kSumOfProducts), "sumOfProducts");
}

TEST(StageTable, WithoutXTheyAreGiven) {
  EXPECT_EQ(attn::operation_of(StageId::kQ, kWorked), Operation::kGiven);
  EXPECT_FALSE(attn::applies(StageId::kWq, kWorked));
  Config projected = kWorked;
  projected.from_x = true;
  EXPECT_EQ(attn::operation_of(StageId::kQ, projected), Operation::kMatmul);
  EXPECT_EQ(attn::operand_of(StageId::kK, 0, projected), StageId::kX);
  projected.context = true;
  EXPECT_EQ(attn::operand_of(StageId::kK, 0, projected), StageId::kXContext);
  EXPECT_EQ(attn::operand_of(StageId::kQ, 0, projected), StageId::kX);
}

TEST(StageTable, SoftmaxReadsTheLastScores) {
  Config config = kWorked;
  EXPECT_EQ(attn::operand_of(StageId::kRowMax, 0, config), StageId::kScaledScores);
  config.softcap = 2;
  EXPECT_EQ(attn::operand_of(StageId::kRowMax, 0, config), StageId::kCappedScores);
  config.causal = true;
  EXPECT_EQ(attn::operand_of(StageId::kRowMax, 0, config), StageId::kMaskedScores);
}

TEST(Shapes, OfAGroupedLayerWithAPast) {
  const Config config{.batch = 2,
                      .heads = 6,
                      .kv_heads = 3,
                      .tq = 5,
                      .tk = 9,
                      .d_k = 7,
                      .d_v = 11,
                      .d_model = 13,
                      .past = 4,
                      .from_x = true,
                      .output_projection = true};
  EXPECT_TRUE(attn::check(config).ok());
  const auto shape = [&](StageId id) { return attn::shape_of(id, config); };
  EXPECT_EQ(shape(StageId::kX), (Shape{2, 1, 5, 13}));
  EXPECT_EQ(shape(StageId::kWq), (Shape{1, 1, 13, 42}));
  EXPECT_EQ(shape(StageId::kWk), (Shape{1, 1, 13, 21}));
  EXPECT_EQ(shape(StageId::kWv), (Shape{1, 1, 13, 33}));
  EXPECT_EQ(shape(StageId::kWo), (Shape{1, 1, 66, 13}));
  EXPECT_EQ(shape(StageId::kQ), (Shape{2, 6, 5, 7}));
  EXPECT_EQ(shape(StageId::kK), (Shape{2, 3, 5, 7}));
  EXPECT_EQ(shape(StageId::kPresentValue), (Shape{2, 3, 9, 11}));
  EXPECT_EQ(shape(StageId::kKeyTransposed), (Shape{2, 3, 7, 9}));
  EXPECT_EQ(shape(StageId::kWeights), (Shape{2, 6, 5, 9}));
  EXPECT_EQ(shape(StageId::kRowMax), (Shape{2, 6, 5, 1}));
  EXPECT_EQ(shape(StageId::kConcat), (Shape{2, 1, 5, 66}));
  EXPECT_EQ(shape(StageId::kOutput), (Shape{2, 1, 5, 13}));
}

void expect_status(const Config& config, Code code, std::string_view subject, double found,
                   double expected) {
  attn::Pipeline pipeline;
  const Status status = pipeline.configure(config);
  EXPECT_EQ(status.code, code) << subject;
  EXPECT_EQ(status.subject, subject);
  EXPECT_EQ(status.found, found) << subject;
  EXPECT_EQ(status.expected, expected) << subject;
}

TEST(Refusals, SizesBelowTheirLeast) {
  expect_status({.batch = 0}, Code::kBadSize, "batch", 0, 1);
  expect_status({.heads = 0}, Code::kBadSize, "heads", 0, 1);
  expect_status({.kv_heads = -2}, Code::kBadSize, "kvHeads", -2, 1);
  expect_status({.tq = -1}, Code::kBadSize, "tq", -1, 0);
  expect_status({.tk = -1}, Code::kBadSize, "tk", -1, 0);
  expect_status({.d_k = -1}, Code::kBadSize, "dK", -1, 0);
  expect_status({.d_v = -1}, Code::kBadSize, "dV", -1, 0);
  expect_status({.d_model = -1}, Code::kBadSize, "dModel", -1, 0);
  expect_status({.past = -1}, Code::kBadSize, "past", -1, 0);
}

TEST(Refusals, SizesThatDisagree) {
  expect_status({.heads = 6, .kv_heads = 4}, Code::kNotMultiple, "heads", 6, 4);
  expect_status({.context = true}, Code::kExcludes, "context", 0, 0);
  expect_status({.tk = 2, .past = 3}, Code::kSizeMismatch, "past", 3, 2);
  expect_status({.tq = 3, .tk = 4, .from_x = true}, Code::kSizeMismatch, "tk", 4, 3);
  expect_status({.tq = 3, .tk = 4, .past = 2, .from_x = true}, Code::kSizeMismatch, "tk", 4, 5);
}

TEST(Refusals, ValidLengthsThatDisagree) {
  const std::array<std::int32_t, 2> lengths{1, 3};
  expect_status({.tk = 2, .past = 1, .valid_lengths = lengths}, Code::kExcludes, "validLengths", 1,
                0);
  expect_status({.batch = 3, .tk = 3, .valid_lengths = lengths}, Code::kSizeMismatch,
                "validLengths", 2, 3);
  expect_status({.batch = 2, .tk = 2, .valid_lengths = lengths}, Code::kTooLarge, "validLength", 3,
                2);
  const std::array<std::int32_t, 1> negative{-1};
  expect_status({.tk = 2, .valid_lengths = negative}, Code::kBadSize, "validLength", -1, 0);
}

TEST(Refusals, MasksThatDoNotFit) {
  attn::Pipeline pipeline;
  ASSERT_TRUE(pipeline.configure(kWorked).ok());
  const std::array<std::int64_t, 1> one{1};
  const std::array<float, 6> zeros{};
  const auto numbers = [&](std::size_t count) { return attn::ConstFloats(zeros).first(count); };
  EXPECT_EQ(pipeline.set_mask({one, false, numbers(1)}).code, Code::kStageAbsent);
  Config config{.batch = 2, .heads = 3, .tq = 4, .tk = 5, .causal = true};
  ASSERT_TRUE(pipeline.configure(config).ok());
  EXPECT_EQ(pipeline.set_mask({one, false, numbers(1)}).code, Code::kNotGiven);
  config.masked = true;
  ASSERT_TRUE(pipeline.configure(config).ok());
  EXPECT_TRUE(pipeline.set_mask({one, false, numbers(1)}).ok());
  const auto refused = [&](std::initializer_list<std::int64_t> shape, std::size_t count, Code code,
                           std::string_view subject, double found, double expected) {
    const Status status =
        pipeline.set_mask({std::span(shape.begin(), shape.size()), false, numbers(count)});
    EXPECT_EQ(status.code, code) << subject;
    EXPECT_EQ(status.subject, subject);
    EXPECT_EQ(status.found, found) << subject;
    EXPECT_EQ(status.expected, expected) << subject;
  };
  refused({}, 1, Code::kBadSize, "maskRank", 0, 1);
  refused({1, 1, 1, 1, 1}, 1, Code::kTooLarge, "maskRank", 5, 4);
  refused({6}, 6, Code::kSizeMismatch, "maskKeys", 6, 5);
  refused({0}, 0, Code::kSizeMismatch, "maskKeys", 0, 5);
  refused({5, 1}, 5, Code::kSizeMismatch, "maskQueries", 5, 4);
  refused({2, 1, 1}, 2, Code::kSizeMismatch, "maskHeads", 2, 3);
  refused({3, 1, 1, 1}, 3, Code::kSizeMismatch, "maskBatch", 3, 2);
  refused({5}, 4, Code::kSizeMismatch, "mask", 4, 5);
  const std::array<std::int64_t, 1> five{5};
  for (const float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    const std::array<float, 5> values{0, 0, 0, bad, 0};
    const Status status = pipeline.set_mask({five, false, values});
    EXPECT_EQ(status.code, Code::kBadMask);
    EXPECT_EQ(std::isnan(status.found), std::isnan(bad));
    EXPECT_EQ(status.expected, 3);
  }
  const std::array<float, 5> two{0, 1, 2, 0, 0};
  EXPECT_EQ(pipeline.set_mask({five, true, two}).expected, 2);
}

TEST(Refusals, ConstantsThatAreNoNumbers) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  expect_status({.scale = kInfinity}, Code::kBadNumber, "scale", kInfinity, 0);
  expect_status({.softcap = 0.0F}, Code::kBadNumber, "softcap", 0, 0);
  expect_status({.softcap = -1.0F}, Code::kBadNumber, "softcap", -1, 0);
  attn::Pipeline pipeline;
  Config config = kWorked;
  config.scale = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(pipeline.configure(config).code, Code::kBadNumber);
}

TEST(Refusals, MoreThanTheArenaHolds) {
  constexpr auto kBound = static_cast<double>(attn::kArenaBytes);
  // Without queries and features only V takes room: exactly the bound, then one row more.
  attn::Pipeline pipeline;
  Config config{.tq = 0, .tk = 1 << 20, .d_k = 0, .d_v = 64};
  EXPECT_EQ(attn::arena_bytes_of(config), attn::kArenaBytes);
  EXPECT_TRUE(pipeline.configure(config).ok());
  config.tk += 1;
  expect_status(config, Code::kTooLarge, "arena", kBound + 256, kBound);
  expect_status({.tq = attn::kMaxSize + 1}, Code::kTooLarge, "tq",
                static_cast<double>(attn::kMaxSize + 1), static_cast<double>(attn::kMaxSize));
}

TEST(Refusals, ProductsThatOverflow) {
  constexpr std::int64_t kMax = attn::kMaxSize;
  constexpr Config kHuge{.batch = kMax,
                         .heads = kMax,
                         .kv_heads = kMax,
                         .tq = kMax,
                         .tk = kMax,
                         .d_k = kMax,
                         .d_v = kMax};
  for (const Config& config :
       {kHuge, Config{.tq = kMax, .tk = kMax, .d_k = 1},
        Config{.batch = std::numeric_limits<std::int64_t>::max()},
        Config{.heads = kMax, .d_v = kMax, .d_model = kMax, .output_projection = true}}) {
    attn::Pipeline pipeline;
    EXPECT_EQ(pipeline.configure(config).code, Code::kTooLarge);
  }
}

TEST(Refusals, LeaveTheFormerNumbers) {
  attn::Pipeline pipeline;
  ASSERT_TRUE(pipeline.configure(kWorked).ok());
  pipeline.input(StageId::kQ)[0] = 7;
  EXPECT_FALSE(pipeline.configure({.tq = -1}).ok());
  EXPECT_EQ(pipeline.config().tq, 2);
  EXPECT_EQ(pipeline.stage(StageId::kQ)[0], 7);
}

}  // namespace
