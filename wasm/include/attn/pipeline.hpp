// One attention computation: configuration, the arena that holds every stage, and what made a cell.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "attn/arena.hpp"
#include "attn/mask.hpp"
#include "attn/matrix.hpp"
#include "attn/stages.hpp"
#include "attn/statistics.hpp"
#include "attn/status.hpp"

namespace attn {

// A build that leaves the gradients out is a third smaller; configure() refuses them there, and a
// step of a run is a whole matrix.
#ifdef ATTN_FORWARD_ONLY
inline constexpr bool kHasGradients = false;
#else
inline constexpr bool kHasGradients = true;
#endif

// One cell of one stage; every index counts from 0. `head` counts within the stage's own heads.
struct Cell {
  StageId stage = StageId::kNone;
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t row = 0;
  std::int64_t col = 0;
};

// A number that goes into a cell: another cell, or a constant (cell.stage is kNone).
struct Operand {
  Cell cell;
  float value = 0;
};

// One summand of a cell: its operands and what they combine to in float32.
struct Term {
  std::array<Operand, 3> operands;
  std::size_t operand_count = 0;
  float partial = 0;

  std::span<const Operand> used() const& { return {operands.data(), operand_count}; }
  std::span<const Operand> used() const&& = delete;
};

// A step of a run is at most so many multiplications and additions, or one row: a fraction of a
// millisecond, and enough for what a step repeats (packing an operand) not to count.
inline constexpr std::int64_t kStepWork = std::int64_t{1} << 21;

class Pipeline {
 public:
  explicit Pipeline(std::int64_t step_work = kStepWork) : step_work_(step_work) {}

  // Checks the configuration and makes room for every stage; all that is given is 0 afterwards, and
  // what is computed means nothing before run(). After a refusal the former configuration and its
  // numbers stand, except kOutOfMemory, which leaves an unconfigured pipeline without stages. Only
  // this function takes memory, and it never gives any back before the pipeline ends. The valid
  // lengths are copied; they must not be those of this pipeline's own config().
  Status configure(const Config& config);

  const Config& config() const { return config_; }

  // The factor of the raw scores: given, or 1/√d_k (1 for d_k = 0, where every score is 0).
  float scale() const { return scale_; }

  bool has(StageId stage) const { return entry(stage).present; }

  // Whether the numbers of a stage come from outside. Those of a mask do where one is given; what
  // `causal` and valid lengths hide is added to it by run().
  bool is_given(StageId stage) const;

  // All matrices of a stage, row-major [batch, heads, rows, cols]; empty for an absent stage.
  std::span<const float> stage(StageId stage) const;

  // The same to write an input's numbers; empty for a stage that is absent or computed.
  std::span<float> input(StageId stage);

  // The rows of kPresentKey or kPresentValue that come from before, to be written; no data without
  // a past.
  Matrix past(StageId present, std::int64_t batch, std::int64_t head);

  // Takes a mask in place of the former one. After a refusal that stands. The mask's values may lie
  // in mask_staging(), which holds as many numbers as there are scores and is scratch until run().
  Status set_mask(const GivenMask& mask);
  std::span<float> mask_staging();

  // Fills an input with draws from N(0, 1); each stage has a stream of its own.
  Status fill_normal(StageId stage, std::uint32_t seed);

  // Computes every other stage from the inputs.
  void run();

  // The same in parts. A step is some rows of one matrix of a stage; the configuration alone says
  // how many there are. Steps first <= step < last need those before them to be
  // done since the inputs were written. However they are divided, the numbers are the same bits.
  std::int64_t steps() const;
  void run(std::int64_t first, std::int64_t last);

  // Statistics of row `row` of the weights of a batch and a query head; `weights` must have it.
  RowStatistics row_statistics(std::int64_t batch, std::int64_t head, std::int64_t row) const;

  // Of all rows of the weights of `heads` query heads of a batch, from `first_head` on.
  RowsSummary summary(std::int64_t batch, std::int64_t first_head, std::int64_t heads) const;

  // d weights[row, i] / d score[row, j], the scores being those that the softmax reads.
  double softmax_jacobian(std::int64_t batch, std::int64_t head, std::int64_t row, std::int64_t i,
                          std::int64_t j) const;

  // Whether there is such a cell.
  Status check(const Cell& cell) const;

  // The terms that make a cell, in the order of its formula: as many as the inner size for a matrix
  // product, as the row has cells for a row statistic, as there are products for a gradient, none
  // for a given cell, else one. A summand that the mask keeps out has the partial 0. The value
  // of the cell itself is the stage's own: the kernels may add the partials in another order.
  // `cell` must pass check(), `index` be below term_count().
  std::size_t term_count(const Cell& cell) const;
  Term term(const Cell& cell, std::size_t index) const;

 private:
  // What the table says of a stage under the present configuration: a small run spends its time on
  // looking this up.
  struct Entry {
    bool present = false;
    Operation operation = Operation::kGiven;
    std::array<StageId, 2> operands{StageId::kNone, StageId::kNone};  // of a forward stage all
    Shape shape;
    std::size_t offset = 0;  // floats from the arena's start
    std::int64_t rows_a_step = 1;
    std::int64_t matrix_steps = 0;  // of one matrix; 0 where a run computes nothing
    std::int64_t steps() const { return shape.batch * shape.heads * matrix_steps; }
  };

  // One matrix that an operand supplies. It may be a block of columns: head h of X·W reads the
  // columns of W that belong to h.
  struct Source {
    StageId stage = StageId::kNone;
    std::int64_t batch = 0;
    std::int64_t head = 0;
    std::size_t first_col = 0;
    ConstMatrix matrix;
  };

  // Some rows of a matrix; all of them in a build where a step is a whole matrix.
  struct Rows {
    std::size_t at = 0;
    std::size_t count = 0;

    std::size_t first() const { return kHasGradients ? at : 0; }
    template <typename T>
    MatrixView<T> of(MatrixView<T> all) const {
      return kHasGradients ? all.row_block(at, count) : all;
    }
    // Of the transpose; no data stays none.
    template <typename T>
    MatrixView<T> as_columns_of(MatrixView<T> all) const {
      return kHasGradients && all.data != nullptr ? all.columns(at, count) : all;
    }
  };

  const Entry& entry(StageId stage) const { return entries_[static_cast<std::size_t>(stage)]; }
  Matrix matrix(StageId stage, std::int64_t batch, std::int64_t head);
  ConstMatrix matrix(StageId stage, std::int64_t batch, std::int64_t head) const;
  Source source(StageId reader, std::size_t place, std::int64_t batch, std::int64_t head) const;
  Operand operand(const Source& source, std::size_t row, std::size_t col) const;
  Operand operand(const Cell& cell) const;
  void plan(StageId stage);
  void hide_keys(std::int64_t batch, std::int64_t head, Rows rows);
  ConstMatrix mask_of(std::int64_t batch, std::int64_t head) const;  // no data without a mask
  bool hidden(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t key) const;
  // The columns of a head in a matrix that holds all heads side by side.
  ConstMatrix block(StageId stage, std::int64_t batch, std::int64_t head, std::int64_t width) const;
  ConstMatrix new_rows(StageId stage, std::int64_t batch, std::int64_t head) const;
  void compute_gradient(StageId stage, std::int64_t batch, std::int64_t head, Rows rows);
  // Of a cell that no mask hides.
  std::size_t term_count(StageId stage) const;
  std::size_t gradient_term_count(StageId stage) const;
  Term gradient_term(const Cell& cell, std::int64_t index) const;
  void blend_again(std::int64_t batch, std::int64_t head, Rows rows);
  void compute(StageId stage, std::int64_t first_step, std::int64_t last_step);
  void compute(StageId stage, std::int64_t batch, std::int64_t head, Rows rows);

  std::int64_t step_work_;
  Config config_;
  bool configured_ = false;
  float scale_ = 1;
  Arena arena_;
  std::array<Entry, kStageCount + 1> entries_{};  // kNone is absent
};

}  // namespace attn
