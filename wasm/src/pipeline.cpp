// The arena of the stages and their computation in the order of the table.
#include "attn/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "attn/backward.hpp"
#include "attn/kernels.hpp"
#include "attn/normal.hpp"

namespace attn {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

std::size_t index_of(StageId stage) { return static_cast<std::size_t>(stage); }

std::size_t to_size(std::int64_t value) { return static_cast<std::size_t>(value); }

Floats cells_of(Matrix matrix) { return {matrix.data, matrix.rows * matrix.cols}; }
ConstFloats cells_of(ConstMatrix matrix) { return {matrix.data, matrix.rows * matrix.cols}; }
Floats row_of(Matrix matrix, std::size_t i) { return {matrix.row(i), matrix.cols}; }
ConstFloats row_of(ConstMatrix matrix, std::size_t i) { return {matrix.row(i), matrix.cols}; }

}  // namespace

Status Pipeline::configure(const Config& config) {
  if (const Status status = attn::check(config); !status.ok()) return status;
  if (config.gradients && !kHasGradients) return {Code::kStageAbsent, "gradients"};
  const std::int64_t bytes = arena_bytes_of(config);
  if (!arena_.reserve(bytes, kStageAlignment)) {
    configured_ = false;
    entries_ = {};
    return {Code::kOutOfMemory, "arena", static_cast<double>(bytes),
            static_cast<double>(kArenaBytes)};
  }
  config_ = config;
  configured_ = true;
  scale_ = scale_of(config);
  std::int64_t offset = aligned_bytes(static_cast<std::int64_t>(config.valid_lengths.size()));
  for (const Stage& stage : kStages) {
    Entry& own = entries_[index_of(stage.id)];
    own = {.present = stage.applies(config),
           .operation = operation_of(stage.id, config),
           .operands = {operand_of(stage.id, 0, config), operand_of(stage.id, 1, config)},
           .shape = shape_of(stage.id, config),
           .offset = to_size(offset) / sizeof(float)};
    if (!own.present) continue;
    offset += arena_bytes_of(stage.id, config);
    plan(stage.id);
    // Past rows lie in the stages that join them with the new ones. Nothing else is touched: memory
    // that is new costs the more the first time.
    if (own.operation == Operation::kGiven || own.operation == Operation::kJoin) {
      std::fill_n(arena_.data() + own.offset, own.shape.cells(), 0.0F);
    }
  }
  if (!config.valid_lengths.empty()) {
    // Memory without a type of its own: whole numbers of the same size at its beginning.
    auto* const lengths = reinterpret_cast<std::int32_t*>(arena_.data());
    std::ranges::copy(config.valid_lengths, lengths);
    config_.valid_lengths = {lengths, config.valid_lengths.size()};
  }
  return {};
}

bool Pipeline::is_given(StageId stage) const {
  if (stage == StageId::kMask) return configured_ && config_.masked;
  return has(stage) && entry(stage).operation == Operation::kGiven;
}

std::span<const float> Pipeline::stage(StageId stage) const {
  if (!has(stage)) return {};
  return {arena_.data() + entry(stage).offset, to_size(entry(stage).shape.cells())};
}

std::span<float> Pipeline::input(StageId stage) {
  if (!is_given(stage)) return {};
  return {arena_.data() + entry(stage).offset, to_size(entry(stage).shape.cells())};
}

Matrix Pipeline::past(StageId present, std::int64_t batch, std::int64_t head) {
  if (!has(present) || config_.past == 0) return {};
  return matrix(present, batch, head).row_block(0, to_size(config_.past));
}

Status Pipeline::set_mask(const GivenMask& mask) {
  if (!has(StageId::kMask)) return {Code::kStageAbsent, "mask"};
  if (!is_given(StageId::kMask)) return {Code::kNotGiven, "mask"};
  if (const Status status = attn::check(mask, config_); !status.ok()) return status;
  const Status status = check_values(mask);
  if (status.ok()) spread(mask, config_, input(StageId::kMask));
  // It may have been the staging.
  compute(StageId::kMaskedScores, 0, entry(StageId::kMaskedScores).steps());
  return status;
}

std::span<float> Pipeline::mask_staging() {
  if (!has(StageId::kMaskedScores)) return {};
  const std::span<const float> cells = stage(StageId::kMaskedScores);
  return {const_cast<float*>(cells.data()), cells.size()};
}

Status Pipeline::fill_normal(StageId stage, std::uint32_t seed) {
  const std::string_view name = stage_of(stage).name;
  if (!has(stage)) return {Code::kStageAbsent, name};
  if (!is_given(stage)) return {Code::kNotGiven, name};
  attn::fill_normal(seed, static_cast<std::uint32_t>(stage), input(stage));
  return {};
}

RowStatistics Pipeline::row_statistics(std::int64_t batch, std::int64_t head,
                                       std::int64_t row) const {
  const ConstMatrix scores = source(StageId::kShifted, 0, batch, head).matrix;
  const ConstFloats mask =
      has(StageId::kMask) ? ConstFloats(row_of(matrix(StageId::kMask, batch, head), to_size(row)))
                          : ConstFloats();
  return attn::row_statistics(row_of(scores, to_size(row)), mask);
}

RowsSummary Pipeline::summary(std::int64_t batch, std::int64_t first_head,
                              std::int64_t heads) const {
  RowsSummary summary;
  for (std::int64_t head = first_head; head < first_head + heads; ++head) {
    for (std::int64_t row = 0; row < config_.tq; ++row) {
      summary.add(row_statistics(batch, head, row));
    }
  }
  return summary;
}

ConstMatrix Pipeline::matrix(StageId stage, std::int64_t batch, std::int64_t head) const {
  const Shape& shape = entry(stage).shape;
  const std::int64_t index = batch * shape.heads + head;
  // Without overflow: the whole stage was found to fit.
  const std::int64_t offset = index * shape.rows * shape.cols;
  return {arena_.data() + entry(stage).offset + to_size(offset), to_size(shape.rows),
          to_size(shape.cols), to_size(shape.cols)};
}

Matrix Pipeline::matrix(StageId stage, std::int64_t batch, std::int64_t head) {
  const ConstMatrix view = std::as_const(*this).matrix(stage, batch, head);
  return {const_cast<float*>(view.data), view.rows, view.cols, view.stride};
}

Pipeline::Source Pipeline::source(StageId reader, std::size_t place, std::int64_t batch,
                                  std::int64_t head) const {
  const StageId id = entry(reader).operands[place];
  const Stage& stage = stage_of(id);
  Source source;
  source.stage = id;
  source.batch = stage.per_batch ? batch : 0;
  const PerHead reader_heads = stage_of(reader).per_head;
  if (stage.per_head != PerHead::kNone) {
    // H/G query heads in a row read the same key/value head.
    const bool grouped = stage.per_head == PerHead::kKvHeads && reader_heads == PerHead::kHeads;
    source.head = grouped ? head * config_.kv_heads / config_.heads : head;
  }
  source.matrix = matrix(id, source.batch, source.head);
  if (!stage.per_batch && reader_heads != PerHead::kNone) {
    // A projection holds the columns of all heads side by side.
    const std::size_t width = to_size(entry(reader).shape.cols);
    source.first_col = to_size(head) * width;
    source.matrix = source.matrix.columns(source.first_col, width);
  }
  return source;
}

// Into rows of the mask, what `causal` and the valid lengths hide.
void Pipeline::hide_keys(std::int64_t batch, std::int64_t head, Rows rows) {
  const Matrix mask = rows.of(matrix(StageId::kMask, batch, head));
  // Without valid lengths the queries stand behind the past; with them they are the last tokens.
  const bool limited = !config_.valid_lengths.empty();
  const std::int64_t keys = limited ? config_.valid_lengths[to_size(batch)] : config_.tk;
  const std::int64_t first =
      (limited ? keys - config_.tq : config_.past) + static_cast<std::int64_t>(rows.first());
  for (std::size_t i = 0; i < mask.rows; ++i) {
    const std::int64_t visible =
        config_.causal ? std::clamp(first + static_cast<std::int64_t>(i) + 1, std::int64_t{0}, keys)
                       : keys;
    std::ranges::fill(row_of(mask, i).subspan(to_size(visible)), kHidden);
  }
}

// Divides a stage that is there into steps; the stages before it are known.
void Pipeline::plan(StageId stage) {
  Entry& own = entries_[index_of(stage)];
  const bool hides = config_.causal || !config_.valid_lengths.empty();
  const bool computed = own.operation != Operation::kGiven || (hides && stage == StageId::kMask);
  // Also keeps a huge number of empty matrices from being visited one by one.
  if (!computed || own.shape.cells() == 0) return;
  own.matrix_steps = 1;
  if constexpr (kHasGradients) {
    // What a cell costs that no sum makes: most of all an exponential.
    constexpr std::int64_t kCellWork = 16;
    // Every other summand of a gradient of the scores belongs to the row.
    const std::int64_t terms =
        stage == StageId::kDScores ? 1 : static_cast<std::int64_t>(term_count(stage));
    const std::int64_t row_work = product(own.shape.cols, std::max(terms, kCellWork));
    own.rows_a_step = std::clamp(step_work_ / row_work, std::int64_t{1}, own.shape.rows);
    own.matrix_steps = (own.shape.rows + own.rows_a_step - 1) / own.rows_a_step;
  }
}

void Pipeline::run() {
  for (const Stage& stage : kStages) compute(stage.id, 0, entry(stage.id).steps());
}

std::int64_t Pipeline::steps() const {
  std::int64_t steps = 0;
  for (const Entry& stage : entries_) steps += stage.steps();
  return steps;
}

void Pipeline::run(std::int64_t first, std::int64_t last) {
  for (const Stage& stage : kStages) {
    const std::int64_t steps = entry(stage.id).steps();
    compute(stage.id, std::max(first, std::int64_t{0}), std::min(last, steps));
    first -= steps;
    last -= steps;
  }
}

// A hidden key's weight of 0 times a NaN or an infinity would be NaN: rows with a NaN are summed
// anew over the visible keys. Keys that add 0 leave the other sums as they are, to the last bit.
void Pipeline::blend_again(std::int64_t batch, std::int64_t head, Rows rows) {
  const Matrix out = rows.of(matrix(StageId::kHeads, batch, head));
  const auto operand = [&](std::size_t place) {
    return source(StageId::kHeads, place, batch, head).matrix;
  };
  for (std::size_t i = 0; i < out.rows; ++i) {
    if (!std::isnan(row_sum(row_of(out, i)))) continue;
    std::ranges::fill(row_of(out, i), 0.0F);
    add_product(rows.of(operand(0)).row_block(i, 1), operand(1),
                rows.of(mask_of(batch, head)).row_block(i, 1), out.row_block(i, 1));
  }
}

// Steps of one matrix that follow each other are one block of rows.
void Pipeline::compute(StageId stage, std::int64_t first_step, std::int64_t last_step) {
  const Entry& own = entry(stage);
  for (std::int64_t step = first_step; step < last_step;) {
    const std::int64_t matrix_steps = kHasGradients ? own.matrix_steps : 1;
    const std::int64_t index = step / matrix_steps;
    const std::int64_t before = index * matrix_steps;
    const std::int64_t end = std::min(last_step, before + matrix_steps);
    const std::int64_t first_row = (step - before) * own.rows_a_step;
    const std::int64_t last_row = std::min((end - before) * own.rows_a_step, own.shape.rows);
    compute(stage, index / own.shape.heads, index % own.shape.heads,
            {to_size(first_row), to_size(last_row - first_row)});
    step = end;
  }
}

void Pipeline::compute(StageId stage, std::int64_t batch, std::int64_t head, Rows rows) {
  const Matrix out = rows.of(matrix(stage, batch, head));
  const auto operand = [&](std::size_t place) { return source(stage, place, batch, head).matrix; };
  // The rows of an operand that has as many as `out`.
  const auto same_rows = [&](std::size_t place) { return rows.of(operand(place)); };
  const auto mask_row = [&](std::size_t i) {
    const ConstMatrix mask = mask_of(batch, head);
    return mask.data != nullptr ? row_of(rows.of(mask), i) : ConstFloats();
  };
  switch (stage_of(stage).operation) {
    case Operation::kGiven:
      return hide_keys(batch, head, rows);  // Only a mask is given and has steps.
    case Operation::kMatmul:
      matmul(same_rows(0), operand(1), out);
      if (stage == StageId::kHeads && has(StageId::kMask)) blend_again(batch, head, rows);
      return;
    case Operation::kJoin: {
      const std::size_t past = to_size(config_.past);
      const std::size_t first = rows.first();
      const std::size_t begin = std::max(first, past);
      const std::size_t end = first + out.rows;
      if (begin >= end) return;
      return copy(operand(0).row_block(begin - past, end - begin),
                  out.row_block(begin - first, end - begin));
    }
    case Operation::kTranspose:
      return transpose(rows.as_columns_of(operand(0)), out);
    case Operation::kScale:
      return attn::scale(cells_of(same_rows(0)), scale_, cells_of(out));
    case Operation::kSoftcap:
      return softcap(cells_of(same_rows(0)), *config_.softcap, cells_of(out));
    case Operation::kAddMask:
      return add_mask(cells_of(same_rows(0)), cells_of(same_rows(1)), cells_of(out));
    case Operation::kRowMax: {
      const ConstMatrix scores = same_rows(0);
      for (std::size_t i = 0; i < out.rows; ++i) out.at(i, 0) = row_max(row_of(scores, i));
      return;
    }
    case Operation::kSubtractRow: {
      const ConstMatrix scores = same_rows(0);
      const ConstMatrix max = same_rows(1);
      for (std::size_t i = 0; i < out.rows; ++i) {
        subtract_max(row_of(scores, i), mask_row(i), max.at(i, 0), row_of(out, i));
      }
      return;
    }
    case Operation::kExp:
      return exponential(cells_of(same_rows(0)), cells_of(out));
    case Operation::kRowSum: {
      const ConstMatrix in = same_rows(0);
      for (std::size_t i = 0; i < out.rows; ++i) out.at(i, 0) = row_sum(row_of(in, i));
      return;
    }
    case Operation::kDivideByRow: {
      const ConstMatrix in = same_rows(0);
      const ConstMatrix sum = same_rows(1);
      for (std::size_t i = 0; i < out.rows; ++i) {
        divide(row_of(in, i), mask_row(i), sum.at(i, 0), row_of(out, i));
      }
      return;
    }
    case Operation::kConcatHeads:
      for (std::int64_t h = 0; h < config_.heads; ++h) {
        const ConstMatrix in = rows.of(source(stage, 0, batch, h).matrix);
        copy(in, out.columns(to_size(h) * in.cols, in.cols));
      }
      return;
    case Operation::kSumOfProducts:
      if constexpr (kHasGradients) compute_gradient(stage, batch, head, rows);
      return;
  }
}

}  // namespace attn
