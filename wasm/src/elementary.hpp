// eˣ and ln x in double from basic operations: the same bits everywhere, and no tables to download.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace attn::elementary {

// ln x for a normal x > 0, within a few units in the last place: x = m·2^e with √½ <= m < √2, and
// ln m = 2·artanh f = 2·(f + f³/3 + f⁵/5 + …) for f = (m − 1)/(m + 1), |f| < 0.172.
inline double log(double x) {
  constexpr std::uint64_t kMantissa = 0x000fffffffffffff;
  constexpr std::uint64_t kOne = 0x3ff0000000000000;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & kMantissa) | kOne);
  if (m > std::numbers::sqrt2) {
    m /= 2;
    ++exponent;
  }
  const double f = (m - 1) / (m + 1);
  const double square = f * f;
  double series = 0;
  for (int n = 21; n >= 1; n -= 2) series = series * square + 1.0 / n;
  return exponent * std::numbers::ln2 + 2 * f * series;
}

// ln(1 + x) for x >= 0, also where x is tiny: the factor undoes the rounding of 1 + x.
inline double log1p(double x) {
  const double u = 1 + x;
  return u == 1 ? x : log(u) * (x / (u - 1));
}

// 1/n! for n = 0 … 13, the Taylor series of eʳ.
inline constexpr std::array<double, 14> kInverseFactorials = [] {
  std::array<double, 14> inverses{};
  double factorial = 1;
  for (std::size_t n = 0; n < inverses.size(); ++n) {
    if (n > 0) factorial *= static_cast<double>(n);
    inverses[n] = 1 / factorial;
  }
  return inverses;
}();

// eˣ for x <= 0, within a few units in the last place: x = k·ln 2 + r with |r| <= ln 2/2, and the
// Taylor series of eʳ; 0 below the smallest normal number.
inline double exp(double x) {
  // ln 2 in two parts: products of the high one with whole numbers up to 2¹¹ are exact.
  constexpr double kLn2High = 0x1.62e42fefa38p-1;
  constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  if (!(x > -708)) return x != x ? x : 0;
  const double k = std::floor(x * std::numbers::log2e + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double series = kInverseFactorials[13];
  for (std::size_t n = 13; n-- > 0;) series = series * r + kInverseFactorials[n];
  return series *
         std::bit_cast<double>(static_cast<std::uint64_t>(1023 + static_cast<int>(k)) << 52);
}

}  // namespace attn::elementary
