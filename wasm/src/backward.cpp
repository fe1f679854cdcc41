// The products of the backward pass, by whole rows.
#include "attn/backward.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "elementary.hpp"
#include "simd.hpp"

namespace attn {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

bool hidden(ConstMatrix mask, std::size_t i, std::size_t j) {
  return mask.data != nullptr && mask.at(i, j) == kHidden;
}

}  // namespace

void add_product(ConstMatrix a, ConstMatrix b, ConstMatrix mask, Matrix out) {
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.cols; ++j) {
      if (!hidden(mask, i, j)) simd::add_multiple(a.at(i, j), b.row(j), out.row(i), out.cols);
    }
  }
}

void add_transposed_product(ConstMatrix a, ConstMatrix b, ConstMatrix mask, Matrix out) {
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.cols; ++j) {
      if (!hidden(mask, i, j)) simd::add_multiple(a.at(i, j), b.row(i), out.row(j), out.cols);
    }
  }
}

void add_product_transposed(ConstMatrix a, ConstMatrix b, ConstMatrix mask, Matrix out) {
  for (std::size_t i = 0; i < out.rows; ++i) {
    for (std::size_t j = 0; j < out.cols; ++j) {
      if (!hidden(mask, i, j)) out.at(i, j) += simd::dot(a.row(i), b.row(j), a.cols);
    }
  }
}

float softcap_slope(float score, float cap) {
  // 1 − tanh² x = 4e/(1 + e)² with e = exp(−2|x|), in which nothing cancels.
  const double e = elementary::exp(-2 * std::abs(static_cast<double>(score) / cap));
  return static_cast<float>(4 * e / ((1 + e) * (1 + e)));
}

void softmax_gradient(ConstFloats weights, ConstFloats d_weights, ConstFloats mask, Floats out) {
  const auto visible = [&](std::size_t j) { return mask.empty() || mask[j] != kHidden; };
  // The weights add up to 1, so that any number may be taken off all of da. With that of the
  // largest weight nothing of the others is lost beside it.
  const auto largest = std::ranges::max_element(weights) - weights.begin();
  const double own = weights.empty() ? 0 : d_weights[static_cast<std::size_t>(largest)];
  const double taken_off = std::isfinite(own) ? own : 0;
  double mean = 0;
  for (std::size_t j = 0; j < out.size(); ++j) {
    if (visible(j)) mean += weights[j] * (d_weights[j] - taken_off);
  }
  for (std::size_t j = 0; j < out.size(); ++j) {
    const double above = d_weights[j] - taken_off - mean;
    out[j] = visible(j) ? static_cast<float>(weights[j] * above) : 0.0F;
  }
}

}  // namespace attn
