// What JavaScript sees of fused attention.
#include <emscripten/bind.h>

#include <cstdint>

#include "attn/attend.hpp"
#include "attn/stages.hpp"
#include "shared.hpp"

namespace {

using attn::StageId;
using attn::binding::Float32View;
using attn::binding::Held;
using attn::binding::Int32View;
using attn::binding::LengthStaging;
using attn::binding::MaskAxes;
using attn::binding::Of;
using attn::binding::to_constant;
using attn::binding::to_count;
using attn::binding::view_of;

class Attention final : public Held {
 public:
  // attn::Config in the numbers that JavaScript has, and the axes of the mask that is to come: as
  // many of a, b, c, d as its rank. The valid lengths, if any, were written to lengths().
  bool configure(double batch, double heads, double kv_heads, double tq, double tk, double d_k,
                 double d_v, double past, bool masked, bool causal, double scale, double softcap,
                 int rank, double a, double b, double c, double d, bool boolean) {
    const MaskAxes axes(rank, a, b, c, d);
    attn::Config config{.batch = to_count(batch),
                        .heads = to_count(heads),
                        .kv_heads = to_count(kv_heads),
                        .tq = to_count(tq),
                        .tk = to_count(tk),
                        .d_k = to_count(d_k),
                        .d_v = to_count(d_v),
                        .past = to_count(past),
                        .masked = masked,
                        .causal = causal};
    config.scale = to_constant(scale);
    config.softcap = to_constant(softcap);
    config.valid_lengths = lengths_.numbers();
    const attn::Status status = attention_.configure(config, {axes.span(), boolean, {}});
    lengths_.release();
    return done(status);
  }

  Int32View lengths(double count) { return lengths_.make(count); }

  // The places to write to: keys and values with past rows in front.
  Float32View queries() { return view_of(attention_.input(StageId::kQ)); }
  Float32View keys() { return view_of(attention_.input(StageId::kPresentKey)); }
  Float32View values() { return view_of(attention_.input(StageId::kPresentValue)); }
  Float32View mask_staging() { return view_of(attention_.mask_staging()); }

  // Takes the numbers in the staging.
  bool set_mask() { return done(attention_.set_mask(attention_.mask_staging())); }

  double rows() const { return static_cast<double>(attention_.rows()); }

  // first and last are whole numbers from 0 to rows().
  void run(double first, double last) {
    attention_.run(static_cast<std::int64_t>(first), static_cast<std::int64_t>(last));
  }

  Float32View output() const { return view_of(attention_.output()); }
  double scale() const { return attention_.scale(); }

 private:
  attn::Attention attention_;
  LengthStaging lengths_;
};

}  // namespace

EMSCRIPTEN_BINDINGS(attention_lab_fused) {
  using emscripten::function;

  function("createAttention", &attn::binding::create<Attention>);
  function(
      "configureAttention(attention, batch, heads, kvHeads, tq, tk, dK, dV, past, masked, causal, "
      "scale, softcap, rank, a, b, c, d, boolean)",
      &Of<&Attention::configure>::call);
  function("lengthsOfAttention(attention, count)", &Of<&Attention::lengths>::call);
  function("queries(attention)", &Of<&Attention::queries>::call);
  function("keys(attention)", &Of<&Attention::keys>::call);
  function("values(attention)", &Of<&Attention::values>::call);
  function("maskOfAttention(attention)", &Of<&Attention::mask_staging>::call);
  function("setMaskOfAttention(attention)", &Of<&Attention::set_mask>::call);
  function("rows(attention)", &Of<&Attention::rows>::call);
  function("attend(attention, first, last)", &Of<&Attention::run>::call);
  function("output(attention)", &Of<&Attention::output>::call);
  function("scaleOfAttention(attention)", &Of<&Attention::scale>::call);
}
