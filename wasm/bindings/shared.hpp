// What every class behind the boundary takes and gives: options, outcomes, views, staged lengths.
#pragma once

#include <emscripten/bind.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "attn/kernels.hpp"
#include "attn/stages.hpp"
#include "attn/status.hpp"

namespace attn::binding {

EMSCRIPTEN_DECLARE_VAL_TYPE(Float32View);
EMSCRIPTEN_DECLARE_VAL_TYPE(Float64View);
EMSCRIPTEN_DECLARE_VAL_TYPE(Int32View);

inline Float32View view_of(ConstFloats cells) {
  return Float32View(emscripten::val(emscripten::typed_memory_view(cells.size(), cells.data())));
}

// attn::Status with the code by name; "ok" is success.
struct Outcome {
  std::string code;
  std::string subject;
  double found;
  double expected;
};

inline Outcome outcome_of(const Status& status) {
  return {std::string(name_of(status.code)), std::string(status.subject), status.found,
          status.expected};
}

// attn::Config in the numbers that JavaScript has. scale and softcap count only with their has…
// flag, and the staged lengths only with `limited`.
struct Options {
  double batch, heads, kvHeads, tq, tk, dK, dV, dModel, past;
  bool fromX, context, outputProjection, masked, causal, gradients, limited;
  bool hasScale, hasSoftcap;
  double scale, softcap;
};

// Counts beyond any limit stay beyond it; fractions and NaN become -1, which no size may be.
inline std::int64_t to_count(double value) {
  if (!(value >= 0) || value != std::floor(value)) return -1;
  return static_cast<std::int64_t>(std::fmin(value, 0x1p53));
}

inline Config config_of(const Options& o) {
  Config config{.batch = to_count(o.batch),
                      .heads = to_count(o.heads),
                      .kv_heads = to_count(o.kvHeads),
                      .tq = to_count(o.tq),
                      .tk = to_count(o.tk),
                      .d_k = to_count(o.dK),
                      .d_v = to_count(o.dV),
                      .d_model = to_count(o.dModel),
                      .past = to_count(o.past),
                      .from_x = o.fromX,
                      .context = o.context,
                      .output_projection = o.outputProjection,
                      .masked = o.masked,
                      .causal = o.causal,
                      .gradients = o.gradients};
  if (o.hasScale) config.scale = static_cast<float>(o.scale);
  if (o.hasSoftcap) config.softcap = static_cast<float>(o.softcap);
  return config;
}

// The axes of a mask: the first `rank` of four numbers.
class MaskAxes {
 public:
  MaskAxes(int rank, double a, double b, double c, double d)
      : rank_(static_cast<std::size_t>(rank)),
        axes_{to_count(a), to_count(b), to_count(c), to_count(d), 1} {}
  // Five of them stand for any more, which is one too many.
  std::span<const std::int64_t> span() const {
    return std::span(axes_).first(rank_ < axes_.size() ? rank_ : axes_.size());
  }

 private:
  std::size_t rank_;
  std::array<std::int64_t, 5> axes_;
};

// Valid lengths on their way into a configuration, which copies them.
class LengthStaging {
 public:
  // The place for `count` lengths of the next configure; empty when memory is lacking.
  Int32View make(double count) {
    count_ = static_cast<std::size_t>(to_count(count));
    lengths_.reset(new (std::nothrow) std::int32_t[count_]);
    if (lengths_ == nullptr) count_ = 0;
    return Int32View(emscripten::val(emscripten::typed_memory_view(count_, lengths_.get())));
  }

  std::span<const std::int32_t> numbers() const { return {lengths_.get(), count_}; }
  void release() { lengths_.reset(); }

 private:
  std::unique_ptr<std::int32_t[]> lengths_;
  std::size_t count_ = 0;
};

}  // namespace attn::binding
