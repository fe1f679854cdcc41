// What a row of attention weights is like: how sharp it is and how much it can still move.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "attn/kernels.hpp"

namespace attn {

// Of the weights a[j] = e^(s[j] − m) / Σ e^(s − m) of one row of scores s, m its maximum, worked in
// double from the float32 scores and kept within the range of each. NaN throughout if a visible
// score is NaN or +∞. Without a visible key all are 0 but the saturation, which is NaN.
struct RowStatistics {
  double maximum = 0;         // max a
  double entropy = 0;         // −Σ a·ln a in nats, with 0·ln 0 = 0
  double effective_keys = 0;  // e^entropy: as many keys, equally attended, have this entropy
  double jacobian_norm = 0;   // ‖diag(a) − a·aᵀ‖, Frobenius
  double saturation = 0;      // 1 − entropy/ln n for n visible keys, 0 for n = 1
};

// The numbers of a row, in the order of their declaration.
inline constexpr std::array kRowNumbers{&RowStatistics::maximum, &RowStatistics::entropy,
                                        &RowStatistics::effective_keys,
                                        &RowStatistics::jacobian_norm, &RowStatistics::saturation};

inline constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
inline constexpr RowStatistics kUndefinedRow{kUndefined, kUndefined, kUndefined, kUndefined,
                                             kUndefined};

// `mask` (empty: no mask) hides the keys where it is −∞, and it alone.
RowStatistics row_statistics(ConstFloats scores, ConstFloats mask);

// Many rows taken together, such as those of a head or of all heads of a batch. A row without a
// visible key is only counted: in a mean its zeros would pass for a sharp row. Mean and largest are
// NaN throughout where there is no other row, or one that is NaN.
struct RowsSummary {
  std::int64_t rows = 0;
  std::int64_t empty = 0;                 // rows without a visible key
  RowStatistics mean = kUndefinedRow;     // of each number over the rows with a visible key
  RowStatistics largest = kUndefinedRow;  // of each number over the same rows

  void add(const RowStatistics& row);
};

}  // namespace attn
