// Fused attention of single rows that need care: three times over the keys, for the maximum, for
// the sum and for the values, so that a value is multiplied by its weight and by nothing larger.
#include "attend_row.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "attn/kernels.hpp"
#include "simd.hpp"

namespace attn {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();
constexpr std::size_t kBlockKeys = 256;
constexpr std::size_t kStripCols = 64;

// The keys that a row sees, up to kBlockKeys at a time.
class VisibleKeys {
 public:
  VisibleKeys(const Block& block, std::size_t row)
      : block_(block),
        query_(block.queries + row * block.keys.cols),
        mask_(block.masks[row]),
        limit_(static_cast<std::size_t>(block.limits[row])) {}

  // Takes the next ones; false when none is left.
  bool next() {
    count_ = 0;
    for (; at_ < limit_ && count_ < kBlockKeys; ++at_) {
      if (mask_of(at_) != kHidden) keys_[count_++] = at_;
    }
    return count_ > 0;
  }

  void rewind() { at_ = 0; }

  // Their scores as the softmax takes them.
  Floats scores() {
    const Floats scores{scores_.data(), count_};
    for (std::size_t i = 0; i < count_; i += simd::kLanes) write_products(i);
    scale(scores, block_.scale, scores);
    if (block_.softcap) softcap(scores, *block_.softcap, scores);
    if (block_.masked) {
      for (std::size_t i = 0; i < count_; ++i) scores[i] += mask_of(keys_[i]);
    }
    return scores;
  }

  const float* values(std::size_t i) const { return block_.values.row(keys_[i]); }

 private:
  float mask_of(std::size_t key) const { return block_.masked ? mask_[key * block_.mask_step] : 0; }

  // Scores i … i + 3, each summed in the order of the stages: another may overflow elsewhere.
  void write_products(std::size_t i) {
    const float* keys[simd::kLanes];
    for (std::size_t k = 0; k < simd::kLanes; ++k) {
      keys[k] = block_.keys.row(keys_[std::min(i + k, count_ - 1)]);
    }
    simd::Vector sums = simd::splat(0);
    for (std::size_t d = 0; d < block_.keys.cols; ++d) {
      const simd::Vector column = wasm_f32x4_make(keys[0][d], keys[1][d], keys[2][d], keys[3][d]);
      sums = simd::multiply_add(simd::splat(query_[d]), column, sums);
    }
    simd::store(&scores_[i], sums);
  }

  const Block& block_;
  const float* query_;
  const float* mask_;
  std::size_t limit_;
  std::size_t at_ = 0;
  std::size_t count_ = 0;
  std::array<std::size_t, kBlockKeys> keys_;
  std::array<float, kBlockKeys> scores_;
};

}  // namespace

void attend_row(const Block& block, std::size_t row) {
  const std::size_t width = block.values.cols;
  float* const out = block.out + row * width;
  VisibleKeys keys(block, row);

  float max = kHidden;
  while (keys.next()) {
    const float largest = row_max(keys.scores());
    if (!(largest <= max)) max = largest;
  }
  const auto exponentials = [&] {
    const Floats scores = keys.scores();
    subtract_max(scores, {}, max, scores);
    exponential(scores, scores);
    return scores;
  };
  float total = 0;
  for (keys.rewind(); keys.next();) total += row_sum(exponentials());
  std::fill_n(out, width, 0.0F);
  for (keys.rewind(); keys.next();) {
    const Floats weights = exponentials();
    divide(weights, {}, total, weights);
    // Every block by itself: a long chain of sums would no longer see what is added.
    for (std::size_t c = 0; c < width; c += kStripCols) {
      const std::size_t cols = std::min(kStripCols, width - c);
      std::array<float, kStripCols> sums{};
      for (std::size_t i = 0; i < weights.size(); ++i) {
        simd::add_multiple(weights[i], keys.values(i) + c, sums.data(), cols);
      }
      simd::add_multiple(1, sums.data(), out + c, cols);
    }
  }
}

}  // namespace attn
