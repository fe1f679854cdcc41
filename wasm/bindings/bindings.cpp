// What JavaScript sees of the core: sessions, the stage table as text, typed views.
//
// Built twice for each kind of SIMD. With ATTN_FORWARD_ONLY it is what a page needs to show the
// forward pass, and small; else it has everything. A session goes by a number and its functions are
// free ones: the JavaScript that Embind needs for classes would be half of all its JavaScript.
#include <emscripten/bind.h>
#include <malloc.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>

#include "attn/pipeline.hpp"
#include "attn/stages.hpp"

EMSCRIPTEN_DECLARE_VAL_TYPE(Float32View);
EMSCRIPTEN_DECLARE_VAL_TYPE(Float64View);
EMSCRIPTEN_DECLARE_VAL_TYPE(Int32View);

namespace {

using attn::Pipeline;
using attn::StageId;

// Counts beyond any limit stay beyond it; fractions and NaN become -1, which no size may be.
std::int64_t to_count(double value) {
  if (!(value >= 0) || value != std::floor(value)) return -1;
  return static_cast<std::int64_t>(std::fmin(value, 0x1p53));
}

StageId stage_from(int index) {
  const bool known = index >= 0 && index < static_cast<int>(attn::kStageCount);
  return known ? static_cast<StageId>(index) : StageId::kNone;
}

// A pipeline behind the boundary. Stages go by their place in the table.
class Session {
 public:
  // attn::Config in the numbers that JavaScript has. NaN stands for no scale and no softcap; the
  // valid lengths, if any, were written to lengths().
  bool configure(double batch, double heads, double kv_heads, double tq, double tk, double d_k,
                 double d_v, double d_model, double past, bool from_x, bool context,
                 bool output_projection, bool masked, bool causal, bool gradients, double scale,
                 double softcap) {
    attn::Config config{.batch = to_count(batch),
                        .heads = to_count(heads),
                        .kv_heads = to_count(kv_heads),
                        .tq = to_count(tq),
                        .tk = to_count(tk),
                        .d_k = to_count(d_k),
                        .d_v = to_count(d_v),
                        .d_model = to_count(d_model),
                        .past = to_count(past),
                        .from_x = from_x,
                        .context = context,
                        .output_projection = output_projection,
                        .masked = masked,
                        .causal = causal,
                        .gradients = gradients};
    if (!std::isnan(scale)) config.scale = static_cast<float>(scale);
    if (!std::isnan(softcap)) config.softcap = static_cast<float>(softcap);
    if (lengths_ != nullptr) config.valid_lengths = {lengths_.get(), length_count_};
    status_ = pipeline_.configure(config);
    lengths_.reset();
    return status_.ok();
  }

  // What the last call that returned false has to say.
  std::string failure_code() const { return std::string(attn::name_of(status_.code)); }
  std::string failure_subject() const { return std::string(status_.subject); }
  double failure_found() const { return status_.found; }
  double failure_expected() const { return status_.expected; }

  // The place for `count` valid lengths of the next configure; empty when memory is lacking.
  Int32View lengths(double count) {
    length_count_ = static_cast<std::size_t>(to_count(count));
    lengths_.reset(new (std::nothrow) std::int32_t[length_count_]);
    if (lengths_ == nullptr) length_count_ = 0;
    return Int32View(emscripten::val(emscripten::typed_memory_view(length_count_, lengths_.get())));
  }

  // A mask of `rank` axes; its `count` numbers are expected in the staging when it is set.
  bool check_mask(int rank, double a, double b, double c, double d, double count) {
    const MaskAxes axes(rank, a, b, c, d);
    // The check reads no number, only how many there are.
    const attn::ConstFloats values(static_cast<const float*>(nullptr),
                                   static_cast<std::size_t>(count));
    status_ = attn::check({axes.span(), false, values}, pipeline_.config());
    return status_.ok();
  }

  bool set_mask(int rank, double a, double b, double c, double d, double count, bool boolean) {
    const MaskAxes axes(rank, a, b, c, d);
    const attn::ConstFloats values =
        pipeline_.mask_staging().first(static_cast<std::size_t>(count));
    status_ = pipeline_.set_mask({axes.span(), boolean, values});
    return status_.ok();
  }

  Float32View mask_staging() {
    const std::span<float> cells = pipeline_.mask_staging();
    return Float32View(emscripten::val(emscripten::typed_memory_view(cells.size(), cells.data())));
  }

  // Up to kRowNumbers·kRowsAtOnce entries of row `i` of the Jacobian of a row of weights, from
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
  Float32View view(int stage) const {
    const std::span<const float> cells = pipeline_.stage(stage_from(stage));
    return Float32View(emscripten::val(emscripten::typed_memory_view(cells.size(), cells.data())));
  }

  // Σ of the float32 weights of a row, which must exist.
  double row_sum(double batch, double head, double row) const {
    double sum = 0;
    for (const float weight : weights_of(batch, head, row)) sum += weight;
    return sum;
  }

  bool fill_normal(int stage, double seed) {
    status_ = pipeline_.fill_normal(stage_from(stage), static_cast<std::uint32_t>(seed));
    return status_.ok();
  }

  // Up to kRowsAtOnce rows of the weights from row `first` on, kRowNumbers numbers each: the
  // members of attn::RowStatistics behind Σ of the row's float32 weights. The view holds until the
  // next call.
  Float64View row_statistics(double batch, double head, double first) {
    std::size_t at = 0;
    const std::int64_t rows = attn::shape_of(StageId::kWeights, pipeline_.config()).rows;
    for (std::int64_t row = to_count(first); row < rows && at < statistics_.size(); ++row) {
      const double sum = row_sum(batch, head, static_cast<double>(row));
      const attn::RowStatistics statistics =
          pipeline_.row_statistics(to_count(batch), to_count(head), row);
      for (const double number :
           {sum, statistics.maximum, statistics.entropy, statistics.effective_keys,
            statistics.jacobian_norm, statistics.saturation}) {
        statistics_[at++] = number;
      }
    }
    return Float64View(emscripten::val(emscripten::typed_memory_view(at, statistics_.data())));
  }

  bool check(int stage, double batch, double head, double row, double col) {
    status_ = pipeline_.check(cell_of(stage, batch, head, row, col));
    return status_.ok();
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
  static constexpr std::size_t kRowNumbers = 6;
  static constexpr std::size_t kRowsAtOnce = 32;

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

  Pipeline pipeline_;
  attn::Status status_;
  std::array<double, kTermNumbers * kTermsAtOnce> terms_{};
  std::array<double, kRowNumbers * kRowsAtOnce> statistics_{};
  std::unique_ptr<std::int32_t[]> lengths_;
  std::size_t length_count_ = 0;
};

// A session as JavaScript has it: its address.
using Handle = std::uintptr_t;

// 0 when memory is lacking.
Handle create_session() { return reinterpret_cast<Handle>(new (std::nothrow) Session); }

void delete_session(Handle session) { delete reinterpret_cast<Session*>(session); }

// A member function of Session as a function of the session's handle and its own parameters.
template <auto kMethod>
struct Of;
template <typename R, typename... A, R (Session::*kMethod)(A...)>
struct Of<kMethod> {
  static R call(Handle session, A... arguments) {
    return (reinterpret_cast<Session*>(session)->*kMethod)(arguments...);
  }
};
template <typename R, typename... A, R (Session::*kMethod)(A...) const>
struct Of<kMethod> {
  static R call(Handle session, A... arguments) {
    return (reinterpret_cast<const Session*>(session)->*kMethod)(arguments...);
  }
};

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

// What the allocator has handed out and not got back.
double bytes_in_use() { return static_cast<double>(mallinfo().uordblks); }

}  // namespace

EMSCRIPTEN_BINDINGS(attention_lab) {
  using emscripten::function;

  emscripten::register_type<Float32View>("Float32Array");

  function("stageTable", &stage_table);
  function("bytesInUse", &bytes_in_use);
  function("createSession", &create_session);
  function("deleteSession(session)", &delete_session);
  function(
      "configure(session, batch, heads, kvHeads, tq, tk, dK, dV, dModel, past, fromX, context, "
      "outputProjection, masked, causal, gradients, scale, softcap)",
      &Of<&Session::configure>::call);
  function("failureCode(session)", &Of<&Session::failure_code>::call);
  function("failureSubject(session)", &Of<&Session::failure_subject>::call);
  function("failureFound(session)", &Of<&Session::failure_found>::call);
  function("failureExpected(session)", &Of<&Session::failure_expected>::call);
  function("has(session, stage)", &Of<&Session::has>::call);
  function("isGiven(session, stage)", &Of<&Session::is_given>::call);
  function("operand(session, stage, place)", &Of<&Session::operand>::call);
  function("extent(session, stage, axis)", &Of<&Session::extent>::call);
  function("view(session, stage)", &Of<&Session::view>::call);
  function("run(session)", &Of<&Session::run>::call);
  function("rowSum(session, batch, head, row)", &Of<&Session::row_sum>::call);
  function("scale(session)", &Of<&Session::scale>::call);

#ifndef ATTN_FORWARD_ONLY
  emscripten::register_type<Float64View>("Float64Array");
  emscripten::register_type<Int32View>("Int32Array");

  function("lengths(session, count)", &Of<&Session::lengths>::call);
  function("checkMask(session, rank, a, b, c, d, count)", &Of<&Session::check_mask>::call);
  function("setMask(session, rank, a, b, c, d, count, boolean)", &Of<&Session::set_mask>::call);
  function("maskStaging(session)", &Of<&Session::mask_staging>::call);
  function("fillNormal(session, stage, seed)", &Of<&Session::fill_normal>::call);
  function("check(session, stage, batch, head, row, col)", &Of<&Session::check>::call);
  function("termCount(session, stage, batch, head, row, col)", &Of<&Session::term_count>::call);
  function("terms(session, stage, batch, head, row, col, first)", &Of<&Session::terms>::call);
  function("rowStatistics(session, batch, head, first)", &Of<&Session::row_statistics>::call);
  function("jacobian(session, batch, head, row, i, first)", &Of<&Session::jacobian>::call);
#endif
}
