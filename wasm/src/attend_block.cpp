// Fused attention of a block of rows. Lanes are queries wherever there are four of them: then the
// softmax needs nothing across lanes, and keys and values are read as they lie.
#include "attend_block.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "attend_few.hpp"
#include "attend_row.hpp"
#include "attn/kernels.hpp"
#include "attn/stages.hpp"
#include "exponential.hpp"
#include "simd.hpp"
#include "tile.hpp"

namespace attn {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();
// Keys a turn: a multiple of both heights of a tile; their rows stay in the first cache.
constexpr std::size_t kBlockKeys = 96;
// The widest panel: its sums fill the registers.
constexpr std::size_t kPanelRows = 2 * simd::kLanes;

// The parts of the scratch.
struct Scratch {
  float* constants;  // [16], of Exponential
  float* scores;     // [kBlockKeys, kPanelRows]
  float* mask;       // the same
  float* rows;       // for every row of the block what a panel keeps

  explicit Scratch(float* from)
      : constants(from),
        scores(constants + 16),
        mask(scores + kBlockKeys * kPanelRows),
        rows(mask + kBlockKeys * kPanelRows) {}
};

// transpose() by squares of 4 × 4, where rows or columns come in fours.
void transpose_squares(ConstMatrix in, Matrix out) {
  const std::size_t rows = in.rows / simd::kLanes * simd::kLanes;
  const std::size_t cols = in.cols / simd::kLanes * simd::kLanes;
  for (std::size_t j = 0; j < cols; j += simd::kLanes) {
    for (std::size_t i = 0; i < rows; i += simd::kLanes) {
      simd::transpose_square(in.row(i) + j, in.stride, out.row(j) + i, out.stride);
    }
  }
  const std::size_t rest = in.cols - cols;
  transpose(in.columns(cols, rest), out.row_block(cols, rest));
  transpose(in.row_block(rows, in.rows - rows), out.columns(rows, in.rows - rows));
}

// Running maximum, running sum, the factor of the former sums, and whether a key was seen.
constexpr std::size_t kStateNumbers = 4;

// Up to 4·kVectors query rows of a block, a lane each, against all keys.
template <std::size_t kVectors>
class Panel {
 public:
  static constexpr std::size_t kRows = kVectors * simd::kLanes;

  // `memory` holds kRows·(d_k + d_v + kStateNumbers) numbers.
  Panel(const Block& block, std::size_t first, const Scratch& scratch, float* memory)
      : block_(block),
        first_(first),
        scratch_(scratch),
        queries_(memory),
        sums_(queries_ + kRows * block.keys.cols),
        maxima_(sums_ + kRows * block.values.cols),
        totals_(maxima_ + kRows),
        factors_(totals_ + kRows),
        seen_(factors_ + kRows) {
    const auto [least, most] =
        std::minmax_element(&block.limits[first], &block.limits[first] + kRows);
    all_see_ = static_cast<std::size_t>(*least);
    limit_ = static_cast<std::size_t>(*most);
    for (std::size_t r = 1; block.masked && r < kRows; ++r) {
      if (block.masks[first + r] != block.masks[first]) same_mask_ = false;
    }
    transpose_squares(
        {block.queries + first * block.keys.cols, kRows, block.keys.cols, block.keys.cols},
        {queries_, block.keys.cols, kRows, kRows});
    std::fill(sums_, maxima_, 0.0F);
    std::fill(maxima_, totals_, kHidden);
    std::fill(totals_, seen_ + kRows, 0.0F);
  }

  // Takes in the keys from `start` on, at most kBlockKeys.
  void add_keys(std::size_t start) {
    if (start >= limit_) return;
    const std::size_t count = std::min(kBlockKeys, limit_ - start);
    Lanes max = load(maxima_);
    compute_scores(start, count, max);
    if (block_.softcap || block_.masked || start + count > all_see_) {
      max = load(maxima_);
      adjust_scores(start, count, max);
    } else {
      for (std::size_t v = 0; v < kVectors; ++v) {
        simd::store(seen_ + v * simd::kLanes, wasm_i32x4_splat(-1));
      }
    }
    exponentiate(count, max);
    blend(start, count);
  }

  void finish() {
    const std::size_t width = block_.values.cols;
    float* const out = block_.out + first_ * width;
    std::uint32_t careful = 0;  // a bit a row
    for (std::size_t v = 0; v < kVectors; ++v) {
      const simd::Vector total = simd::load(totals_ + v * simd::kLanes);
      const simd::Vector seen = simd::load(seen_ + v * simd::kLanes);
      simd::Vector odd = simd::splat(0);
      // A true division: with one visible key x·2²³/2²³ is exactly x.
      for (std::size_t c = 0; c < width; ++c) {
        float* const sum = sums_ + c * kRows + v * simd::kLanes;
        const simd::Vector result = wasm_v128_and(wasm_f32x4_div(simd::load(sum), total), seen);
        odd = simd::multiply_add(result, simd::splat(0), odd);
        simd::store(sum, result);
      }
      const simd::Vector rows =
          wasm_v128_and(wasm_f32x4_ne(odd, odd), wasm_f32x4_gt(total, simd::splat(0)));
      careful |= static_cast<std::uint32_t>(wasm_i32x4_bitmask(rows)) << (v * simd::kLanes);
    }
    transpose_squares({sums_, width, kRows, kRows}, {out, kRows, width, width});
    for (; careful != 0; careful &= careful - 1) {
      attend_row(block_, first_ + static_cast<std::size_t>(std::countr_zero(careful)));
    }
  }

  std::size_t limit() const { return limit_; }

 private:
  struct Lanes {
    simd::Vector vectors[kVectors];
  };

  static Lanes load(const float* from) {
    Lanes lanes;
    for (std::size_t v = 0; v < kVectors; ++v) {
      lanes.vectors[v] = simd::load(from + v * simd::kLanes);
    }
    return lanes;
  }

  // scores[j] = scale · key · queries, and the maxima with them.
  void compute_scores(std::size_t start, std::size_t count, Lanes& max) {
    const std::size_t width = block_.keys.cols;
    const float* const keys = block_.keys.row(start);
    const simd::Vector scale = simd::splat(block_.scale);
    // Members would be read anew after every store.
    float* const scores = scratch_.scores;
    const float* const queries = queries_;
    for_each_row_tile(count, [&]<std::size_t kTile>(std::size_t j) {
      auto tile = Tile<kTile, kVectors>::zero();
      tile.add_product(keys + j * width, width, 1, queries, kRows, width);
      float* const to = scores + j * kRows;
      for (std::size_t r = 0; r < kTile; ++r) {
        for (std::size_t v = 0; v < kVectors; ++v) {
          const simd::Vector score = wasm_f32x4_mul(tile.sums[r][v], scale);
          max.vectors[v] = wasm_f32x4_pmax(max.vectors[v], score);
          simd::store(to + r * kRows + v * simd::kLanes, score);
        }
      }
    });
  }

  // Softcap and mask; also sets `max` and who has seen a key.
  void adjust_scores(std::size_t start, std::size_t count, Lanes& max) {
    if (block_.softcap) {
      const Floats scores{scratch_.scores, count * kRows};
      softcap(scores, *block_.softcap, scores);
    }
    if (block_.masked && !same_mask_) spread_mask(start, count);
    const simd::Vector hidden = simd::splat(kHidden);
    for (std::size_t v = 0; v < kVectors; ++v) {
      const simd::Vector limits = wasm_v128_load(&block_.limits[first_ + v * simd::kLanes]);
      simd::Vector seen = simd::load(seen_ + v * simd::kLanes);
      for (std::size_t j = 0; j < count; ++j) {
        const std::size_t at = j * kRows + v * simd::kLanes;
        simd::Vector score = simd::load(scratch_.scores + at);
        simd::Vector visible =
            wasm_i32x4_gt(limits, wasm_i32x4_splat(static_cast<std::int32_t>(start + j)));
        if (block_.masked) {
          const simd::Vector mask =
              same_mask_ ? simd::load_splat(block_.masks[first_] + (start + j) * block_.mask_step)
                         : simd::load(scratch_.mask + at);
          visible = wasm_v128_and(visible, wasm_f32x4_ne(mask, hidden));
          score = wasm_f32x4_add(score, mask);
        }
        score = wasm_v128_bitselect(score, hidden, visible);
        seen = wasm_v128_or(seen, visible);
        max.vectors[v] = wasm_f32x4_pmax(max.vectors[v], score);
        simd::store(scratch_.scores + at, score);
      }
      simd::store(seen_ + v * simd::kLanes, seen);
    }
  }

  // The masks of the rows with a row a lane.
  void spread_mask(std::size_t start, std::size_t count) {
    const float* const first = block_.masks[first_];
    const std::ptrdiff_t stride = block_.masks[first_ + 1] - first;
    bool even = block_.mask_step == 1 && stride > 0;
    for (std::size_t r = 1; r < kRows; ++r) {
      if (block_.masks[first_ + r] - block_.masks[first_ + r - 1] != stride) even = false;
    }
    if (even) {
      transpose_squares({first + start, kRows, count, static_cast<std::size_t>(stride)},
                        {scratch_.mask, count, kRows, kRows});
      return;
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      const float* const mask = block_.masks[first_ + r];
      for (std::size_t j = 0; j < count; ++j) {
        scratch_.mask[j * kRows + r] = mask[(start + j) * block_.mask_step];
      }
    }
  }

  // Scores become exponentials of the differences to the new maxima; also the factor of the former
  // sums. Sums of a block start anew: a long chain of them would no longer see what is added.
  void exponentiate(std::size_t count, const Lanes& max) {
    const Exponential exponential(scratch_.constants);
    for (std::size_t v = 0; v < kVectors; ++v) {
      float* const maximum = maxima_ + v * simd::kLanes;
      float* const total = totals_ + v * simd::kLanes;
      // While all scores are −∞ they are subtracted from nothing: −∞ − −∞ would be NaN.
      const simd::Vector none = wasm_f32x4_eq(max.vectors[v], simd::splat(kHidden));
      const simd::Vector base = wasm_v128_andnot(max.vectors[v], none);
      const simd::Vector factor = exponential.factor(wasm_f32x4_sub(simd::load(maximum), base));
      simd::store(maximum, max.vectors[v]);
      simd::store(factors_ + v * simd::kLanes, factor);
      simd::store(total, wasm_f32x4_mul(simd::load(total), factor));
      simd::Vector sum = simd::splat(0);
      float* score = scratch_.scores + v * simd::kLanes;
      for (std::size_t j = 0; j < count; ++j, score += kRows) {
        const simd::Vector value = exponential(wasm_f32x4_sub(simd::load(score), base));
        sum = wasm_f32x4_add(sum, value);
        simd::store(score, value);
      }
      simd::store(total, wasm_f32x4_add(simd::load(total), sum));
    }
  }

  // sums = sums·factor + exponentials·values
  void blend(std::size_t start, std::size_t count) {
    const std::size_t width = block_.values.cols;
    const float* const values = block_.values.row(start);
    const float* const weights = scratch_.scores;
    float* const all_sums = sums_;
    const float* const factors = factors_;
    for_each_row_tile(width, [&]<std::size_t kTile>(std::size_t c) {
      auto tile = Tile<kTile, kVectors>::zero();
      tile.add_product(values + c, 1, width, weights, kRows, count);
      float* const sums = all_sums + c * kRows;
      // Not before: they would take registers from the product.
      const Lanes factor = load(factors);
      for (std::size_t r = 0; r < kTile; ++r) {
        for (std::size_t v = 0; v < kVectors; ++v) {
          float* const sum = sums + r * kRows + v * simd::kLanes;
          const simd::Vector former = simd::load(sum);
          simd::store(sum, simd::multiply_add(former, factor.vectors[v], tile.sums[r][v]));
        }
      }
    });
  }

  const Block& block_;
  std::size_t first_;
  Scratch scratch_;
  float* queries_;           // [d_k, kRows]
  float* sums_;              // [d_v, kRows], exponentials · values
  float* maxima_;            // [kRows]
  float* totals_;            // [kRows]
  float* factors_;           // [kRows]
  float* seen_;              // [kRows], all bits or none
  std::size_t all_see_ = 0;  // keys below this no limit hides
  std::size_t limit_ = 0;    // keys from this on are hidden from all
  bool same_mask_ = true;
};

}  // namespace

std::int64_t scratch_of_block(std::int64_t rows, std::int64_t d_k, std::int64_t d_v) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  const std::int64_t whole = std::min<std::int64_t>(rows, kBlockRows);
  const std::int64_t kept = product(whole, d_k + d_v + std::int64_t{kStateNumbers});
  return std::min(kept, kMost) + 16 + std::int64_t{2 * kBlockKeys * kPanelRows};
}

void attend(const Block& block, float* memory) {
  const Scratch scratch(memory);
  Exponential::write(scratch.constants);
  float* next = scratch.rows;
  const std::size_t kept = block.keys.cols + block.values.cols + kStateNumbers;

  std::size_t row = 0;
  std::size_t limit = 0;
  std::array<std::optional<Panel<2>>, kBlockRows / kPanelRows> panels;
  std::size_t panel_count = 0;
  for (; row + kPanelRows <= block.count; row += kPanelRows, next += kPanelRows * kept) {
    panels[panel_count].emplace(block, row, scratch, next);
    limit = std::max(limit, panels[panel_count]->limit());
    ++panel_count;
  }
  for (std::size_t start = 0; start < limit; start += kBlockKeys) {
    for (std::size_t p = 0; p < panel_count; ++p) panels[p]->add_keys(start);
  }
  for (std::size_t p = 0; p < panel_count; ++p) panels[p]->finish();

  if (row + simd::kLanes <= block.count) {
    Panel<1> panel(block, row, scratch, next);
    for (std::size_t start = 0; start < panel.limit(); start += kBlockKeys) panel.add_keys(start);
    panel.finish();
    row += simd::kLanes;
  }
  if (row < block.count) {
    attend_few(block, row, scratch.constants, {scratch.scores, 2 * kBlockKeys * kPanelRows});
  }
}

}  // namespace attn
