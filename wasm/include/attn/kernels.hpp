// The arithmetic of the stages on plain arrays: no memory of their own, no errors, any length.
//
// Outputs come last and do not overlap inputs unless said; what takes numbers one by one may write
// where it reads. Numbers follow IEEE 754 (no fast-math), so NaN and ±∞ travel as the formulas say.
#pragma once

#include <span>

#include "attn/matrix.hpp"

namespace attn {

using Floats = std::span<float>;
using ConstFloats = std::span<const float>;

// out[m,n] = a[m,k]·b[k,n]; k = 0 gives zeros. Every cell is summed in the order of k.
void matmul(ConstMatrix a, ConstMatrix b, Matrix out);

// out[n,m] = in[m,n] transposed.
void transpose(ConstMatrix in, Matrix out);

// out[m,n] = in[m,n]; the strides may differ.
void copy(ConstMatrix in, Matrix out);

// out = in·factor.
void scale(ConstFloats in, float factor, Floats out);

// out = cap·tanh(in/cap).
void softcap(ConstFloats in, float cap, Floats out);

// out = scores + mask, and −∞ where the mask is −∞, even for a NaN score.
void add_mask(ConstFloats scores, ConstFloats mask, Floats out);

// The largest score; −∞ for none, NaN if any is NaN.
float row_max(ConstFloats scores);

// out = scores − max. Where `mask` (empty: no mask) is −∞ the result is −∞ whatever max is.
void subtract_max(ConstFloats scores, ConstFloats mask, float max, Floats out);

// out = eⁱⁿ within 2e-7 of its value: e⁰ = 1 and e^−∞ = 0 exactly, NaN stays, too large gives +∞.
void exponential(ConstFloats in, Floats out);

// Σ in; 0 for none. Four running sums, one a lane, are joined at the end.
float row_sum(ConstFloats in);

// out = in/sum; zeros where sum is 0, which means that no key is visible. Where `mask` (empty: no
// mask) is −∞ the result is 0 even if sum is NaN.
void divide(ConstFloats in, ConstFloats mask, float sum, Floats out);

}  // namespace attn
