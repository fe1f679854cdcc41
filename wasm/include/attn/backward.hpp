// Products for gradients, which leave out pairs of a query and a key that the mask hides.
//
// `mask` is a matrix of one number for each pair, −∞ where the key is hidden, or has no data where
// there is no mask. What is left out has no influence, whatever numbers stand there.
#pragma once

#include "attn/kernels.hpp"
#include "attn/matrix.hpp"

namespace attn {

// out[m,n] += a[m,k]·b[k,n]; mask[m,k]. Every cell is summed in the order of k, as by matmul.
void add_product(ConstMatrix a, ConstMatrix b, ConstMatrix mask, Matrix out);

// out[k,n] += a[m,k]ᵀ·b[m,n]; mask[m,k].
void add_transposed_product(ConstMatrix a, ConstMatrix b, ConstMatrix mask, Matrix out);

// out[m,k] += a[m,n]·b[k,n]ᵀ where visible; mask[m,k].
void add_product_transposed(ConstMatrix a, ConstMatrix b, ConstMatrix mask, Matrix out);

// The derivative of c·tanh(s/c) at s.
float softcap_slope(float score, float cap);

// One row of out = a ⊙ (da − Σ da ⊙ a), 0 where hidden; mask (empty: none).
void softmax_gradient(ConstFloats weights, ConstFloats d_weights, ConstFloats mask, Floats out);

}  // namespace attn
