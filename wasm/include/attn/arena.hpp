// Memory for the matrices of one computation, taken by configuring and kept until the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace attn {

class Arena {
 public:
  // Room for so many bytes, a multiple of `alignment`, which its start has, too. What was there is
  // lost when there was less; without that much memory there is none afterwards.
  bool reserve(std::int64_t bytes, std::int64_t alignment) {
    if (bytes <= capacity_) return true;
    // The old memory goes first: the two together may not fit.
    memory_.reset();
    capacity_ = 0;
    memory_.reset(static_cast<float*>(
        std::aligned_alloc(static_cast<std::size_t>(alignment), static_cast<std::size_t>(bytes))));
    if (memory_ == nullptr) return false;
    capacity_ = bytes;
    return true;
  }

  float* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };

  std::unique_ptr<float[], Free> memory_;
  std::int64_t capacity_ = 0;
};

}  // namespace attn
