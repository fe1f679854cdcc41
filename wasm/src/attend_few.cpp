// Fused attention of one to three rows. Here lanes are features, then keys, then columns of values:
// nearly all time goes into reading keys and values, each once for all rows.
#include "attend_few.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend_row.hpp"
#include "exponential.hpp"
#include "simd.hpp"

namespace attn {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();
constexpr std::size_t kBlockKeys = 256;

// sums[i] = the sum of the lanes of vector i.
simd::Vector sums_of(simd::Vector a, simd::Vector b, simd::Vector c, simd::Vector d) {
  const simd::Vector ab =
      wasm_f32x4_add(wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
  const simd::Vector cd =
      wasm_f32x4_add(wasm_i32x4_shuffle(c, d, 0, 4, 1, 5), wasm_i32x4_shuffle(c, d, 2, 6, 3, 7));
  return wasm_f32x4_add(wasm_i32x4_shuffle(ab, cd, 0, 1, 4, 5),
                        wasm_i32x4_shuffle(ab, cd, 2, 3, 6, 7));
}

template <std::size_t kRows>
class Few {
 public:
  Few(const Block& block, std::size_t first, const float* constants, float* scores)
      : block_(block), first_(first), exponential_(constants), scores_(scores) {
    for (std::size_t r = 0; r < kRows; ++r) {
      maxima_[r] = kHidden;
      totals_[r] = simd::splat(0);
      std::fill_n(out(r), width(), 0.0F);
    }
  }

  void run() {
    const std::int32_t* const limits = &block_.limits[first_];
    const auto limit = static_cast<std::size_t>(*std::max_element(limits, limits + kRows));
    for (std::size_t start = 0; start < limit; start += kBlockKeys) {
      const std::size_t count = std::min(kBlockKeys, limit - start);
      compute_scores(start, count);
      for (std::size_t r = 0; r < kRows; ++r) exponentiate(r, start, count);
      blend(start, count);
    }
    for (std::size_t r = 0; r < kRows; ++r) finish(r);
  }

 private:
  static constexpr std::size_t kKeys = simd::kLanes;  // keys whose scores fill one vector

  std::size_t width() const { return block_.values.cols; }
  float* out(std::size_t r) const { return block_.out + (first_ + r) * width(); }
  float* scores(std::size_t r) const { return scores_ + r * kBlockKeys; }

  // Whole vectors of scores; those beyond the last key are hidden.
  void compute_scores(std::size_t start, std::size_t count) {
    std::size_t j = 0;
    for (; j + kKeys <= count; j += kKeys) dot<kKeys>(start + j, j);
    if (j == count) return;
    for (std::size_t r = 0; r < kRows; ++r) simd::store(scores(r) + j, simd::splat(kHidden));
    for (; j < count; ++j) dot<1>(start + j, j);
  }

  // The scores of kCount keys.
  template <std::size_t kCount>
  void dot(std::size_t key, std::size_t at) {
    const std::size_t depth = block_.keys.cols;
    const float* const keys = block_.keys.row(key);
    const float* const queries = block_.queries + first_ * depth;
    simd::Vector sums[kRows][kCount];
    for (auto& row : sums) {
      for (simd::Vector& sum : row) sum = simd::splat(0);
    }
    const auto add = [&](std::size_t d, auto load) {
      simd::Vector query[kRows];
      for (std::size_t r = 0; r < kRows; ++r) query[r] = load(queries + r * depth + d);
      for (std::size_t k = 0; k < kCount; ++k) {
        const simd::Vector values = load(keys + k * depth + d);
        for (std::size_t r = 0; r < kRows; ++r) {
          sums[r][k] = simd::multiply_add(query[r], values, sums[r][k]);
        }
      }
    };
    std::size_t d = 0;
    for (; d + simd::kLanes <= depth; d += simd::kLanes) {
      add(d, [](const float* from) { return simd::load(from); });
    }
    if (d < depth) {
      add(d, [&](const float* from) { return simd::load_first(from, depth - d); });
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      if constexpr (kCount == kKeys) {
        const simd::Vector dots = sums_of(sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
        simd::store(scores(r) + at, wasm_f32x4_mul(dots, simd::splat(block_.scale)));
      } else {
        scores(r)[at] = simd::sum(sums[r][0]) * block_.scale;
      }
    }
  }

  void exponentiate(std::size_t r, std::size_t start, std::size_t count) {
    adjust_scores(r, start, count);
    const Exponential exponential = exponential_;  // stores to the scores could change the member
    float* const row = scores(r);
    simd::Vector lanes = simd::splat(maxima_[r]);
    for (std::size_t j = 0; j < count; j += simd::kLanes) {
      lanes = wasm_f32x4_pmax(lanes, simd::load(row + j));
    }
    lanes = wasm_f32x4_pmax(lanes, wasm_i32x4_shuffle(lanes, lanes, 2, 3, 0, 1));
    lanes = wasm_f32x4_pmax(lanes, wasm_i32x4_shuffle(lanes, lanes, 1, 0, 3, 2));
    const float max = wasm_f32x4_extract_lane(lanes, 0);
    // While all scores are −∞ they are subtracted from nothing: −∞ − −∞ would be NaN.
    const simd::Vector base = simd::splat(max == kHidden ? 0 : max);
    factors_[r] = exponential.factor(wasm_f32x4_sub(simd::splat(maxima_[r]), base));
    maxima_[r] = max;
    // Every block by itself: a long chain of sums would no longer see what is added.
    simd::Vector total = simd::splat(0);
    for (std::size_t j = 0; j < count; j += simd::kLanes) {
      const simd::Vector value = exponential(wasm_f32x4_sub(simd::load(row + j), base));
      total = wasm_f32x4_add(total, value);
      simd::store(row + j, value);
    }
    totals_[r] = simd::multiply_add(totals_[r], factors_[r], total);
  }

  // Softcap, mask and the row's own limit; also notes whether it has seen a key.
  void adjust_scores(std::size_t r, std::size_t start, std::size_t count) {
    float* const row = scores(r);
    const auto limit = static_cast<std::size_t>(block_.limits[first_ + r]);
    const std::size_t visible = std::min(count, limit > start ? limit - start : 0);
    const Floats within{row, visible};
    if (block_.softcap) softcap(within, *block_.softcap, within);
    if (block_.masked) {
      const float* const mask = block_.masks[first_ + r] + start * block_.mask_step;
      for (std::size_t j = 0; j < visible; ++j) {
        const float added = mask[j * block_.mask_step];
        row[j] = added == kHidden ? kHidden : row[j] + added;
        if (added != kHidden) seen_[r] = true;
      }
    } else if (visible > 0) {
      seen_[r] = true;
    }
    std::fill(row + visible, row + count, kHidden);
  }

  void blend(std::size_t start, std::size_t count) {
    constexpr std::size_t kWide = kRows == 1 ? 8 : 4;
    std::size_t c = 0;
    for (; c + kWide * simd::kLanes <= width(); c += kWide * simd::kLanes) {
      blend_columns<kWide>(start, count, c, simd::kLanes);
    }
    for (; c + simd::kLanes <= width(); c += simd::kLanes) {
      blend_columns<1>(start, count, c, simd::kLanes);
    }
    if (c < width()) blend_columns<1>(start, count, c, width() - c);
  }

  // Columns c … c + 4·kVectors of the result; with one vector `lanes` of it may be fewer than four.
  template <std::size_t kVectors>
  void blend_columns(std::size_t start, std::size_t count, std::size_t c, std::size_t lanes) {
    const bool whole = kVectors > 1 || lanes == simd::kLanes;
    const auto load = [&](const float* from) {
      return whole ? simd::load(from) : simd::load_first(from, lanes);
    };
    simd::Vector sums[kRows][kVectors];
    for (auto& row : sums) {
      for (simd::Vector& sum : row) sum = simd::splat(0);
    }
    for (std::size_t j = 0; j < count; ++j) {
      const float* const values = block_.values.row(start + j) + c;
      simd::Vector weights[kRows];
      for (std::size_t r = 0; r < kRows; ++r) weights[r] = simd::load_splat(scores(r) + j);
      for (std::size_t v = 0; v < kVectors; ++v) {
        const simd::Vector value = load(values + v * simd::kLanes);
        for (std::size_t r = 0; r < kRows; ++r) {
          sums[r][v] = simd::multiply_add(weights[r], value, sums[r][v]);
        }
      }
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        float* const to = out(r) + c + v * simd::kLanes;
        const simd::Vector sum = simd::multiply_add(load(to), factors_[r], sums[r][v]);
        if (whole) {
          simd::store(to, sum);
        } else {
          simd::store_first(to, sum, lanes);
        }
      }
    }
  }

  void finish(std::size_t r) {
    const Floats row{out(r), width()};
    if (!seen_[r]) {
      std::ranges::fill(row, 0.0F);
      return;
    }
    // A true division: with one visible key x·2²³/2²³ is exactly x.
    const float sum = simd::sum(totals_[r]);
    const simd::Vector total = simd::splat(sum);
    simd::Vector care = simd::splat(0);
    simd::map(row.data(), row.data(), row.size(), [&](simd::Vector x) {
      const simd::Vector result = wasm_f32x4_div(x, total);
      care = simd::multiply_add(result, simd::splat(0), care);
      return result;
    });
    // Also where a score is NaN: parts of an overflowing sum may be +∞ and −∞ that in order are
    // not.
    if (std::isnan(simd::sum(care))) attend_row(block_, first_ + r);
  }

  const Block& block_;
  std::size_t first_;
  Exponential exponential_;
  float* scores_;  // [kRows, kBlockKeys]
  float maxima_[kRows];
  simd::Vector totals_[kRows];
  simd::Vector factors_[kRows];  // what the former sums are to be multiplied by
  bool seen_[kRows] = {};
};

}  // namespace

void attend_few(const Block& block, std::size_t first, const float* constants, Floats scratch) {
  switch (block.count - first) {
    case 3:
      return Few<3>(block, first, constants, scratch.data()).run();
    case 2:
      return Few<2>(block, first, constants, scratch.data()).run();
    default:
      return Few<1>(block, first, constants, scratch.data()).run();
  }
}

}  // namespace attn
