// Matrix product in register tiles.
#include <algorithm>
#include <array>

#include "attn/kernels.hpp"
#include "simd.hpp"

namespace attn {
namespace {

// The widest tile: 4 rows × 8 columns keep 8 sums in registers and leave room for a row of b.
constexpr std::size_t kTileRows = 4;
constexpr std::size_t kTileCols = 2 * simd::kLanes;

// kCols floats in registers; the last vector may be partial.
template <std::size_t kCols>
struct Panel {
  static constexpr std::size_t kFull = kCols / simd::kLanes;
  static constexpr std::size_t kRest = kCols % simd::kLanes;
  static constexpr std::size_t kVectors = kFull + (kRest > 0 ? 1 : 0);

  simd::Vector vectors[kVectors];

  static Panel zero() {
    Panel panel;
    for (simd::Vector& vector : panel.vectors) vector = simd::splat(0);
    return panel;
  }

  static Panel load(const float* from) {
    Panel panel;
    for (std::size_t v = 0; v < kFull; ++v) panel.vectors[v] = simd::load(from + v * simd::kLanes);
    if constexpr (kRest > 0) {
      panel.vectors[kFull] = simd::load_first(from + kFull * simd::kLanes, kRest);
    }
    return panel;
  }

  void store(float* to) const {
    for (std::size_t v = 0; v < kFull; ++v) simd::store(to + v * simd::kLanes, vectors[v]);
    if constexpr (kRest > 0) {
      simd::store_first(to + kFull * simd::kLanes, vectors[kFull], kRest);
    }
  }

  // *this += factor·other
  void add(simd::Vector factor, const Panel& other) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      vectors[v] = simd::multiply_add(factor, other.vectors[v], vectors[v]);
    }
  }
};

// out[kRows,kCols] = a[kRows,k]·b[k,kCols].
template <std::size_t kRows, std::size_t kCols>
void multiply_tile(ConstMatrix a, ConstMatrix b, Matrix out) {
  std::array<Panel<kCols>, kRows> sums;
  sums.fill(Panel<kCols>::zero());
  for (std::size_t l = 0; l < b.rows; ++l) {
    const auto b_row = Panel<kCols>::load(b.row(l));
    for (std::size_t r = 0; r < kRows; ++r) sums[r].add(simd::splat(a.at(r, l)), b_row);
  }
  for (std::size_t r = 0; r < kRows; ++r) sums[r].store(out.row(r));
}

// All rows of a against one panel of b.
template <std::size_t kCols>
void multiply_panel(ConstMatrix a, ConstMatrix b, Matrix out) {
  std::size_t i = 0;
  for (; i + kTileRows <= a.rows; i += kTileRows) {
    multiply_tile<kTileRows, kCols>(a.row_block(i, kTileRows), b, out.row_block(i, kTileRows));
  }
  for (; i < a.rows; ++i) multiply_tile<1, kCols>(a.row_block(i, 1), b, out.row_block(i, 1));
}

}  // namespace

void matmul(ConstMatrix a, ConstMatrix b, Matrix out) {
  std::size_t j = 0;
  const auto panel = [&]<std::size_t kCols>() {
    multiply_panel<kCols>(a, b.columns(j, kCols), out.columns(j, kCols));
    j += kCols;
  };
  while (b.cols - j >= kTileCols) panel.operator()<kTileCols>();
  if (b.cols - j >= simd::kLanes) panel.operator()<simd::kLanes>();
  switch (b.cols - j) {
    case 3:
      return panel.operator()<3>();
    case 2:
      return panel.operator()<2>();
    case 1:
      return panel.operator()<1>();
    default:
      return;
  }
}

void transpose(ConstMatrix in, Matrix out) {
  // Blocks keep the lines that are written in the cache.
  constexpr std::size_t kBlock = 16;
  for (std::size_t i0 = 0; i0 < in.rows; i0 += kBlock) {
    const std::size_t i1 = std::min(i0 + kBlock, in.rows);
    for (std::size_t j = 0; j < in.cols; ++j) {
      for (std::size_t i = i0; i < i1; ++i) out.at(j, i) = in.at(i, j);
    }
  }
}

void copy(ConstMatrix in, Matrix out) {
  for (std::size_t i = 0; i < in.rows; ++i) std::copy_n(in.row(i), in.cols, out.row(i));
}

}  // namespace attn
