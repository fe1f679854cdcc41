// What JavaScript sees of the core: sessions, fused attention, the stage table as text, typed
// views.
//
// Built twice for each kind of SIMD. With ATTN_FORWARD_ONLY it is what a page needs to show the
// forward pass, and small; else it has everything.
//
// What JavaScript holds goes by a number and has free functions: the JavaScript that Embind needs
// for classes would be half of all its JavaScript.
#include <emscripten/bind.h>
#include <malloc.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>

#include "attn/attend.hpp"
#include "attn/kernels.hpp"
#include "attn/peak.hpp"
#include "attn/pipeline.hpp"
#include "attn/stages.hpp"
#include "attn/status.hpp"

EMSCRIPTEN_DECLARE_VAL_TYPE(Float32View);
EMSCRIPTEN_DECLARE_VAL_TYPE(Float64View);
EMSCRIPTEN_DECLARE_VAL_TYPE(Int32View);

namespace {

using attn::Pipeline;
using attn::StageId;

Float32View view_of(attn::ConstFloats cells) {
  return Float32View(emscripten::val(emscripten::typed_memory_view(cells.size(), cells.data())));
}

// What JavaScript holds: its address as a number.
using Handle = std::uintptr_t;

// The base of all that; says why the last of its calls that returned false did.
class Held {
 public:
  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  virtual ~Held() = default;

  std::string failure_code() const { return std::string(attn::name_of(status_.code)); }
  std::string failure_subject() const { return std::string(status_.subject); }
  double failure_found() const { return status_.found; }
  double failure_expected() const { return status_.expected; }

 protected:
  bool done(const attn::Status& status) {
    status_ = status;
    return status.ok();
  }

 private:
  attn::Status status_;
};

Held* at(Handle handle) { return reinterpret_cast<Held*>(handle); }

// 0 when memory is lacking.
template <typename T>
Handle create() {
  return reinterpret_cast<Handle>(static_cast<Held*>(new (std::nothrow) T));
}

// A member function as a function of the handle and the member's own parameters.
template <auto kMethod>
struct Of;
template <typename T, typename R, typename... A, R (T::*kMethod)(A...)>
struct Of<kMethod> {
  static R call(Handle handle, A... arguments) {
    return (static_cast<T*>(at(handle))->*kMethod)(arguments...);
  }
};
template <typename T, typename R, typename... A, R (T::*kMethod)(A...) const>
struct Of<kMethod> {
  static R call(Handle handle, A... arguments) {
    return (static_cast<const T*>(at(handle))->*kMethod)(arguments...);
  }
};

// Counts beyond any limit stay beyond it; fractions and NaN become -1, which no size may be.
std::int64_t to_count(double value) {
  if (!(value >= 0) || value != std::floor(value)) return -1;
  return static_cast<std::int64_t>(std::fmin(value, 0x1p53));
}

// A constant as JavaScript gives it: NaN stands for none.
std::optional<float> to_constant(double value) {
  if (std::isnan(value)) return std::nullopt;
  return static_cast<float>(value);
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

// The sizes and constants that everything configured has; the switches are off.
attn::Config config_of(double batch, double heads, double kv_heads, double tq, double tk,
                       double d_k, double d_v, double past, double scale, double softcap) {
  attn::Config config{.batch = to_count(batch),
                      .heads = to_count(heads),
                      .kv_heads = to_count(kv_heads),
                      .tq = to_count(tq),
                      .tk = to_count(tk),
                      .d_k = to_count(d_k),
                      .d_v = to_count(d_v),
                      .past = to_count(past)};
  config.scale = to_constant(scale);
  config.softcap = to_constant(softcap);
  return config;
}

StageId stage_from(int index) {
  const bool known = index >= 0 && index < static_cast<int>(attn::kStageCount);
  return known ? static_cast<StageId>(index) : StageId::kNone;
}

// A pipeline behind the boundary. Stages go by their place in the table.
class Session final : public Held {
 public:
  // attn::Config in the numbers that JavaScript has. The valid lengths, if any, were written to
  // lengths().
  bool configure(double batch, double heads, double kv_heads, double tq, double tk, double d_k,
                 double d_v, double d_model, double past, bool from_x, bool context,
                 bool output_projection, bool masked, bool causal, bool gradients, double scale,
                 double softcap) {
    attn::Config config = config_of(batch, heads, kv_heads, tq, tk, d_k, d_v, past, scale, softcap);
    config.d_model = to_count(d_model);
    config.from_x = from_x;
    config.context = context;
    config.output_projection = output_projection;
    config.masked = masked;
    config.causal = causal;
    config.gradients = gradients;
    config.valid_lengths = lengths_.numbers();
    const attn::Status status = pipeline_.configure(config);
    lengths_.release();
    return done(status);
  }

  Int32View lengths(double count) { return lengths_.make(count); }

  // A mask of `rank` axes; its `count` numbers are expected in the staging when it is set.
  bool check_mask(int rank, double a, double b, double c, double d, double count) {
    const MaskAxes axes(rank, a, b, c, d);
    // The check reads no number, only how many there are.
    const attn::ConstFloats values(static_cast<const float*>(nullptr),
                                   static_cast<std::size_t>(count));
    return done(attn::check({axes.span(), false, values}, pipeline_.config()));
  }

  bool set_mask(int rank, double a, double b, double c, double d, double count, bool boolean) {
    const MaskAxes axes(rank, a, b, c, d);
    const attn::ConstFloats values =
        pipeline_.mask_staging().first(static_cast<std::size_t>(count));
    return done(pipeline_.set_mask({axes.span(), boolean, values}));
  }

  Float32View mask_staging() { return view_of(pipeline_.mask_staging()); }

  // Up to kRecordNumbers·kRowsAtOnce entries of row `i` of the Jacobian of a row of weights, from
  // column `first` on. The view holds until the next call.
  Float64View jacobian(double batch, double head, double row, double i, double first) {
    const std::int64_t cols = attn::shape_of(StageId::kWeights, pipeline_.config()).cols;
    std::size_t at = 0;
    for (std::int64_t j = to_count(first); j < cols && at < statistics_.size(); ++j) {
      statistics_[at++] = pipeline_.softmax_jacobian(to_count(batch), to_count(head), to_count(row),
                                                     to_count(i), j);
    }
    return Float64View(emscripten::val(emscripten::typed_memory_view(at, statistics_.data())));
  }

  bool has(int stage) const { return pipeline_.has(stage_from(stage)); }
  bool is_given(int stage) const { return pipeline_.is_given(stage_from(stage)); }
  double scale() const { return pipeline_.scale(); }
  void run() { pipeline_.run(); }
  double steps() const { return static_cast<double>(pipeline_.steps()); }

  // first and last are whole numbers from 0 to steps().
  void run_steps(double first, double last) {
    pipeline_.run(static_cast<std::int64_t>(first), static_cast<std::int64_t>(last));
  }

  // The operand in a place below kOperandCount, or -1.
  int operand(int stage, int place) const {
    if (!has(stage)) return -1;
    const StageId id =
        attn::operand_of(stage_from(stage), static_cast<std::size_t>(place), pipeline_.config());
    return id == StageId::kNone ? -1 : static_cast<int>(id);
  }

  // The extent of one axis of [batch, heads, rows, cols] of a stage that is there.
  double extent(int stage, int axis) const {
    const attn::Shape shape = attn::shape_of(stage_from(stage), pipeline_.config());
    const std::array extents{shape.batch, shape.heads, shape.rows, shape.cols};
    return static_cast<double>(extents[static_cast<std::size_t>(axis)]);
  }

  // Of an input the view is the place to write its numbers to.
  Float32View view(int stage) const { return view_of(pipeline_.stage(stage_from(stage))); }

  // Σ of the float32 weights of a row, which must exist.
  double row_sum(double batch, double head, double row) const {
    double sum = 0;
    for (const float weight : weights_of(batch, head, row)) sum += weight;
    return sum;
  }

  bool fill_normal(int stage, double seed) {
    return done(pipeline_.fill_normal(stage_from(stage), static_cast<std::uint32_t>(seed)));
  }

  // Up to kRowsAtOnce rows of the weights from row `first` on, kRecordNumbers numbers each: those
  // of attn::RowStatistics behind Σ of the row's float32 weights. The view holds until the next
  // call.
  Float64View row_statistics(double batch, double head, double first) {
    std::size_t at = 0;
    const std::int64_t rows = attn::shape_of(StageId::kWeights, pipeline_.config()).rows;
    for (std::int64_t row = to_count(first); row < rows && at < statistics_.size(); ++row) {
      statistics_[at++] = row_sum(batch, head, static_cast<double>(row));
      write(pipeline_.row_statistics(to_count(batch), to_count(head), row), at);
    }
    return Float64View(emscripten::val(emscripten::typed_memory_view(at, statistics_.data())));
  }

  // Of all rows of the weights of `heads` query heads from `first` on: their number, how many have
  // no visible key, and the numbers of attn::RowStatistics twice, mean and largest. The view holds
  // until the next call.
  Float64View summary(double batch, double first, double heads) {
    const attn::RowsSummary summary =
        pipeline_.summary(to_count(batch), to_count(first), to_count(heads));
    std::size_t at = 0;
    statistics_[at++] = static_cast<double>(summary.rows);
    statistics_[at++] = static_cast<double>(summary.empty);
    write(summary.mean, at);
    write(summary.largest, at);
    return Float64View(emscripten::val(emscripten::typed_memory_view(at, statistics_.data())));
  }

  bool check(int stage, double batch, double head, double row, double col) {
    return done(pipeline_.check(cell_of(stage, batch, head, row, col)));
  }

  double term_count(int stage, double batch, double head, double row, double col) const {
    return static_cast<double>(pipeline_.term_count(cell_of(stage, batch, head, row, col)));
  }

  // Up to kTermsAtOnce terms of a cell that check() accepts, from the one with index `first` on.
  // A term is kTermNumbers numbers: three times an operand [stage, batch, head, row, col, value],
  // then the partial result. The stage is kConstant for a constant and kUnused for no operand. The
  // view holds until the next call.
  Float64View terms(int stage, double batch, double head, double row, double col, double first) {
    const attn::Cell cell = cell_of(stage, batch, head, row, col);
    const std::size_t count = pipeline_.term_count(cell);
    std::size_t at = 0;
    for (auto index = static_cast<std::size_t>(first); index < count && at < terms_.size();
         ++index) {
      const attn::Term term = pipeline_.term(cell, index);
      for (std::size_t place = 0; place < term.operands.size(); ++place) {
        const auto& [source, value] = term.operands[place];
        const double id = place >= term.operand_count      ? kUnused
                          : source.stage == StageId::kNone ? kConstant
                                                           : static_cast<double>(source.stage);
        for (const double number :
             {id, static_cast<double>(source.batch), static_cast<double>(source.head),
              static_cast<double>(source.row), static_cast<double>(source.col),
              static_cast<double>(value)}) {
          terms_[at++] = number;
        }
      }
      terms_[at++] = term.partial;
    }
    return Float64View(emscripten::val(emscripten::typed_memory_view(at, terms_.data())));
  }

 private:
  static constexpr double kConstant = -1;
  static constexpr double kUnused = -2;
  static constexpr std::size_t kTermNumbers = 19;
  static constexpr std::size_t kTermsAtOnce = 32;
  static constexpr std::size_t kRecordNumbers = 1 + attn::kRowNumbers.size();
  static constexpr std::size_t kRowsAtOnce = 32;

  attn::ConstFloats weights_of(double batch, double head, double row) const {
    const attn::Shape shape = attn::shape_of(StageId::kWeights, pipeline_.config());
    const std::int64_t index =
        (to_count(batch) * shape.heads + to_count(head)) * shape.rows + to_count(row);
    const auto cols = static_cast<std::size_t>(shape.cols);
    return pipeline_.stage(StageId::kWeights).subspan(static_cast<std::size_t>(index) * cols, cols);
  }

  static attn::Cell cell_of(int stage, double batch, double head, double row, double col) {
    return {.stage = stage_from(stage),
            .batch = to_count(batch),
            .head = to_count(head),
            .row = to_count(row),
            .col = to_count(col)};
  }

  // Appends the numbers of a row to statistics_.
  void write(const attn::RowStatistics& row, std::size_t& at) {
    for (const auto number : attn::kRowNumbers) statistics_[at++] = row.*number;
  }

  Pipeline pipeline_;
  std::array<double, kTermNumbers * kTermsAtOnce> terms_{};
  std::array<double, kRecordNumbers * kRowsAtOnce> statistics_{};
  LengthStaging lengths_;
};

void release(Handle handle) { delete at(handle); }

#ifndef ATTN_FORWARD_ONLY
class Attention final : public Held {
 public:
  // attn::Config in the numbers that JavaScript has, and the axes of the mask that is to come: as
  // many of a, b, c, d as its rank. The valid lengths, if any, were written to lengths().
  bool configure(double batch, double heads, double kv_heads, double tq, double tk, double d_k,
                 double d_v, double past, bool masked, bool causal, double scale, double softcap,
                 int rank, double a, double b, double c, double d, bool boolean) {
    const MaskAxes axes(rank, a, b, c, d);
    attn::Config config = config_of(batch, heads, kv_heads, tq, tk, d_k, d_v, past, scale, softcap);
    config.masked = masked;
    config.causal = causal;
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
#endif

// The table as a JSON array, one object a stage; no name or formula needs an escape.
std::string stage_table() {
  std::string json = "[";
  const auto add = [&](std::string_view key, std::string_view value) {
    json.append("\"").append(key).append("\":\"").append(value).append("\",");
  };
  for (const attn::Stage& stage : attn::kStages) {
    json += json.size() > 1 ? ",{" : "{";
    add("id", stage.name);
    add("rows", attn::name_of(stage.rows));
    add("cols", attn::name_of(stage.cols));
    add("perHead", attn::name_of(stage.per_head));
    add("operation", attn::name_of(stage.operation));
    add("formula", stage.formula);
    json.append("\"perBatch\":").append(stage.per_batch ? "true" : "false");
    json += ",\"operands\":[";
    bool first = true;
    for (const attn::Slot& slot : stage.operands) {
      for (const StageId id : slot) {
        if (id == StageId::kNone) continue;
        json.append(first ? "\"" : ",\"").append(attn::stage_of(id).name).append("\"");
        first = false;
      }
    }
    json += "]}";
  }
  return json += "]";
}

#ifndef ATTN_FORWARD_ONLY
// What the allocator has handed out and not got back.
double bytes_in_use() { return static_cast<double>(mallinfo().uordblks); }
#endif

}  // namespace

EMSCRIPTEN_BINDINGS(attention_lab) {
  using emscripten::function;

  emscripten::register_type<Float32View>("Float32Array");

  function("stageTable", &stage_table);
  function("createSession", &create<Session>);
  function("release(handle)", &release);
  function("failureCode(handle)", &Of<&Held::failure_code>::call);
  function("failureSubject(handle)", &Of<&Held::failure_subject>::call);
  function("failureFound(handle)", &Of<&Held::failure_found>::call);
  function("failureExpected(handle)", &Of<&Held::failure_expected>::call);
  function(
      "configure(session, batch, heads, kvHeads, tq, tk, dK, dV, dModel, past, fromX, context, "
      "outputProjection, masked, causal, gradients, scale, softcap)",
      &Of<&Session::configure>::call);
  function("has(session, stage)", &Of<&Session::has>::call);
  function("isGiven(session, stage)", &Of<&Session::is_given>::call);
  function("operand(session, stage, place)", &Of<&Session::operand>::call);
  function("extent(session, stage, axis)", &Of<&Session::extent>::call);
  function("view(session, stage)", &Of<&Session::view>::call);
  function("run(session)", &Of<&Session::run>::call);
  function("rowSum(session, batch, head, row)", &Of<&Session::row_sum>::call);
  function("scale(session)", &Of<&Session::scale>::call);

#ifndef ATTN_FORWARD_ONLY
  function("bytesInUse", &bytes_in_use);
  function("multiplyAdds(rounds)", &attn::multiply_adds);

  emscripten::register_type<Float64View>("Float64Array");
  emscripten::register_type<Int32View>("Int32Array");

  function("lengths(session, count)", &Of<&Session::lengths>::call);
  function("checkMask(session, rank, a, b, c, d, count)", &Of<&Session::check_mask>::call);
  function("setMask(session, rank, a, b, c, d, count, boolean)", &Of<&Session::set_mask>::call);
  function("maskStaging(session)", &Of<&Session::mask_staging>::call);
  function("fillNormal(session, stage, seed)", &Of<&Session::fill_normal>::call);
  function("steps(session)", &Of<&Session::steps>::call);
  function("runSteps(session, first, last)", &Of<&Session::run_steps>::call);
  function("check(session, stage, batch, head, row, col)", &Of<&Session::check>::call);
  function("termCount(session, stage, batch, head, row, col)", &Of<&Session::term_count>::call);
  function("terms(session, stage, batch, head, row, col, first)", &Of<&Session::terms>::call);
  function("rowStatistics(session, batch, head, first)", &Of<&Session::row_statistics>::call);
  function("summary(session, batch, first, heads)", &Of<&Session::summary>::call);
  function("jacobian(session, batch, head, row, i, first)", &Of<&Session::jacobian>::call);

  function("createAttention", &create<Attention>);
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
#endif
}
