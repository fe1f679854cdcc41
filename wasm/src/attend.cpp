// The arena of fused attention, its mask, and how rows are split into blocks.
#include "attn/attend.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "attend_block.hpp"

namespace attn {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

std::size_t to_size(std::int64_t value) { return static_cast<std::size_t>(value); }

// All numbers of a stage.
std::int64_t cells_of(StageId stage, const Config& config) {
  return shape_of(stage, config).cells();
}

// What a mask's axes multiply to.
std::int64_t cells_of(std::span<const std::int64_t> shape) {
  std::int64_t cells = 1;
  for (const std::int64_t extent : shape) cells = product(cells, extent);
  return cells;
}

}  // namespace

Status Attention::lay_out(const Config& config, std::int64_t mask_cells, Layout& layout) {
  const std::int64_t group_rows = product(config.heads / config.kv_heads, config.tq);
  std::int64_t bytes = 0;
  for (const auto& [array, count] : {
           std::pair{kLengths, static_cast<std::int64_t>(config.valid_lengths.size())},
           std::pair{kQueries, cells_of(StageId::kQ, config)},
           std::pair{kKeys, cells_of(StageId::kPresentKey, config)},
           std::pair{kValues, cells_of(StageId::kPresentValue, config)},
           std::pair{kMask, mask_cells},
           std::pair{kResult, cells_of(StageId::kHeads, config)},
           std::pair{kScratch, scratch_of_block(group_rows, config.d_k, config.d_v)},
       }) {
    layout[array] = {.offset = to_size(bytes) / sizeof(float), .count = to_size(count)};
    const std::int64_t own = aligned_bytes(count);
    bytes = own > kManyCells - bytes ? kManyCells : bytes + own;
  }
  layout[kEnd] = {.offset = to_size(bytes) / sizeof(float)};
  if (bytes <= kArenaBytes) return {};
  return {Code::kTooLarge, "arena", static_cast<double>(bytes), static_cast<double>(kArenaBytes)};
}

Status Attention::configure(const Config& config, const GivenMask& mask) {
  if (const Status status = check_without_arena(config); !status.ok()) return status;
  std::int64_t mask_cells = 0;
  if (config.masked) {
    mask_cells = cells_of(mask.shape);
    // Before their number is cut to the 32 bits of a size.
    if (mask_cells > kArenaBytes) {
      return {Code::kTooLarge, "arena", static_cast<double>(mask_cells) * sizeof(float),
              static_cast<double>(kArenaBytes)};
    }
    const ConstFloats values(static_cast<const float*>(nullptr), to_size(mask_cells));
    const Status status = check(GivenMask{mask.shape, mask.boolean, values}, config);
    if (!status.ok()) return status;
  }
  Layout layout;
  if (const Status status = lay_out(config, mask_cells, layout); !status.ok()) return status;
  const auto bytes = static_cast<std::int64_t>(layout[kEnd].offset * sizeof(float));
  if (!arena_.reserve(bytes, kStageAlignment)) {
    configured_ = false;
    return {Code::kOutOfMemory, "arena", static_cast<double>(bytes),
            static_cast<double>(kArenaBytes)};
  }
  config_ = config;
  configured_ = true;
  scale_ = scale_of(config);
  layout_ = layout;
  boolean_mask_ = mask.boolean;
  mask_axes_ = config.masked ? mask_axes(mask.shape) : std::array<std::int64_t, 4>{1, 1, 1, 1};
  std::fill_n(arena_.data(), layout[kEnd].offset, 0.0F);
  if (!config.valid_lengths.empty()) {
    // Memory without a type of its own: whole numbers of the same size at its beginning.
    auto* const lengths = reinterpret_cast<std::int32_t*>(array(kLengths).data());
    std::ranges::copy(config.valid_lengths, lengths);
    config_.valid_lengths = {lengths, config.valid_lengths.size()};
  }
  return {};
}

Floats Attention::array(Array array) const {
  if (!configured_) return {};
  return {arena_.data() + layout_[array].offset, layout_[array].count};
}

Floats Attention::input(StageId stage) {
  switch (stage) {
    case StageId::kQ:
      return array(kQueries);
    case StageId::kPresentKey:
      return array(kKeys);
    case StageId::kPresentValue:
      return array(kValues);
    default:
      return {};
  }
}

Floats Attention::mask_staging() { return array(kMask); }

ConstFloats Attention::output() const { return array(kResult); }

Status Attention::set_mask(ConstFloats values) {
  if (!configured_ || !config_.masked) return {Code::kStageAbsent, "mask"};
  const Floats own = array(kMask);
  if (values.size() != own.size()) {
    return {Code::kSizeMismatch, "mask", static_cast<double>(values.size()),
            static_cast<double>(own.size())};
  }
  const Status status = check_values({mask_axes_, boolean_mask_, values});
  if (!status.ok()) {
    std::ranges::fill(own, 0.0F);
  } else if (boolean_mask_) {
    std::ranges::transform(values, own.begin(), [](float x) { return x == 0 ? kHidden : 0.0F; });
  } else if (values.data() != own.data()) {
    std::ranges::copy(values, own.begin());
  }
  return status;
}

std::int64_t Attention::rows() const {
  return configured_ ? product(product(config_.batch, config_.heads), config_.tq) : 0;
}

void Attention::run(std::int64_t first, std::int64_t last) {
  const std::int64_t group_rows = config_.heads / config_.kv_heads * config_.tq;
  // Also keeps a huge number of empty rows from being visited one by one.
  if (group_rows == 0 || output().empty()) return;
  first = std::max(first, std::int64_t{0});
  last = std::min(last, rows());
  while (first < last) {
    // Rows that read the same keys and values.
    const std::int64_t group = first / group_rows;
    const std::int64_t next = std::min({first + kRowBlock, (group + 1) * group_rows, last});
    run_block(group / config_.kv_heads, group % config_.kv_heads, first, to_size(next - first));
    first = next;
  }
}

// Rows first … first + count of the result, all of one batch and one key/value head.
void Attention::run_block(std::int64_t batch, std::int64_t kv_head, std::int64_t first,
                          std::size_t count) {
  const auto& [b_axis, h_axis, q_axis, k_axis] = mask_axes_;
  const std::int64_t group = batch * config_.kv_heads + kv_head;
  const std::size_t d_k = to_size(config_.d_k);
  const std::size_t d_v = to_size(config_.d_v);
  const std::size_t keys = to_size(config_.tk);

  Block block;
  block.queries = array(kQueries).data() + to_size(first) * d_k;
  block.out = array(kResult).data() + to_size(first) * d_v;
  block.count = count;
  block.keys = {array(kKeys).data() + to_size(group) * keys * d_k, keys, d_k, d_k};
  block.values = {array(kValues).data() + to_size(group) * keys * d_v, keys, d_v, d_v};
  block.scale = scale_;
  block.softcap = config_.softcap;
  block.masked = config_.masked;
  block.mask_step = k_axis == 1 ? 0 : 1;

  // Without valid lengths the queries stand behind the past; with them they are the last tokens.
  const bool limited = !config_.valid_lengths.empty();
  const std::int64_t length = limited ? config_.valid_lengths[to_size(batch)] : config_.tk;
  const std::int64_t offset = limited ? length - config_.tq : config_.past;
  for (std::size_t r = 0; r < count; ++r) {
    const std::int64_t row = first + static_cast<std::int64_t>(r);
    const std::int64_t head = row / config_.tq % config_.heads;
    const std::int64_t query = row % config_.tq;
    std::int64_t limit =
        config_.causal ? std::clamp(offset + query + 1, std::int64_t{0}, length) : length;
    // Keys beyond a short last axis are hidden.
    if (config_.masked && k_axis != 1) limit = std::min(limit, k_axis);
    block.limits[r] = static_cast<std::int32_t>(limit);
    const auto place = [](std::int64_t axis, std::int64_t index) { return axis == 1 ? 0 : index; };
    const std::int64_t mask_row =
        (place(b_axis, batch) * h_axis + place(h_axis, head)) * q_axis + place(q_axis, query);
    block.masks[r] = array(kMask).data() + mask_row * k_axis;
  }
  attend(block, array(kScratch).data());
}

}  // namespace attn
