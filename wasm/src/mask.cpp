// Broadcasting of masks.
#include "attn/mask.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>

namespace attn {
namespace {

constexpr std::size_t kAxes = 4;
constexpr float kHidden = -std::numeric_limits<float>::infinity();

std::array<std::int64_t, kAxes> target_of(const Config& c) {
  return {c.batch, c.heads, c.tq, c.tk};
}

std::size_t to_size(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

std::array<std::int64_t, 4> mask_axes(std::span<const std::int64_t> shape) {
  std::array<std::int64_t, kAxes> axes{1, 1, 1, 1};
  const std::size_t first = kAxes - shape.size();
  for (std::size_t i = first; i < kAxes; ++i) axes[i] = shape[i - first];
  return axes;
}

Status check(const GivenMask& mask, const Config& config) {
  static constexpr std::array<std::string_view, kAxes> kNames{"maskBatch", "maskHeads",
                                                              "maskQueries", "maskKeys"};
  const std::size_t rank = mask.shape.size();
  if (rank == 0) return {Code::kBadSize, "maskRank", 0, 1};
  if (rank > kAxes) {
    return {Code::kTooLarge, "maskRank", static_cast<double>(rank), static_cast<double>(kAxes)};
  }
  const auto target = target_of(config);
  const auto axes = mask_axes(mask.shape);
  std::int64_t count = 1;
  for (std::size_t i = 0; i < kAxes; ++i) {
    const bool short_keys = i == kAxes - 1 && axes[i] > 1 && axes[i] < target[i];
    if (axes[i] != 1 && axes[i] != target[i] && !short_keys) {
      return {Code::kSizeMismatch, kNames[i], static_cast<double>(axes[i]),
              static_cast<double>(target[i])};
    }
    count = product(count, axes[i]);
  }
  const auto found = static_cast<std::int64_t>(mask.values.size());
  if (found != count) {
    return {Code::kSizeMismatch, "mask", static_cast<double>(found), static_cast<double>(count)};
  }
  return {};
}

Status check_values(const GivenMask& mask) {
  for (std::size_t i = 0; i < mask.values.size(); ++i) {
    const float value = mask.values[i];
    const bool fits =
        mask.boolean ? value == 0 || value == 1 : value < std::numeric_limits<float>::infinity();
    if (!fits) return {Code::kBadMask, "mask", value, static_cast<double>(i)};
  }
  return {};
}

void spread(const GivenMask& mask, const Config& config, Floats out) {
  if (out.empty()) return;
  const auto target = target_of(config);
  const auto axes = mask_axes(mask.shape);
  const auto place = [&](std::size_t axis, std::int64_t index) {
    return axes[axis] == 1 ? 0 : index;
  };
  std::size_t at = 0;
  for (std::int64_t b = 0; b < target[0]; ++b) {
    for (std::int64_t h = 0; h < target[1]; ++h) {
      for (std::int64_t i = 0; i < target[2]; ++i) {
        const std::int64_t row = (place(0, b) * axes[1] + place(1, h)) * axes[2] + place(2, i);
        for (std::int64_t j = 0; j < target[3]; ++j) {
          const std::int64_t col = place(3, j);
          float value = kHidden;
          if (col < axes[3]) value = mask.values[to_size(row * axes[3] + col)];
          if (mask.boolean && col < axes[3]) value = value == 0 ? kHidden : 0.0F;
          out[at++] = value;
        }
      }
    }
  }
}

}  // namespace attn
