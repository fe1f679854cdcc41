// Attention in one go: the result without its stages, in memory that grows as T and not as T².
//
// The same semantics as the pipeline, corner for corner; the numbers differ by roundings only. The
// softmax is worked over blocks of keys with a running maximum and sum (Milakov and Gimelshein
// 2018, arXiv:1805.02867; Rabe and Staats 2021, arXiv:2112.05682).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/arena.hpp"
#include "attn/kernels.hpp"
#include "attn/mask.hpp"
#include "attn/matrix.hpp"
#include "attn/stages.hpp"
#include "attn/status.hpp"

namespace attn {

// Rows of a key/value head are worked in blocks of so many, which share its keys and values.
inline constexpr std::int64_t kRowBlock = 64;

class Attention {
 public:
  // Checks the configuration and makes room for inputs and output; all numbers are 0 afterwards,
  // and a mask hides nothing. Q, K and V are given and the result is one matrix a head: from_x,
  // context, output_projection, gradients and d_model do not count. With config.masked the axes and
  // the kind of `mask` are those of every mask to come; its numbers do not count yet. After a
  // refusal the former configuration and its numbers stand, except kOutOfMemory, which leaves
  // nothing configured. Only this function takes memory, and it never gives any back before the
  // end.
  Status configure(const Config& config, const GivenMask& mask = {});

  const Config& config() const { return config_; }

  // The factor of the raw scores.
  float scale() const { return scale_; }

  // What kQ, kPresentKey and kPresentValue have in the stage table: [batch, heads, T_q, d_k],
  // [batch, kv_heads, T_k, d_k] and [batch, kv_heads, T_k, d_v], row-major, with or without a past.
  // To be written; empty for any other stage.
  Floats input(StageId stage);

  // The place for the numbers of a mask, as many as its axes have; empty without one.
  Floats mask_staging();

  // Takes a mask; `values` may lie in mask_staging(). After a refusal the mask hides nothing.
  Status set_mask(ConstFloats values);

  // How many rows the result has: batch·heads·T_q, batch and head outermost.
  std::int64_t rows() const;

  // Computes the rows first <= row < last of the result, whatever else was computed before. Ranges
  // that begin and end at multiples of kRowBlock within a key/value head give the same bits as a
  // whole run.
  void run(std::int64_t first, std::int64_t last);

  // The result, [batch, heads, T_q, d_v].
  ConstFloats output() const;

 private:
  // Where an array lies in the arena, in floats.
  struct Place {
    std::size_t offset = 0;
    std::size_t count = 0;
  };

  enum Array : std::uint8_t { kLengths, kQueries, kKeys, kValues, kMask, kResult, kScratch, kEnd };
  using Layout = std::array<Place, kEnd + 1>;

  static Status lay_out(const Config& config, std::int64_t mask_cells, Layout& layout);
  Floats array(Array array) const;
  void run_block(std::int64_t batch, std::int64_t kv_head, std::int64_t first, std::size_t count);

  Config config_;
  float scale_ = 1;
  bool configured_ = false;
  bool boolean_mask_ = false;
  std::array<std::int64_t, 4> mask_axes_{1, 1, 1, 1};
  Arena arena_;
  Layout layout_{};
};

}  // namespace attn
