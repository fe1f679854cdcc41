// The normal generator: SplitMix64, then the polar method.
#include "attn/normal.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "elementary.hpp"

namespace attn {
namespace {

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t state) : state_(state) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // A multiple of 2⁻⁵² in [−1, 1).
  double next_signed() { return static_cast<double>(next() >> 11) * 0x1p-52 - 1; }

 private:
  std::uint64_t state_;
};

}  // namespace

void fill_normal(std::uint32_t seed, std::uint32_t stream, Floats out) {
  // Every (seed, stream) begins at a place of the sequence that a full mix of the two chooses.
  SplitMix64 uniform(SplitMix64((std::uint64_t{stream} << 32) | seed).next());
  for (std::size_t k = 0; k < out.size(); k += 2) {
    double u = 0;
    double v = 0;
    double s = 0;
    do {
      u = uniform.next_signed();
      v = uniform.next_signed();
      s = u * u + v * v;
    } while (s >= 1 || s == 0);
    const double factor = std::sqrt(-2 * elementary::log(s) / s);
    out[k] = static_cast<float>(u * factor);
    if (k + 1 < out.size()) out[k + 1] = static_cast<float>(v * factor);
  }
}

}  // namespace attn
