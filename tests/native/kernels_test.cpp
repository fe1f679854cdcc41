// Every kernel against the oracle, for all small lengths and misalignments.
#include "attn/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "compare.hpp"
#include "random.hpp"
#include "reference.hpp"

namespace {

using attn_test::Random;

constexpr double kEps = std::numeric_limits<float>::epsilon();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Lengths around one, two and four vectors; floats off the alignment of a vector.
constexpr std::size_t kMaxLength = 19;
constexpr std::size_t kMaxShift = 3;

// Numbers that end where their memory ends, `shift` floats off its start, so that the address
// sanitizer sees a read or write beyond either end.
class Shifted {
 public:
  Shifted(std::size_t shift, std::size_t size) : shift_(shift), memory_(shift + size) {}

  std::span<float> cells() { return std::span(memory_).subspan(shift_); }

  void fill(Random& random) {
    for (float& cell : cells()) cell = random.normal();
  }

 private:
  std::size_t shift_;
  std::vector<float> memory_;
};

std::vector<double> doubles(std::span<const float> cells) { return {cells.begin(), cells.end()}; }

// Runs a kernel of one input and one output for every length and misalignment of both.
template <typename Kernel, typename Expected>
void sweep(Kernel kernel, Expected expected, double eps_relative) {
  Random random(1);
  for (std::size_t length = 0; length <= kMaxLength; ++length) {
    for (std::size_t shift = 0; shift <= kMaxShift; ++shift) {
      Shifted in(shift, length);
      Shifted out(kMaxShift - shift, length);
      in.fill(random);
      kernel(in.cells(), out.cells());
      std::vector<double> right = doubles(in.cells());
      for (double& cell : right) cell = expected(cell);
      EXPECT_TRUE(
          attn_test::near_all("out", out.cells(), right,
                              [&](double value) { return kEps * eps_relative * std::abs(value); }))
          << "length " << length << ", shift " << shift;
    }
  }
}

TEST(Matmul, EverySizeAndStride) {
  Random random(2);
  for (std::size_t m = 0; m <= 6; ++m) {
    for (std::size_t k = 0; k <= 5; ++k) {
      for (std::size_t n = 0; n <= kMaxLength; ++n) {
        const std::size_t gap = (m + n) % (kMaxShift + 1);
        // The last row of a strided matrix ends before its gap.
        const auto cells = [&](std::size_t rows, std::size_t cols) {
          return rows == 0 ? 0 : (rows - 1) * (cols + gap) + cols;
        };
        Shifted a_cells(gap, cells(m, k));
        Shifted b_cells(gap, cells(k, n));
        Shifted out_cells(gap, cells(m, n));
        a_cells.fill(random);
        b_cells.fill(random);
        const attn::ConstMatrix a{a_cells.cells().data(), m, k, k + gap};
        const attn::ConstMatrix b{b_cells.cells().data(), k, n, n + gap};
        const attn::Matrix out{out_cells.cells().data(), m, n, n + gap};
        attn::matmul(a, b, out);

        const attn::reference::Table right =
            attn::reference::matmul(attn::reference::Table(a), attn::reference::Table(b));
        // (k + 1)/2 roundings of sums of at most k products of numbers below 6.
        const double tolerance =
            kEps * 0.5 * static_cast<double>(k + 1) * static_cast<double>(k) * 36;
        for (std::size_t i = 0; i < m; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            ASSERT_NEAR(out.at(i, j), right.at(i, j), tolerance)
                << m << "×" << k << "×" << n << " at " << i << ", " << j;
          }
        }
        // Between the rows nothing is written.
        for (std::size_t i = 0; i + 1 < m; ++i) {
          for (std::size_t j = n; j < n + gap; ++j) ASSERT_EQ(out.at(i, j), 0);
        }
      }
    }
  }
}

// Small whole numbers, so that every order of the sums gives the same float.
TEST(Matmul, LongSumsAndWideResultsInManyBlocks) {
  constexpr std::size_t kM = 9;
  constexpr std::size_t kK = 300;
  constexpr std::size_t kN = 147;
  std::vector<float> a_cells(kM * kK);
  std::vector<float> b_cells(kK * kN);
  std::vector<float> out_cells(kM * kN);
  for (std::size_t at = 0; at < a_cells.size(); ++at) a_cells[at] = static_cast<float>(at % 7) - 3;
  for (std::size_t at = 0; at < b_cells.size(); ++at) b_cells[at] = static_cast<float>(at % 5) - 2;
  const attn::Matrix a{a_cells.data(), kM, kK, kK};
  const attn::Matrix b{b_cells.data(), kK, kN, kN};
  const attn::Matrix out{out_cells.data(), kM, kN, kN};
  attn::matmul(a, b, out);
  for (std::size_t i = 0; i < kM; ++i) {
    for (std::size_t j = 0; j < kN; ++j) {
      float sum = 0;
      for (std::size_t l = 0; l < kK; ++l) sum += a.at(i, l) * b.at(l, j);
      ASSERT_EQ(out.at(i, j), sum) << i << ", " << j;
    }
  }
}

TEST(Matmul, NanAndInfinityReachOnlyTheirRowAndColumn) {
  constexpr std::size_t kM = 3;
  constexpr std::size_t kK = 5;
  constexpr std::size_t kN = 7;
  std::vector<float> a_cells(kM * kK, 1);
  std::vector<float> b_cells(kK * kN, 1);
  std::vector<float> out_cells(kM * kN);
  const attn::Matrix a{a_cells.data(), kM, kK, kK};
  const attn::Matrix b{b_cells.data(), kK, kN, kN};
  const attn::Matrix out{out_cells.data(), kM, kN, kN};
  a.at(1, 2) = kNan;
  b.at(4, 6) = kInfinity;
  attn::matmul(a, b, out);
  for (std::size_t i = 0; i < kM; ++i) {
    for (std::size_t j = 0; j < kN; ++j) {
      if (i == 1) {
        EXPECT_TRUE(std::isnan(out.at(i, j)));
      } else {
        EXPECT_EQ(out.at(i, j), j == 6 ? kInfinity : 5);
      }
    }
  }
}

TEST(Transpose, EverySize) {
  Random random(3);
  for (std::size_t m = 0; m <= kMaxLength; ++m) {
    for (std::size_t n = 0; n <= kMaxLength; ++n) {
      Shifted in(m % 4, m * n);
      Shifted out(n % 4, m * n);
      in.fill(random);
      attn::transpose({in.cells().data(), m, n, n}, {out.cells().data(), n, m, m});
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          ASSERT_EQ(out.cells()[j * m + i], in.cells()[i * n + j]);
        }
      }
    }
  }
}

TEST(Scale, EveryLengthAndShift) {
  sweep([](auto in, auto out) { attn::scale(in, 0.375F, out); }, [](double x) { return x * 0.375; },
        0.5);
}

TEST(Softcap, EveryLengthAndShift) {
  // A division, tanh and a product.
  sweep([](auto in, auto out) { attn::softcap(in, 1.5F, out); },
        [](double x) { return 1.5 * std::tanh(x / 1.5); }, 2.5);
}

TEST(Softcap, WithACapOfOneIsTanhWithinHalfAStep) {
  // From 2^-140, which has few bits left, to far beyond where tanh is 1, both signs. A cap of 1
  // costs no rounding of its own.
  std::vector<float> in{0x1p-140F};
  while (in.back() < 40) in.push_back(in.back() * (1 + 0x1p-9F));
  for (std::size_t i = in.size(); i-- > 0;) in.push_back(-in[i]);
  std::vector<float> out(in.size());
  attn::softcap(in, 1, out);
  double worst = 0;  // in steps of the result
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double right = std::tanh(static_cast<double>(in[i]));
    const auto near = std::abs(static_cast<float>(right));
    const double step = near - std::nextafter(near, 0.0F);
    worst = std::max(worst, std::abs(out[i] - right) / step);
  }
  // The last rounding to float, and the rest of the series beyond x³/3.
  EXPECT_LE(worst, 0.501);
}

TEST(Softcap, SpecialValues) {
  const std::vector<float> in{0, -0.0F, kInfinity, -kInfinity, kNan, 3.4e38F, -3.4e38F, 0x1p-149F};
  std::vector<float> out(in.size());
  attn::softcap(in, 2, out);
  EXPECT_EQ(out[0], 0);
  EXPECT_FALSE(std::signbit(out[0]));
  EXPECT_EQ(out[1], 0);
  EXPECT_TRUE(std::signbit(out[1]));
  EXPECT_EQ(out[2], 2);
  EXPECT_EQ(out[3], -2);
  EXPECT_TRUE(std::isnan(out[4]));
  EXPECT_EQ(out[5], 2);
  EXPECT_EQ(out[6], -2);
  // Half the smallest number is none; the cap is a division, tanh and a product.
  EXPECT_EQ(out[7], 0);
}

TEST(Exponential, EveryLengthAndShift) {
  sweep([](auto in, auto out) { attn::exponential(in, out); }, [](double x) { return std::exp(x); },
        2e-7 / kEps);
}

TEST(Exponential, StaysWithinItsPromiseOverTheWholeRange) {
  // From 2^-30 to beyond the largest exponent in steps of 2^-14 of the number, both signs.
  std::vector<float> in{0x1p-30F};
  while (in.back() < 110) in.push_back(in.back() * (1 + 0x1p-14F));
  for (std::size_t i = in.size(); i-- > 0;) in.push_back(-in[i]);
  std::vector<float> out(in.size());
  attn::exponential(in, out);
  double worst = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double right = std::exp(static_cast<double>(in[i]));
    if (right >= 0x1.ffffffp+127) {
      ASSERT_EQ(out[i], kInfinity) << in[i];
    } else if (right < std::numeric_limits<float>::min()) {
      ASSERT_NEAR(out[i], right, std::numeric_limits<float>::denorm_min()) << in[i];
    } else {
      worst = std::max(worst, std::abs(out[i] - right) / right);
    }
  }
  EXPECT_LE(worst, 2e-7);
}

TEST(Exponential, SpecialValues) {
  const std::vector<float> in{0, -0.0F, -kInfinity, kInfinity, kNan, 89, -104, 3.4e38F, -3.4e38F};
  std::vector<float> out(in.size());
  attn::exponential(in, out);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], 1);
  EXPECT_EQ(out[2], 0);
  EXPECT_EQ(out[3], kInfinity);
  EXPECT_TRUE(std::isnan(out[4]));
  EXPECT_EQ(out[5], kInfinity);
  EXPECT_EQ(out[6], 0);
  EXPECT_EQ(out[7], kInfinity);
  EXPECT_EQ(out[8], 0);
}

TEST(RowMax, EveryLengthAndPlace) {
  Random random(4);
  for (std::size_t length = 0; length <= kMaxLength; ++length) {
    for (std::size_t shift = 0; shift <= kMaxShift; ++shift) {
      for (std::size_t place = 0; place < length; ++place) {
        Shifted in(shift, length);
        in.fill(random);
        // All below every finite sentinel that one might start from.
        for (float& cell : in.cells()) cell -= 3e38F;
        in.cells()[place] = -2e38F;
        ASSERT_EQ(attn::row_max(in.cells()), -2e38F);
        in.cells()[place] = kNan;
        ASSERT_TRUE(std::isnan(attn::row_max(in.cells()))) << length << " " << place;
      }
    }
  }
  EXPECT_EQ(attn::row_max({}), -kInfinity);
}

TEST(RowSum, EveryLengthAndShift) {
  Random random(5);
  for (std::size_t length = 0; length <= kMaxLength; ++length) {
    for (std::size_t shift = 0; shift <= kMaxShift; ++shift) {
      Shifted in(shift, length);
      in.fill(random);
      double right = 0;
      double sizes = 0;
      for (const float cell : in.cells()) {
        right += cell;
        sizes += std::abs(cell);
      }
      ASSERT_NEAR(attn::row_sum(in.cells()), right,
                  kEps * 0.5 * static_cast<double>(length) * sizes);
    }
  }
}

TEST(Divide, EveryLengthAndShift) {
  sweep([](auto in, auto out) { attn::divide(in, {}, 3, out); }, [](double x) { return x / 3; },
        0.5);
}

TEST(Divide, OneExponentialGivesAWeightOfExactlyOne) {
  for (int i = 0; i < 4096; ++i) {
    const float x = 1 + static_cast<float>(i) * 0x1p-12F;
    float out = 0;
    attn::divide({&x, 1}, {}, x, {&out, 1});
    ASSERT_EQ(out, 1) << x;
  }
}

TEST(Divide, ASumOfZeroGivesZeros) {
  const std::vector<float> in(7, 0);
  std::vector<float> out(7, kNan);
  attn::divide(in, {}, 0, out);
  for (const float cell : out) EXPECT_EQ(cell, 0);
}

TEST(SubtractMax, HiddenKeysStayAtMinusInfinity) {
  const std::vector<float> scores{1, kNan, 3, -kInfinity, 5};
  const std::vector<float> mask{0, -kInfinity, 0, -kInfinity, 0};
  std::vector<float> out(5);
  attn::subtract_max(scores, mask, 5, out);
  EXPECT_EQ(out, (std::vector<float>{-4, -kInfinity, -2, -kInfinity, 0}));
  attn::subtract_max(scores, mask, -kInfinity, out);
  EXPECT_EQ(out[1], -kInfinity);
  EXPECT_EQ(out[3], -kInfinity);
}

TEST(AddMask, MinusInfinityHidesWhateverTheScore) {
  const std::vector<float> scores{1, kNan, kInfinity, 2, kNan};
  const std::vector<float> mask{0.5, -kInfinity, -kInfinity, -1e9F, 0};
  std::vector<float> out(5);
  attn::add_mask(scores, mask, out);
  EXPECT_EQ(out[0], 1.5);
  EXPECT_EQ(out[1], -kInfinity);
  EXPECT_EQ(out[2], -kInfinity);
  EXPECT_EQ(out[3], -1e9F);
  EXPECT_TRUE(std::isnan(out[4]));
}

}  // namespace
