// The oracle: the same formulas in double and plain loops, for tests only.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "attn/matrix.hpp"

namespace attn::reference {

// A row-major matrix of doubles that owns its numbers.
struct Table {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<double> cells;

  Table(std::size_t r, std::size_t c) : rows(r), cols(c), cells(r * c, 0.0) {}

  explicit Table(ConstMatrix matrix) : Table(matrix.rows, matrix.cols) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < cols; ++j) at(i, j) = static_cast<double>(matrix.at(i, j));
    }
  }

  double& at(std::size_t i, std::size_t j) { return cells[i * cols + j]; }
  double at(std::size_t i, std::size_t j) const { return cells[i * cols + j]; }
};

inline Table matmul(const Table& a, const Table& b) {
  Table out(a.rows, b.cols);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < b.cols; ++j) {
      for (std::size_t l = 0; l < a.cols; ++l) out.at(i, j) += a.at(i, l) * b.at(l, j);
    }
  }
  return out;
}

inline Table transpose(const Table& in) {
  Table out(in.cols, in.rows);
  for (std::size_t i = 0; i < in.rows; ++i) {
    for (std::size_t j = 0; j < in.cols; ++j) out.at(j, i) = in.at(i, j);
  }
  return out;
}

// exp(s − max)/Σ along each row.
inline Table softmax(const Table& scores) {
  Table out(scores.rows, scores.cols);
  for (std::size_t i = 0; i < scores.rows; ++i) {
    double max = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < scores.cols; ++j) max = std::fmax(max, scores.at(i, j));
    double sum = 0;
    for (std::size_t j = 0; j < scores.cols; ++j) {
      sum += out.at(i, j) = std::exp(scores.at(i, j) - max);
    }
    for (std::size_t j = 0; j < scores.cols; ++j) out.at(i, j) /= sum;
  }
  return out;
}

// softmax(Q·Kᵀ·scale)·V for one head.
inline Table attention(const Table& q, const Table& k, const Table& v, double scale) {
  Table scores = matmul(q, transpose(k));
  for (double& score : scores.cells) score *= scale;
  return matmul(softmax(scores), v);
}

}  // namespace attn::reference
