// The stage table: what every matrix of attention is called, its shape, and what it is made from.
//
// Formula: softmax(Q·Kᵀ/√d_k)·V, Vaswani et al. 2017 (arXiv:1706.03762) §3.2.1; heads side by side
// and W_o, §3.2.2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "attn/status.hpp"

namespace attn {

// Every size is a count. The members' names are the subjects of a Status, in camelCase.
struct Config {
  std::int64_t batch = 1;
  std::int64_t heads = 1;     // H, query heads, a multiple of kv_heads
  std::int64_t kv_heads = 1;  // G, key/value heads
  std::int64_t tq = 0;        // queries
  std::int64_t tk = 0;        // keys, past ones included
  std::int64_t d_k = 0;       // width of a query and a key
  std::int64_t d_v = 0;       // width of a value
  std::int64_t d_model = 0;   // width of X, of the context and of the output
  std::int64_t past = 0;      // keys and values from before, in front of the new ones

  bool from_x = false;             // Q, K and V are projected from X; else they are given
  bool context = false;            // with from_x: K and V are projected from a context of its own
  bool output_projection = false;  // W_o is given
  bool masked = false;             // a mask is given
  bool causal = false;             // a query sees only keys up to its own place
  bool gradients = false;          // the gradients of everything that is given, from dOutput

  // How many keys of each batch count, from the first on; empty where all do. Not with a past. With
  // `causal` the queries are the last of them: query i stands at place i + length − T_q.
  std::span<const std::int32_t> valid_lengths{};

  std::optional<float> scale{};    // multiplies the raw scores; unset means 1/√d_k
  std::optional<float> softcap{};  // c > 0: scores become c·tanh(s/c)
};

enum class StageId : std::uint8_t {
  kX,
  kXContext,
  kWq,
  kWk,
  kWv,
  kWo,
  kQ,
  kK,
  kV,
  kPresentKey,
  kPresentValue,
  kKeyTransposed,
  kRawScores,
  kScaledScores,
  kCappedScores,
  kMask,
  kMaskedScores,
  kRowMax,
  kShifted,
  kExponentials,
  kRowSum,
  kPlainExponentials,
  kPlainRowSum,
  kWeights,
  kHeads,
  kConcat,
  kOutput,
  kDOutput,
  kDConcat,
  kDWeights,
  kDScores,
  kDQ,
  kDK,
  kDV,
  kDWq,
  kDWk,
  kDWv,
  kDWo,
  kDX,
  kDXContext,
  kNone,  // no stage; also the number of stages
};

inline constexpr std::size_t kStageCount = static_cast<std::size_t>(StageId::kNone);

// What an index along a row or a column counts.
enum class Axis : std::uint8_t {
  kQuery,           // T_q
  kKey,             // T_k
  kNewKey,          // T_k − past
  kModel,           // d_model
  kFeature,         // d_k
  kValue,           // d_v
  kHeadsFeature,    // H·d_k
  kKvHeadsFeature,  // G·d_k
  kKvHeadsValue,    // G·d_v
  kHeadsValue,      // H·d_v
  kResult,          // as the result: d_model with W_o, else H·d_v
  kOne,             // the single column of a row statistic
};

enum class PerHead : std::uint8_t { kNone, kHeads, kKvHeads };

// How a cell is made from cells of the operands a and b (r row, c column).
enum class Operation : std::uint8_t {
  kGiven,
  kMatmul,         // Σ_l a[r,l]·b[l,c]
  kJoin,           // past rows, then the rows of a
  kTranspose,      // a[c,r]
  kScale,          // a·scale
  kSoftcap,        // softcap·tanh(a/softcap)
  kAddMask,        // a + b; −∞ where b is −∞, whatever a is
  kRowMax,         // max_l a[r,l]
  kSubtractRow,    // a − b[r,0]
  kExp,            // eᵃ
  kRowSum,         // Σ_l a[r,l]
  kDivideByRow,    // a/b[r,0]; 0 where no key is visible
  kConcatHeads,    // the heads of a side by side
  kSumOfProducts,  // Σ of products of cells of all operands, as backward.hpp says
};

// Alternatives in order of preference: the first stage that applies is the operand.
struct Slot {
  std::array<StageId, 3> alternatives{StageId::kNone, StageId::kNone, StageId::kNone};

  constexpr const StageId* begin() const { return alternatives.data(); }
  constexpr const StageId* end() const { return alternatives.data() + alternatives.size(); }
};

inline constexpr std::size_t kOperandCount = 6;

struct Stage {
  StageId id;
  std::string_view name;
  Axis rows;
  Axis cols;
  bool per_batch;
  PerHead per_head;
  Operation operation;  // kGiven takes its place where no first operand applies
  std::array<Slot, kOperandCount> operands;
  std::string_view formula;
  bool (*applies)(const Config&);
};

namespace detail {
constexpr Slot slot(StageId first, StageId second = StageId::kNone,
                    StageId third = StageId::kNone) {
  return {{first, second, third}};
}

// The scores that the softmax reads.
inline constexpr Slot kFinalScores =
    slot(StageId::kMaskedScores, StageId::kCappedScores, StageId::kScaledScores);

constexpr bool always(const Config&) { return true; }
constexpr bool from_x(const Config& c) { return c.from_x; }
constexpr bool from_context(const Config& c) { return c.from_x && c.context; }
constexpr bool with_output(const Config& c) { return c.output_projection; }
constexpr bool with_past(const Config& c) { return c.past > 0; }
constexpr bool with_softcap(const Config& c) { return c.softcap.has_value(); }
constexpr bool with_mask(const Config& c) {
  return c.masked || c.causal || !c.valid_lengths.empty();
}
constexpr bool with_gradients(const Config& c) { return c.gradients; }
constexpr bool with_gradients_from_x(const Config& c) { return c.gradients && c.from_x; }
constexpr bool with_gradient_of_output(const Config& c) {
  return c.gradients && c.output_projection;
}
constexpr bool with_gradient_of_context(const Config& c) { return c.gradients && from_context(c); }
}  // namespace detail

// In the order of computation; row i describes StageId i.
inline constexpr std::array<Stage, kStageCount> kStages = [] {
  using enum StageId;
  using enum Axis;
  using namespace detail;
  constexpr auto kPlain = PerHead::kNone;
  constexpr auto kByHead = PerHead::kHeads;
  constexpr auto kByKvHead = PerHead::kKvHeads;
  constexpr auto kGiven = Operation::kGiven;
  constexpr auto kSum = Operation::kSumOfProducts;
  return std::array<Stage, kStageCount>{{
      // clang-format off
      {kX, "x", kQuery, kModel, true, kPlain, kGiven, {}, "X", from_x},
      {kXContext, "xContext", kNewKey, kModel, true, kPlain, kGiven, {}, "X_context", from_context},
      {kWq, "wq", kModel, kHeadsFeature, false, kPlain, kGiven, {}, "W_q", from_x},
      {kWk, "wk", kModel, kKvHeadsFeature, false, kPlain, kGiven, {}, "W_k", from_x},
      {kWv, "wv", kModel, kKvHeadsValue, false, kPlain, kGiven, {}, "W_v", from_x},
      {kWo, "wo", kHeadsValue, kModel, false, kPlain, kGiven, {}, "W_o", with_output},
      {kQ, "q", kQuery, kFeature, true, kByHead, Operation::kMatmul, {slot(kX), slot(kWq)}, "X·W_q", always},
      {kK, "k", kNewKey, kFeature, true, kByKvHead, Operation::kMatmul, {slot(kXContext, kX), slot(kWk)}, "X·W_k", always},
      {kV, "v", kNewKey, kValue, true, kByKvHead, Operation::kMatmul, {slot(kXContext, kX), slot(kWv)}, "X·W_v", always},
      {kPresentKey, "presentKey", kKey, kFeature, true, kByKvHead, Operation::kJoin, {slot(kK)}, "K_past ‖ K", with_past},
      {kPresentValue, "presentValue", kKey, kValue, true, kByKvHead, Operation::kJoin, {slot(kV)}, "V_past ‖ V", with_past},
      {kKeyTransposed, "keyTransposed", kFeature, kKey, true, kByKvHead, Operation::kTranspose, {slot(kPresentKey, kK)}, "Kᵀ", always},
      {kRawScores, "rawScores", kQuery, kKey, true, kByHead, Operation::kMatmul, {slot(kQ), slot(kKeyTransposed)}, "Q·Kᵀ", always},
      {kScaledScores, "scaledScores", kQuery, kKey, true, kByHead, Operation::kScale, {slot(kRawScores)}, "Q·Kᵀ · scale", always},
      {kCappedScores, "cappedScores", kQuery, kKey, true, kByHead, Operation::kSoftcap, {slot(kScaledScores)}, "c·tanh(s/c)", with_softcap},
      {kMask, "mask", kQuery, kKey, true, kByHead, kGiven, {}, "M", with_mask},
      {kMaskedScores, "maskedScores", kQuery, kKey, true, kByHead, Operation::kAddMask, {slot(kCappedScores, kScaledScores), slot(kMask)}, "s + M", with_mask},
      {kRowMax, "rowMax", kQuery, kOne, true, kByHead, Operation::kRowMax, {kFinalScores}, "max s", always},
      {kShifted, "shifted", kQuery, kKey, true, kByHead, Operation::kSubtractRow, {kFinalScores, slot(kRowMax)}, "s − max s", always},
      {kExponentials, "exponentials", kQuery, kKey, true, kByHead, Operation::kExp, {slot(kShifted)}, "exp(s − max s)", always},
      {kRowSum, "rowSum", kQuery, kOne, true, kByHead, Operation::kRowSum, {slot(kExponentials)}, "Σ exp(s − max s)", always},
      {kPlainExponentials, "plainExponentials", kQuery, kKey, true, kByHead, Operation::kExp, {kFinalScores}, "exp(s)", always},
      {kPlainRowSum, "plainRowSum", kQuery, kOne, true, kByHead, Operation::kRowSum, {slot(kPlainExponentials)}, "Σ exp(s)", always},
      {kWeights, "weights", kQuery, kKey, true, kByHead, Operation::kDivideByRow, {slot(kExponentials), slot(kRowSum)}, "exp(s − max s) / Σ", always},
      {kHeads, "heads", kQuery, kValue, true, kByHead, Operation::kMatmul, {slot(kWeights), slot(kPresentValue, kV)}, "A·V", always},
      {kConcat, "concat", kQuery, kHeadsValue, true, kPlain, Operation::kConcatHeads, {slot(kHeads)}, "head₀ ‖ head₁ ‖ …", always},
      {kOutput, "output", kQuery, kModel, true, kPlain, Operation::kMatmul, {slot(kConcat), slot(kWo)}, "concat·W_o", with_output},
      {kDOutput, "dOutput", kQuery, kResult, true, kPlain, kGiven, {}, "∂L/∂Y", with_gradients},
      {kDConcat, "dConcat", kQuery, kHeadsValue, true, kPlain, kSum, {slot(kDOutput), slot(kWo)}, "dY·W_oᵀ", with_gradients},
      {kDWeights, "dWeights", kQuery, kKey, true, kByHead, kSum, {slot(kDConcat), slot(kPresentValue, kV)}, "dO·Vᵀ", with_gradients},
      {kDScores, "dScores", kQuery, kKey, true, kByHead, kSum, {slot(kDWeights), slot(kWeights), slot(kCappedScores)}, "A ⊙ (dA − Σ dA ⊙ A)", with_gradients},
      {kDQ, "dQ", kQuery, kFeature, true, kByHead, kSum, {slot(kDScores), slot(kPresentKey, kK)}, "dS·K · scale", with_gradients},
      {kDK, "dK", kKey, kFeature, true, kByKvHead, kSum, {slot(kDScores), slot(kQ)}, "dSᵀ·Q · scale", with_gradients},
      {kDV, "dV", kKey, kValue, true, kByKvHead, kSum, {slot(kWeights), slot(kDConcat)}, "Aᵀ·dO", with_gradients},
      {kDWq, "dWq", kModel, kHeadsFeature, false, kPlain, kSum, {slot(kX), slot(kDQ)}, "Xᵀ·dQ", with_gradients_from_x},
      {kDWk, "dWk", kModel, kKvHeadsFeature, false, kPlain, kSum, {slot(kXContext, kX), slot(kDK)}, "Xᵀ·dK", with_gradients_from_x},
      {kDWv, "dWv", kModel, kKvHeadsValue, false, kPlain, kSum, {slot(kXContext, kX), slot(kDV)}, "Xᵀ·dV", with_gradients_from_x},
      {kDWo, "dWo", kHeadsValue, kModel, false, kPlain, kSum, {slot(kConcat), slot(kDOutput)}, "concatᵀ·dY", with_gradient_of_output},
      {kDX, "dX", kQuery, kModel, true, kPlain, kSum, {slot(kDQ), slot(kWq), slot(kDK), slot(kWk), slot(kDV), slot(kWv)}, "dQ·W_qᵀ + dK·W_kᵀ + dV·W_vᵀ", with_gradients_from_x},
      {kDXContext, "dXContext", kNewKey, kModel, true, kPlain, kSum, {slot(kDK), slot(kWk), slot(kDV), slot(kWv)}, "dK·W_kᵀ + dV·W_vᵀ", with_gradient_of_context},
      // clang-format on
  }};
}();

constexpr const Stage& stage_of(StageId id) { return kStages[static_cast<std::size_t>(id)]; }

constexpr bool applies(StageId id, const Config& config) {
  return id != StageId::kNone && stage_of(id).applies(config);
}

// The operand in the given place under a configuration; kNone where there is none.
constexpr StageId operand_of(StageId id, std::size_t place, const Config& config) {
  // Keys and values of a context owe nothing to X.
  if (id == StageId::kDX && place >= 2 && config.context) return StageId::kNone;
  for (const StageId candidate : stage_of(id).operands[place]) {
    if (applies(candidate, config)) return candidate;
  }
  return StageId::kNone;
}

// Q, K and V are given where no X is; every other stage is as its row says.
constexpr Operation operation_of(StageId id, const Config& config) {
  return operand_of(id, 0, config) == StageId::kNone ? Operation::kGiven : stage_of(id).operation;
}

// Products of sizes stick at this instead of overflowing.
inline constexpr std::int64_t kManyCells = std::numeric_limits<std::int64_t>::max();

constexpr std::int64_t product(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  return a > kManyCells / b ? kManyCells : a * b;
}

constexpr std::int64_t extent_of(Axis axis, const Config& c) {
  switch (axis) {
    case Axis::kQuery:
      return c.tq;
    case Axis::kKey:
      return c.tk;
    case Axis::kNewKey:
      return c.tk - c.past;
    case Axis::kModel:
      return c.d_model;
    case Axis::kFeature:
      return c.d_k;
    case Axis::kValue:
      return c.d_v;
    case Axis::kHeadsFeature:
      return product(c.heads, c.d_k);
    case Axis::kKvHeadsFeature:
      return product(c.kv_heads, c.d_k);
    case Axis::kKvHeadsValue:
      return product(c.kv_heads, c.d_v);
    case Axis::kHeadsValue:
      return product(c.heads, c.d_v);
    case Axis::kResult:
      return c.output_projection ? c.d_model : product(c.heads, c.d_v);
    case Axis::kOne:
      return 1;
  }
  return 0;
}

// batch × heads matrices of rows × cols; a stage that is not per batch or head counts one there.
struct Shape {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;

  constexpr std::int64_t cells() const { return product(product(batch, heads), matrix_cells()); }
  constexpr std::int64_t matrix_cells() const { return product(rows, cols); }
  constexpr bool operator==(const Shape&) const = default;
};

constexpr Shape shape_of(StageId id, const Config& config) {
  const Stage& stage = stage_of(id);
  const std::int64_t heads = stage.per_head == PerHead::kHeads     ? config.heads
                             : stage.per_head == PerHead::kKvHeads ? config.kv_heads
                                                                   : 1;
  return {stage.per_batch ? config.batch : 1, heads, extent_of(stage.rows, config),
          extent_of(stage.cols, config)};
}

// All stages of a configuration live in one arena of at most this many bytes (256 MB).
inline constexpr std::int64_t kArenaBytes = std::int64_t{256} << 20;
// No single size may pass the number of cells that fit there.
inline constexpr std::int64_t kMaxSize = kArenaBytes / static_cast<std::int64_t>(sizeof(float));
// Every stage begins at a multiple of this many bytes.
inline constexpr std::int64_t kStageAlignment = 64;

// The bytes that so many numbers of four bytes take in the arena, rounded up to the alignment.
constexpr std::int64_t aligned_bytes(std::int64_t numbers) {
  const std::int64_t bytes = product(numbers, static_cast<std::int64_t>(sizeof(float)));
  if (bytes > kManyCells - kStageAlignment) return kManyCells;
  return (bytes + kStageAlignment - 1) / kStageAlignment * kStageAlignment;
}

constexpr std::int64_t arena_bytes_of(StageId id, const Config& config) {
  return aligned_bytes(shape_of(id, config).cells());
}

// All stages, and the valid lengths in front of them.
constexpr std::int64_t arena_bytes_of(const Config& config) {
  std::int64_t total = aligned_bytes(static_cast<std::int64_t>(config.valid_lengths.size()));
  for (const Stage& stage : kStages) {
    if (!stage.applies(config)) continue;
    const std::int64_t bytes = arena_bytes_of(stage.id, config);
    if (bytes > kManyCells - total) return kManyCells;
    total += bytes;
  }
  return total;
}

// Whether the sizes and constants are legal and agree with each other.
Status check_without_arena(const Config& config);

// Whether, besides, all stages fit in the arena.
Status check(const Config& config);

// The factor of the raw scores: given, or 1/√d_k (1 for d_k = 0, where every score is 0).
float scale_of(const Config& config);

// The public names, as they stand in the page's types.
std::string_view name_of(Axis axis);
std::string_view name_of(PerHead per_head);
std::string_view name_of(Operation operation);

}  // namespace attn
