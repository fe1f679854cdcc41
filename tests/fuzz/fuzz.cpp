// Hostile configurations, masks and numbers for the core: nothing may crash, hang or break a
// promise.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "attn/attend.hpp"
#include "attn/pipeline.hpp"

namespace {

using attn::Config;
using attn::Pipeline;
using attn::StageId;

// Larger arenas only cost time; that they are counted right shows without making them.
constexpr std::int64_t kLargestArena = 1 << 18;

// Numbers from the fuzzer's bytes; zeros when they are used up.
class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::uint8_t byte() {
    if (at_ == bytes_.size()) return 0;
    return bytes_[at_++];
  }

  std::uint64_t word(std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8U | byte();
    return value;
  }

  bool flag() { return (byte() & 1U) != 0; }

  // Mostly small, sometimes any.
  std::int64_t size() {
    const std::uint8_t kind = byte();
    if (kind < 240) return kind % 9;
    return static_cast<std::int64_t>(word(8)) >> (kind % 64);
  }

  // Any float32, infinities, NaN and subnormal numbers included.
  float number() {
    const std::uint8_t kind = byte();
    if (kind < 128) return static_cast<float>(kind % 16) / 4 - 2;
    return std::bit_cast<float>(static_cast<std::uint32_t>(word(4)));
  }

  bool empty() const { return at_ == bytes_.size(); }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

void require(bool holds) {
  if (!holds) std::abort();
}

Config read_config(Bytes& bytes, std::vector<std::int32_t>& lengths) {
  Config config{.batch = bytes.size(),
                .heads = bytes.size(),
                .kv_heads = bytes.size(),
                .tq = bytes.size(),
                .tk = bytes.size(),
                .d_k = bytes.size(),
                .d_v = bytes.size(),
                .d_model = bytes.size(),
                .past = bytes.flag() ? bytes.size() : 0,
                .from_x = bytes.flag(),
                .context = bytes.flag(),
                .output_projection = bytes.flag(),
                .masked = bytes.flag(),
                .causal = bytes.flag(),
                .gradients = bytes.flag()};
  // Most shapes that disagree are refused at once: help the others along.
  if (bytes.flag()) config.heads = config.kv_heads * (config.heads % 4);
  if (bytes.flag()) config.tk = config.past + config.tq;
  if (bytes.flag()) config.scale = bytes.number();
  if (bytes.flag()) config.softcap = bytes.number();
  if (bytes.flag()) {
    lengths.resize(bytes.byte() % 5U);
    for (std::int32_t& length : lengths) length = static_cast<std::int32_t>(bytes.size());
    config.valid_lengths = lengths;
  }
  return config;
}

void give_mask(Bytes& bytes, Pipeline& pipeline) {
  std::vector<std::int64_t> shape(bytes.byte() % 6U);
  std::int64_t count = 1;
  for (std::int64_t& extent : shape) {
    extent = bytes.byte() % 9;
    count *= extent;
  }
  std::vector<float> values(static_cast<std::size_t>(count + (bytes.byte() == 1 ? 1 : 0)));
  const bool boolean = bytes.flag();
  for (float& value : values) {
    value = boolean && bytes.byte() != 1 ? static_cast<float>(bytes.flag()) : bytes.number();
  }
  (void)pipeline.set_mask({shape, boolean, values});
}

void fill(Bytes& bytes, Pipeline& pipeline) {
  for (const attn::Stage& stage : attn::kStages) {
    if (stage.id == StageId::kMask) continue;
    for (float& cell : pipeline.input(stage.id)) cell = bytes.empty() ? 0.5F : bytes.number();
  }
  for (const StageId present : {StageId::kPresentKey, StageId::kPresentValue}) {
    if (!pipeline.has(present) || pipeline.stage(present).empty()) continue;
    const attn::Matrix rows = pipeline.past(present, 0, 0);
    for (std::size_t i = 0; i < rows.rows * rows.cols; ++i) rows.data[i] = bytes.number();
  }
}

// Weights lie in [0, 1] or are NaN, and are exactly 0 where hidden.
void check_weights(const Pipeline& pipeline) {
  const std::span<const float> weights = pipeline.stage(StageId::kWeights);
  const std::span<const float> mask = pipeline.stage(StageId::kMask);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    require(std::isnan(weights[i]) || (weights[i] >= 0 && weights[i] <= 1));
    if (!mask.empty() && mask[i] == -INFINITY) require(weights[i] == 0);
  }
}

void ask_for_cells(Bytes& bytes, const Pipeline& pipeline) {
  for (int n = 0; n < 8 && !bytes.empty(); ++n) {
    const auto stage = static_cast<StageId>(bytes.byte() % (attn::kStageCount + 1));
    const attn::Cell cell{stage, bytes.size(), bytes.size(), bytes.size(), bytes.size()};
    if (!pipeline.check(cell).ok()) continue;
    const std::size_t count = pipeline.term_count(cell);
    for (std::size_t i = 0; i < count; ++i) {
      const attn::Term term = pipeline.term(cell, i);
      for (const attn::Operand& operand : term.used()) {
        require(operand.cell.stage == StageId::kNone || pipeline.check(operand.cell).ok());
      }
    }
    if (stage == StageId::kRowMax) {
      (void)pipeline.row_statistics(cell.batch, cell.head, cell.row);
      const attn::RowsSummary summary = pipeline.summary(cell.batch, cell.head, 1);
      require(summary.rows >= summary.empty);
    }
  }
}

// The same configuration without stages, with the numbers that the pipeline was given or projected.
void check_fused(Bytes& bytes, const Config& config, const Pipeline& pipeline) {
  std::vector<std::int64_t> shape(bytes.byte() % 6U);
  for (std::int64_t& extent : shape) extent = bytes.byte() % 9;
  attn::Attention attention;
  if (!attention.configure(config, {shape, bytes.flag(), {}}).ok()) return;
  const auto take = [&](StageId to, StageId present, StageId plain) {
    const std::span<const float> cells = pipeline.stage(pipeline.has(present) ? present : plain);
    require(attention.input(to).size() == cells.size());
    std::ranges::copy(cells, attention.input(to).begin());
  };
  take(StageId::kQ, StageId::kQ, StageId::kQ);
  take(StageId::kPresentKey, StageId::kPresentKey, StageId::kK);
  take(StageId::kPresentValue, StageId::kPresentValue, StageId::kV);
  std::vector<float> mask(attention.mask_staging().size());
  for (float& value : mask) value = bytes.empty() ? 1 : bytes.number();
  if (config.masked) (void)attention.set_mask(mask);
  attention.run(0, attention.rows());
  require(attention.output().size() == pipeline.stage(StageId::kHeads).size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes({data, size});
  Pipeline pipeline;
  // Twice, so that an arena is used again, grows, and survives a refusal.
  for (int round = 0; round < 2; ++round) {
    std::vector<std::int32_t> lengths;
    const Config config = read_config(bytes, lengths);
    if (attn::check(config).ok() && attn::arena_bytes_of(config) > kLargestArena) continue;
    if (!pipeline.configure(config).ok()) continue;
    fill(bytes, pipeline);
    if (bytes.flag()) give_mask(bytes, pipeline);
    pipeline.run();
    check_weights(pipeline);
    check_fused(bytes, config, pipeline);
    ask_for_cells(bytes, pipeline);
  }
  return 0;
}
