// Matrix product in register tiles.
#include <algorithm>

#include "attn/kernels.hpp"
#include "simd.hpp"
#include "tile.hpp"

namespace attn {
namespace {

constexpr std::size_t kPanelCols = 2 * simd::kLanes;
// A block of b is packed, so that its panels lie in a row: 32 KB of the stack.
constexpr std::size_t kBlockCols = 8 * kPanelCols;
constexpr std::size_t kBlockDepth = 128;

// The first `count` lanes from or to memory, none or all four included. Not inlined: they are for
// the last columns only.
[[gnu::noinline]] simd::Vector load_lanes(const float* from, std::size_t count) {
  if (count == 0) return simd::splat(0);
  return count < simd::kLanes ? simd::load_first(from, count) : simd::load(from);
}

[[gnu::noinline]] void store_lanes(float* to, simd::Vector value, std::size_t count) {
  if (count >= simd::kLanes) {
    simd::store(to, value);
  } else if (count > 0) {
    simd::store_first(to, value, count);
  }
}

// A block of b, padded with zeros to whole panels, panel after panel.
struct PackedBlock {
  float cells[kBlockCols * kBlockDepth];

  const float* panel(std::size_t col) const { return cells + col * kBlockDepth; }

  void pack(ConstMatrix b) {
    for (std::size_t col = 0; col < b.cols; col += kPanelCols) {
      float* to = cells + col * kBlockDepth;
      const std::size_t count = b.cols - col;
      for (std::size_t l = 0; l < b.rows; ++l, to += kPanelCols) {
        const float* const from = b.row(l) + col;
        if (count >= kPanelCols) {
          simd::store(to, simd::load(from));
          simd::store(to + simd::kLanes, simd::load(from + simd::kLanes));
        } else {
          const std::size_t low = std::min(count, simd::kLanes);
          simd::store(to, load_lanes(from, low));
          simd::store(to + simd::kLanes, load_lanes(from + low, count - low));
        }
      }
    }
  }
};

// Rows of out, as many as it has, = or += rows of a · a packed block.
template <std::size_t kRows>
void multiply_rows(ConstMatrix a, const PackedBlock& b, bool add, Matrix out) {
  for (std::size_t col = 0; col < out.cols; col += kPanelCols) {
    const std::size_t count = out.cols - col;
    const std::size_t low = std::min(count, simd::kLanes);
    auto tile = Tile<kRows, 2>::zero();
    if (add && count >= kPanelCols) {
      tile = Tile<kRows, 2>::load(out.data + col, out.stride);
    } else if (add) {
      for (std::size_t r = 0; r < kRows; ++r) {
        tile.sums[r][0] = load_lanes(out.row(r) + col, low);
        tile.sums[r][1] = load_lanes(out.row(r) + col + low, count - low);
      }
    }
    tile.add_product(a.data, a.stride, 1, b.panel(col), kPanelCols, a.cols);
    if (count >= kPanelCols) {
      tile.store(out.data + col, out.stride);
    } else {
      for (std::size_t r = 0; r < kRows; ++r) {
        store_lanes(out.row(r) + col, tile.sums[r][0], low);
        store_lanes(out.row(r) + col + low, tile.sums[r][1], count - low);
      }
    }
  }
}

// out = or += a · a packed block of b. Four rows at a time and one: higher tiles, and one for each
// count that they leave over, would be downloaded by everybody.
void multiply_block(ConstMatrix a, const PackedBlock& b, bool add, Matrix out) {
  std::size_t i = 0;
  const auto multiply = [&]<std::size_t kRows>() {
    for (; i + kRows <= a.rows; i += kRows) {
      multiply_rows<kRows>(a.row_block(i, kRows), b, add, out.row_block(i, kRows));
    }
  };
  multiply.operator()<4>();
  multiply.operator()<1>();
}

}  // namespace

void matmul(ConstMatrix a, ConstMatrix b, Matrix out) {
  PackedBlock block;
  for (std::size_t j = 0; j < b.cols; j += kBlockCols) {
    const std::size_t cols = std::min(kBlockCols, b.cols - j);
    // At least once: without depth the product is 0.
    for (std::size_t l = 0; l == 0 || l < b.rows; l += kBlockDepth) {
      const std::size_t depth = std::min(kBlockDepth, b.rows - l);
      block.pack(b.row_block(l, depth).columns(j, cols));
      multiply_block(a.columns(l, depth), block, l > 0, out.columns(j, cols));
    }
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
