// A row-major matrix that somebody else owns.
#pragma once

#include <concepts>
#include <cstddef>

namespace attn {

// rows × cols elements; row i begins at data + i·stride. T is float or const float.
template <typename T>
struct MatrixView {
  T* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;

  constexpr T* row(std::size_t i) const { return data + i * stride; }
  constexpr T& at(std::size_t i, std::size_t j) const { return data[i * stride + j]; }

  // The block of `count` columns that begins at column `first`.
  constexpr MatrixView columns(std::size_t first, std::size_t count) const {
    return {data + first, rows, count, stride};
  }

  // The block of `count` rows that begins at row `first`.
  constexpr MatrixView row_block(std::size_t first, std::size_t count) const {
    return {data + first * stride, count, cols, stride};
  }

  template <std::same_as<const T> U>
  constexpr operator MatrixView<U>() const {
    return {data, rows, cols, stride};
  }
};

using Matrix = MatrixView<float>;
using ConstMatrix = MatrixView<const float>;

}  // namespace attn
