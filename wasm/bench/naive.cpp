// The baseline of `npm run bench`: attention as anybody would write it first, without vectors.
#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace {

// softmax(q·Kᵀ/√d)·V of one query q [d] over K and V [keys, d]; `scores` [keys] is scratch.
void attend_row(const float* q, const float* k, const float* v, float* out, float* scores,
                std::size_t keys, std::size_t d) {
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  float maximum = -INFINITY;
  for (std::size_t j = 0; j < keys; ++j) {
    float dot = 0;
    for (std::size_t c = 0; c < d; ++c) dot += q[c] * k[j * d + c];
    scores[j] = dot * scale;
    maximum = std::fmax(maximum, scores[j]);
  }
  float sum = 0;
  for (std::size_t j = 0; j < keys; ++j) {
    scores[j] = std::exp(scores[j] - maximum);
    sum += scores[j];
  }
  for (std::size_t c = 0; c < d; ++c) out[c] = 0;
  for (std::size_t j = 0; j < keys; ++j) {
    for (std::size_t c = 0; c < d; ++c) out[c] += scores[j] / sum * v[j * d + c];
  }
}

}  // namespace

extern "C" {

// Null when the module's fixed memory is used up. What is reserved stays so.
float* reserve(std::size_t floats) {
  return static_cast<float*>(std::malloc(floats * sizeof(float)));
}

// q, out [heads, tq, d]; k, v [heads, tk, d]; scores [tk]. Causal: query i sees keys 0 to i.
void attend(const float* q, const float* k, const float* v, float* out, float* scores,
            std::size_t heads, std::size_t tq, std::size_t tk, std::size_t d, bool causal) {
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t i = 0; i < tq; ++i) {
      const std::size_t row = (h * tq + i) * d;
      const std::size_t matrix = h * tk * d;
      attend_row(q + row, k + matrix, v + matrix, out + row, scores, causal ? i + 1 : tk, d);
    }
  }
}

}  // extern "C"
