// The register tile that every matrix product is made of.
#pragma once

#include <cstddef>

#include "simd.hpp"

namespace attn {

// kRows × (4·kVectors) sums in registers.
template <std::size_t kRows, std::size_t kVectors>
struct Tile {
  simd::Vector sums[kRows][kVectors];

  static Tile zero() {
    Tile tile;
    for (auto& row : tile.sums) {
      for (simd::Vector& sum : row) sum = simd::splat(0);
    }
    return tile;
  }

  static Tile load(const float* from, std::size_t stride) {
    Tile tile;
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        tile.sums[r][v] = simd::load(from + r * stride + v * simd::kLanes);
      }
    }
    return tile;
  }

  void store(float* to, std::size_t stride) const {
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        simd::store(to + r * stride + v * simd::kLanes, sums[r][v]);
      }
    }
  }

  // sums[r] += Σ_l a[r·a_row + l·a_step]·b[l·b_step …], in the order of l < count.
  void add_product(const float* a, std::size_t a_row, std::size_t a_step, const float* b,
                   std::size_t b_step, std::size_t count) {
    for (std::size_t l = 0; l < count; ++l) {
      simd::Vector b_row[kVectors];
      for (std::size_t v = 0; v < kVectors; ++v) b_row[v] = simd::load(b + v * simd::kLanes);
      for (std::size_t r = 0; r < kRows; ++r) {
        const simd::Vector factor = simd::load_splat(a + r * a_row);
        for (std::size_t v = 0; v < kVectors; ++v) {
          sums[r][v] = simd::multiply_add(factor, b_row[v], sums[r][v]);
        }
      }
      a += a_step;
      b += b_step;
    }
  }
};

// Calls work.operator()<kRows>(first) for row tiles that together cover `count` rows: as many as
// possible of simd::kTileRows, then one of what is left.
template <typename Work>
void for_each_row_tile(std::size_t count, Work work) {
  std::size_t i = 0;
  for (; i + simd::kTileRows <= count; i += simd::kTileRows) {
    work.template operator()<simd::kTileRows>(i);
  }
  static_assert(simd::kTileRows <= 6);
  switch (count - i) {
    case 5:
      return work.template operator()<5>(i);
    case 4:
      return work.template operator()<4>(i);
    case 3:
      return work.template operator()<3>(i);
    case 2:
      return work.template operator()<2>(i);
    case 1:
      return work.template operator()<1>(i);
    default:
      return;
  }
}

}  // namespace attn
