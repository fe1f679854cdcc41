// What everything behind the boundary takes and gives: handles, failures, views, staged lengths.
//
// What JavaScript holds goes by a number and has free functions: the JavaScript that Embind needs
// for classes would be half of all its JavaScript.
#pragma once

#include <emscripten/bind.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>

#include "attn/kernels.hpp"
#include "attn/stages.hpp"
#include "attn/status.hpp"

namespace attn::binding {

EMSCRIPTEN_DECLARE_VAL_TYPE(Float32View);
EMSCRIPTEN_DECLARE_VAL_TYPE(Float64View);
EMSCRIPTEN_DECLARE_VAL_TYPE(Int32View);

inline Float32View view_of(ConstFloats cells) {
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

  std::string failure_code() const { return std::string(name_of(status_.code)); }
  std::string failure_subject() const { return std::string(status_.subject); }
  double failure_found() const { return status_.found; }
  double failure_expected() const { return status_.expected; }

 protected:
  bool done(const Status& status) {
    status_ = status;
    return status.ok();
  }

 private:
  Status status_;
};

inline Held* at(Handle handle) { return reinterpret_cast<Held*>(handle); }

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
inline std::int64_t to_count(double value) {
  if (!(value >= 0) || value != std::floor(value)) return -1;
  return static_cast<std::int64_t>(std::fmin(value, 0x1p53));
}

// A constant as JavaScript gives it: NaN stands for none.
inline std::optional<float> to_constant(double value) {
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

}  // namespace attn::binding
