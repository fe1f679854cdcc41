// What a row of attention weights is like: how sharp it is and how much it can still move.
#pragma once

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

// `mask` (empty: no mask) hides the keys where it is −∞, and it alone.
RowStatistics row_statistics(ConstFloats scores, ConstFloats mask);

}  // namespace attn
