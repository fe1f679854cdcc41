// The oracle for whole layers: the result of any configuration, in double and plain loops.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "attn/stages.hpp"

namespace attn::reference {

// Every given stage, row-major; a past under kPresentKey and kPresentValue ([batch, kv_heads, past,
// width]), and under kMask what is added to each score, all that hides together.
using Inputs = std::map<StageId, std::vector<double>>;

namespace detail {

class Layer {
 public:
  Layer(const Config& config, const Inputs& inputs) : c_(config), in_(inputs) {}

  // [batch, T_q, d_model with W_o, else H·d_v]
  std::vector<double> result() const {
    std::vector<double> out;
    for (std::int64_t b = 0; b < c_.batch; ++b) {
      for (std::int64_t i = 0; i < c_.tq; ++i) {
        std::vector<double> concat;
        for (std::int64_t h = 0; h < c_.heads; ++h) append_head(b, h, i, concat);
        if (!c_.output_projection) {
          out.insert(out.end(), concat.begin(), concat.end());
          continue;
        }
        for (std::int64_t m = 0; m < c_.d_model; ++m) {
          double sum = 0;
          for (std::size_t r = 0; r < concat.size(); ++r) {
            sum += concat[r] * at(StageId::kWo, static_cast<std::int64_t>(r) * c_.d_model + m);
          }
          out.push_back(sum);
        }
      }
    }
    return out;
  }

 private:
  double at(StageId stage, std::int64_t index) const {
    return in_.at(stage)[static_cast<std::size_t>(index)];
  }

  // Row · columns of one head of a projection.
  double projected(StageId x, std::int64_t row, StageId weights, std::int64_t cols,
                   std::int64_t col) const {
    double sum = 0;
    for (std::int64_t m = 0; m < c_.d_model; ++m) {
      sum += at(x, row * c_.d_model + m) * at(weights, m * cols + col);
    }
    return sum;
  }

  double query(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t d) const {
    if (!c_.from_x) return at(StageId::kQ, ((b * c_.heads + h) * c_.tq + i) * c_.d_k + d);
    return projected(StageId::kX, b * c_.tq + i, StageId::kWq, c_.heads * c_.d_k, h * c_.d_k + d);
  }

  // A key or a value, past ones first.
  double token(bool key, std::int64_t b, std::int64_t g, std::int64_t j, std::int64_t d) const {
    const std::int64_t width = key ? c_.d_k : c_.d_v;
    const std::int64_t matrix = b * c_.kv_heads + g;
    if (j < c_.past) {
      return at(key ? StageId::kPresentKey : StageId::kPresentValue,
                (matrix * c_.past + j) * width + d);
    }
    const std::int64_t rows = c_.tk - c_.past;
    const std::int64_t row = j - c_.past;
    if (!c_.from_x) {
      return at(key ? StageId::kK : StageId::kV, (matrix * rows + row) * width + d);
    }
    return projected(c_.context ? StageId::kXContext : StageId::kX, b * rows + row,
                     key ? StageId::kWk : StageId::kWv, c_.kv_heads * width, g * width + d);
  }

  void append_head(std::int64_t b, std::int64_t h, std::int64_t i,
                   std::vector<double>& concat) const {
    const std::int64_t g = h / (c_.heads / c_.kv_heads);
    const double scale = c_.scale      ? static_cast<double>(*c_.scale)
                         : c_.d_k == 0 ? 1
                                       : 1 / std::sqrt(static_cast<double>(c_.d_k));
    std::vector<std::int64_t> visible;
    std::vector<double> scores;
    double max = -HUGE_VAL;
    for (std::int64_t j = 0; j < c_.tk; ++j) {
      const double mask = in_.contains(StageId::kMask)
                              ? at(StageId::kMask, ((b * c_.heads + h) * c_.tq + i) * c_.tk + j)
                              : 0;
      if (mask == -HUGE_VAL) continue;
      double score = 0;
      for (std::int64_t d = 0; d < c_.d_k; ++d)
        score += query(b, h, i, d) * token(true, b, g, j, d);
      score *= scale;
      if (c_.softcap) {
        const double cap = *c_.softcap;
        score = cap * std::tanh(score / cap);
      }
      visible.push_back(j);
      scores.push_back(score + mask);
      max = std::fmax(max, scores.back());
    }
    double sum = 0;
    for (const double score : scores) sum += std::exp(score - max);
    for (std::int64_t d = 0; d < c_.d_v; ++d) {
      double blend = 0;
      for (std::size_t n = 0; n < visible.size(); ++n) {
        blend += std::exp(scores[n] - max) / sum * token(false, b, g, visible[n], d);
      }
      concat.push_back(blend);
    }
  }

  const Config& c_;
  const Inputs& in_;
};

}  // namespace detail

inline std::vector<double> result(const Config& config, const Inputs& inputs) {
  return detail::Layer(config, inputs).result();
}

}  // namespace attn::reference
