// Statistics of a row in double, written so that nothing cancels when one weight is nearly 1.
#include "attn/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "elementary.hpp"

namespace attn {
namespace {

double square(double x) { return x * x; }

// The visible scores of a row, their number and the place of the largest.
class VisibleRow {
 public:
  VisibleRow(ConstFloats scores, ConstFloats mask) : scores_(scores), mask_(mask) {
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (!visible(j)) continue;
      ++count_;
      if (count_ == 1 || scores[j] > scores[top_]) top_ = j;
      defined_ = defined_ && scores[j] < std::numeric_limits<float>::infinity();
    }
    // A row of nothing but visible −∞ has no softmax.
    defined_ = defined_ && (count_ == 0 || std::isfinite(scores[top_]));
  }

  std::size_t count() const { return count_; }
  bool defined() const { return defined_; }

  // Calls f(gap) for every visible score but the largest, gap = maximum − score >= 0.
  template <typename F>
  void for_each_other(F f) const {
    const double max = scores_[top_];
    for (std::size_t j = 0; j < scores_.size(); ++j) {
      if (j != top_ && visible(j)) f(max - static_cast<double>(scores_[j]));
    }
  }

 private:
  bool visible(std::size_t j) const {
    return mask_.empty() || mask_[j] != -std::numeric_limits<float>::infinity();
  }

  ConstFloats scores_;
  ConstFloats mask_;
  std::size_t count_ = 0;
  std::size_t top_ = 0;
  bool defined_ = true;
};

}  // namespace

RowStatistics row_statistics(ConstFloats scores, ConstFloats mask) {
  const VisibleRow row(scores, mask);
  if (!row.defined()) return kUndefinedRow;
  if (row.count() == 0) return {.saturation = kUndefined};

  // Everything but the largest weight, whose exponential is 1.
  double others = 0;          // Σ e^−gap
  double others_squares = 0;  // Σ (e^−gap)²
  double gaps = 0;            // Σ gap·e^−gap
  row.for_each_other([&](double gap) {
    const double e = elementary::exp(-gap);
    others += e;
    others_squares += square(e);
    if (e > 0) gaps += gap * e;
  });
  const double sum = 1 + others;

  // Σᵢ aᵢ²(1 − aᵢ)² + Σ_{i≠j} aᵢ²aⱼ², times sum⁴. For the largest, sum − e is `others`.
  double norm = square(others) + others_squares;
  row.for_each_other([&](double gap) {
    const double e = elementary::exp(-gap);
    norm += square(e) * (square(sum - e) + 1 + (others_squares - square(e)));
  });

  const double uniform = elementary::log(static_cast<double>(row.count()));
  RowStatistics statistics;
  statistics.maximum = 1 / sum;
  // −Σ a·ln a = ln Σ e^−gap + Σ a·gap.
  statistics.entropy = std::clamp(elementary::log1p(others) + gaps / sum, 0.0, uniform);
  statistics.effective_keys =
      std::clamp(1 / elementary::exp(-statistics.entropy), 1.0, static_cast<double>(row.count()));
  statistics.jacobian_norm = std::sqrt(norm) / square(sum);
  statistics.saturation =
      row.count() == 1 ? 0 : std::clamp(1 - statistics.entropy / uniform, 0.0, 1.0);
  return statistics;
}

void RowsSummary::add(const RowStatistics& row) {
  ++rows;
  if (row.effective_keys == 0) {
    ++empty;
    return;
  }
  const auto count = static_cast<double>(rows - empty);
  for (const auto number : kRowNumbers) {
    const double one = row.*number;
    double& average = mean.*number;
    double& most = largest.*number;
    average = count == 1 ? one : average + (one - average) / count;
    // Nothing is above a NaN, which stays.
    if (count == 1 || one > most || std::isnan(one)) most = one;
  }
}

}  // namespace attn
