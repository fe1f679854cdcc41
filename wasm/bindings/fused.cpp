// What JavaScript sees of fused attention: one class beside the session.
#include <emscripten/bind.h>

#include <cstdint>

#include "attn/attend.hpp"
#include "attn/stages.hpp"
#include "shared.hpp"

namespace {

using attn::StageId;
using attn::binding::Float32View;
using attn::binding::Int32View;
using attn::binding::LengthStaging;
using attn::binding::MaskAxes;
using attn::binding::Options;
using attn::binding::Outcome;
using attn::binding::outcome_of;
using attn::binding::view_of;

// Of the options the sizes and switches of a head count; a mask has `rank` axes.
class Attention {
 public:
  Outcome configure(const Options& options, int rank, double a, double b, double c, double d,
                    bool boolean) {
    const MaskAxes axes(rank, a, b, c, d);
    attn::Config config = attn::binding::config_of(options);
    if (options.limited) config.valid_lengths = lengths_.numbers();
    const attn::Status status = attention_.configure(config, {axes.span(), boolean, {}});
    lengths_.release();
    return outcome_of(status);
  }

  Int32View lengths(double count) { return lengths_.make(count); }

  // The places to write to: keys and values with past rows in front.
  Float32View queries() { return view_of(attention_.input(StageId::kQ)); }
  Float32View keys() { return view_of(attention_.input(StageId::kPresentKey)); }
  Float32View values() { return view_of(attention_.input(StageId::kPresentValue)); }
  Float32View mask_staging() { return view_of(attention_.mask_staging()); }

  // Takes the numbers in the staging.
  Outcome set_mask() { return outcome_of(attention_.set_mask(attention_.mask_staging())); }

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
  emscripten::class_<Attention>("Attention")
      .constructor<>()
      .function("configure(options, rank, a, b, c, d, boolean)", &Attention::configure)
      .function("lengths(count)", &Attention::lengths)
      .function("queries", &Attention::queries)
      .function("keys", &Attention::keys)
      .function("values", &Attention::values)
      .function("maskStaging", &Attention::mask_staging)
      .function("setMask", &Attention::set_mask)
      .function("rows", &Attention::rows)
      .function("run(first, last)", &Attention::run)
      .function("output", &Attention::output)
      .function("scale", &Attention::scale);
}
