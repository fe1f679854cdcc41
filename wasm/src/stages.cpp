// Checks of a configuration, and the public names of the stage table's columns.
#include "attn/stages.hpp"

#include <cmath>

namespace attn {
namespace {

struct NamedSize {
  std::string_view name;
  std::int64_t value;
  std::int64_t least;
};

Status check_sizes(const Config& c) {
  for (const auto& [name, value, least] :
       {NamedSize{"batch", c.batch, 1}, NamedSize{"heads", c.heads, 1},
        NamedSize{"kvHeads", c.kv_heads, 1}, NamedSize{"tq", c.tq, 0}, NamedSize{"tk", c.tk, 0},
        NamedSize{"dK", c.d_k, 0}, NamedSize{"dV", c.d_v, 0}, NamedSize{"dModel", c.d_model, 0},
        NamedSize{"past", c.past, 0}}) {
    if (value < least) {
      return {Code::kBadSize, name, static_cast<double>(value), static_cast<double>(least)};
    }
    if (value > kMaxSize) {
      return {Code::kTooLarge, name, static_cast<double>(value), static_cast<double>(kMaxSize)};
    }
  }
  return {};
}

Status check_agreement(const Config& c) {
  if (c.heads % c.kv_heads != 0) {
    return {Code::kNotMultiple, "heads", static_cast<double>(c.heads),
            static_cast<double>(c.kv_heads)};
  }
  if (c.context && !c.from_x) return {Code::kExcludes, "context", 0, 0};
  if (c.past > c.tk) {
    return {Code::kSizeMismatch, "past", static_cast<double>(c.past), static_cast<double>(c.tk)};
  }
  if (c.from_x && !c.context && c.tk - c.past != c.tq) {
    return {Code::kSizeMismatch, "tk", static_cast<double>(c.tk),
            static_cast<double>(c.tq + c.past)};
  }
  return {};
}

Status check_valid_lengths(const Config& c) {
  if (c.valid_lengths.empty()) return {};
  if (c.past > 0) return {Code::kExcludes, "validLengths", static_cast<double>(c.past), 0};
  const auto count = static_cast<std::int64_t>(c.valid_lengths.size());
  if (count != c.batch) {
    return {Code::kSizeMismatch, "validLengths", static_cast<double>(count),
            static_cast<double>(c.batch)};
  }
  for (const std::int32_t length : c.valid_lengths) {
    if (length < 0) return {Code::kBadSize, "validLength", static_cast<double>(length), 0};
    if (length > c.tk) {
      return {Code::kTooLarge, "validLength", static_cast<double>(length),
              static_cast<double>(c.tk)};
    }
  }
  return {};
}

Status check_constants(const Config& c) {
  if (c.scale && !std::isfinite(*c.scale)) return {Code::kBadNumber, "scale", *c.scale, 0};
  if (c.softcap && !(std::isfinite(*c.softcap) && *c.softcap > 0)) {
    return {Code::kBadNumber, "softcap", *c.softcap, 0};
  }
  return {};
}

}  // namespace

Status check_without_arena(const Config& config) {
  if (const Status status = check_sizes(config); !status.ok()) return status;
  if (const Status status = check_agreement(config); !status.ok()) return status;
  if (const Status status = check_valid_lengths(config); !status.ok()) return status;
  return check_constants(config);
}

Status check(const Config& config) {
  if (const Status status = check_without_arena(config); !status.ok()) return status;
  if (const std::int64_t bytes = arena_bytes_of(config); bytes > kArenaBytes) {
    return {Code::kTooLarge, "arena", static_cast<double>(bytes), static_cast<double>(kArenaBytes)};
  }
  return {};
}

float scale_of(const Config& config) {
  if (config.scale) return *config.scale;
  if (config.d_k == 0) return 1;
  return static_cast<float>(1 / std::sqrt(static_cast<double>(config.d_k)));
}

std::string_view name_of(Axis axis) {
  static constexpr std::array<std::string_view, 12> kNames{
      "query",          "key",          "newKey",     "model",  "feature", "value", "headsFeature",
      "kvHeadsFeature", "kvHeadsValue", "headsValue", "result", "one"};
  return kNames[static_cast<std::size_t>(axis)];
}

std::string_view name_of(PerHead per_head) {
  static constexpr std::array<std::string_view, 3> kNames{"none", "heads", "kvHeads"};
  return kNames[static_cast<std::size_t>(per_head)];
}

std::string_view name_of(Operation operation) {
  static constexpr std::array<std::string_view, 14> kNames{
      "given",  "matmul",      "join", "transpose", "scale",       "softcap",     "addMask",
      "rowMax", "subtractRow", "exp",  "rowSum",    "divideByRow", "concatHeads", "sumOfProducts"};
  return kNames[static_cast<std::size_t>(operation)];
}

}  // namespace attn
