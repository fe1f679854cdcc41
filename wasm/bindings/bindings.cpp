// What JavaScript sees of the core: one session class, the stage table as text, typed views.
#include <emscripten/bind.h>
#include <malloc.h>

#include <array>
#include <span>
#include <string>

#include "attn/pipeline.hpp"
#include "attn/stages.hpp"
#include "shared.hpp"

namespace {

using attn::Pipeline;
using attn::StageId;
using attn::binding::config_of;
using attn::binding::Float32View;
using attn::binding::Float64View;
using attn::binding::Int32View;
using attn::binding::LengthStaging;
using attn::binding::MaskAxes;
using attn::binding::Options;
using attn::binding::Outcome;
using attn::binding::outcome_of;
using attn::binding::to_count;

StageId stage_from(int index) {
  const bool known = index >= 0 && index < static_cast<int>(attn::kStageCount);
  return known ? static_cast<StageId>(index) : StageId::kNone;
}

struct StageShape {
  double batch, heads, rows, cols;
};

// A pipeline behind the boundary. Stages go by their place in the table.
class Session {
 public:
  Outcome configure(const Options& options) {
    attn::Config config = config_of(options);
    if (options.limited) config.valid_lengths = lengths_.numbers();
    const attn::Status status = pipeline_.configure(config);
    lengths_.release();
    return outcome_of(status);
  }

  Int32View lengths(double count) { return lengths_.make(count); }

  // A mask of `rank` axes; its `count` numbers are expected in the staging when it is set.
  Outcome check_mask(int rank, double a, double b, double c, double d, double count) const {
    const MaskAxes axes(rank, a, b, c, d);
    // The check reads no number, only how many there are.
    const attn::ConstFloats values(static_cast<const float*>(nullptr),
                                   static_cast<std::size_t>(count));
    return outcome_of(attn::check({axes.span(), false, values}, pipeline_.config()));
  }

  Outcome set_mask(int rank, double a, double b, double c, double d, double count, bool boolean) {
    const MaskAxes axes(rank, a, b, c, d);
    const attn::ConstFloats values =
        pipeline_.mask_staging().first(static_cast<std::size_t>(count));
    return outcome_of(pipeline_.set_mask({axes.span(), boolean, values}));
  }

  Float32View mask_staging() {
    const std::span<float> cells = pipeline_.mask_staging();
    return attn::binding::view_of(cells);
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

  StageShape shape(int stage) const {
    if (!has(stage)) return {};
    const attn::Shape shape = attn::shape_of(stage_from(stage), pipeline_.config());
    return {static_cast<double>(shape.batch), static_cast<double>(shape.heads),
            static_cast<double>(shape.rows), static_cast<double>(shape.cols)};
  }

  // Of an input the view is the place to write its numbers to.
  Float32View view(int stage) const {
    const std::span<const float> cells = pipeline_.stage(stage_from(stage));
    return attn::binding::view_of(cells);
  }

  Outcome fill_normal(int stage, double seed) {
    return outcome_of(pipeline_.fill_normal(stage_from(stage), static_cast<std::uint32_t>(seed)));
  }

  // Up to kRowsAtOnce rows of the weights from row `first` on, kRowNumbers numbers each: the
  // members of attn::RowStatistics behind Σ of the row's float32 weights. The view holds until the
  // next call.
  Float64View row_statistics(double batch, double head, double first) {
    std::size_t at = 0;
    const attn::ConstFloats weights = pipeline_.stage(StageId::kWeights);
    const attn::Shape shape = attn::shape_of(StageId::kWeights, pipeline_.config());
    const std::int64_t b = to_count(batch);
    const std::int64_t h = to_count(head);
    for (std::int64_t row = to_count(first); row < shape.rows && at < statistics_.size(); ++row) {
      const auto cols = static_cast<std::size_t>(shape.cols);
      const auto index = static_cast<std::size_t>((b * shape.heads + h) * shape.rows + row);
      double sum = 0;
      for (const float weight : weights.subspan(index * cols, cols)) sum += weight;
      const attn::RowStatistics statistics = pipeline_.row_statistics(b, h, row);
      for (const double number :
           {sum, statistics.maximum, statistics.entropy, statistics.effective_keys,
            statistics.jacobian_norm, statistics.saturation}) {
        statistics_[at++] = number;
      }
    }
    return Float64View(emscripten::val(emscripten::typed_memory_view(at, statistics_.data())));
  }

  Outcome check(int stage, double batch, double head, double row, double col) const {
    return outcome_of(pipeline_.check(cell_of(stage, batch, head, row, col)));
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

  static attn::Cell cell_of(int stage, double batch, double head, double row, double col) {
    return {.stage = stage_from(stage),
            .batch = to_count(batch),
            .head = to_count(head),
            .row = to_count(row),
            .col = to_count(col)};
  }

  Pipeline pipeline_;
  std::array<double, kTermNumbers * kTermsAtOnce> terms_{};
  std::array<double, kRowNumbers * kRowsAtOnce> statistics_{};
  LengthStaging lengths_;
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
  using emscripten::class_;
  using emscripten::function;
  using emscripten::value_object;

  emscripten::register_type<Float32View>("Float32Array");
  emscripten::register_type<Float64View>("Float64Array");
  emscripten::register_type<Int32View>("Int32Array");

  value_object<Outcome>("Outcome")
      .field("code", &Outcome::code)
      .field("subject", &Outcome::subject)
      .field("found", &Outcome::found)
      .field("expected", &Outcome::expected);

  value_object<Options>("Options")
      .field("batch", &Options::batch)
      .field("heads", &Options::heads)
      .field("kvHeads", &Options::kvHeads)
      .field("tq", &Options::tq)
      .field("tk", &Options::tk)
      .field("dK", &Options::dK)
      .field("dV", &Options::dV)
      .field("dModel", &Options::dModel)
      .field("past", &Options::past)
      .field("fromX", &Options::fromX)
      .field("context", &Options::context)
      .field("outputProjection", &Options::outputProjection)
      .field("masked", &Options::masked)
      .field("causal", &Options::causal)
      .field("gradients", &Options::gradients)
      .field("limited", &Options::limited)
      .field("hasScale", &Options::hasScale)
      .field("hasSoftcap", &Options::hasSoftcap)
      .field("scale", &Options::scale)
      .field("softcap", &Options::softcap);

  value_object<StageShape>("StageShape")
      .field("batch", &StageShape::batch)
      .field("heads", &StageShape::heads)
      .field("rows", &StageShape::rows)
      .field("cols", &StageShape::cols);

  class_<Session>("Session")
      .constructor<>()
      .function("configure(options)", &Session::configure)
      .function("lengths(count)", &Session::lengths)
      .function("checkMask(rank, a, b, c, d, count)", &Session::check_mask)
      .function("setMask(rank, a, b, c, d, count, boolean)", &Session::set_mask)
      .function("maskStaging", &Session::mask_staging)
      .function("jacobian(batch, head, row, i, first)", &Session::jacobian)
      .function("has(stage)", &Session::has)
      .function("isGiven(stage)", &Session::is_given)
      .function("operand(stage, place)", &Session::operand)
      .function("shape(stage)", &Session::shape)
      .function("view(stage)", &Session::view)
      .function("fillNormal(stage, seed)", &Session::fill_normal)
      .function("run", &Session::run)
      .function("rowStatistics(batch, head, first)", &Session::row_statistics)
      .function("scale", &Session::scale)
      .function("check(stage, batch, head, row, col)", &Session::check)
      .function("termCount(stage, batch, head, row, col)", &Session::term_count)
      .function("terms(stage, batch, head, row, col, first)", &Session::terms);

  function("bytesInUse", &bytes_in_use);
  function("stageTable", &stage_table);
}
