// What the core reports instead of throwing: a code and the facts that a message needs.
#pragma once

#include <cstdint>
#include <string_view>

namespace attn {

enum class Code : std::uint8_t {
  kOk,
  kBadSize,           // a size is negative, or zero where at least one is needed
  kTooLarge,          // a size, or all stages together (subject `arena`, in bytes), pass the limit
  kOutOfMemory,       // the arena (in bytes) could not be had; the pipeline is not configured
  kSizeMismatch,      // a size contradicts another one
  kNotMultiple,       // a size is not a multiple of another one
  kBadNumber,         // a constant is NaN or infinite, or negative where it may not be
  kExcludes,          // valid lengths with a past (found: how many keys), or a context without X
  kBadMask,           // a number of the mask (found) is NaN or +∞, or in a boolean mask neither 0
                      // nor 1; expected is its place in the mask as given
  kStageAbsent,       // the stage does not apply under this configuration
  kNotGiven,          // the stage is computed and cannot be written
  kCellOutsideStage,  // an index of a cell is not below its extent
};

// `subject` names the stage or the member of Config that is at fault and always is a literal.
struct [[nodiscard]] Status {
  Code code = Code::kOk;
  std::string_view subject;
  double found = 0;
  double expected = 0;

  constexpr bool ok() const { return code == Code::kOk; }
};

// The public name of a code; the page turns it into a sentence.
constexpr std::string_view name_of(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kBadSize:
      return "badSize";
    case Code::kTooLarge:
      return "tooLarge";
    case Code::kOutOfMemory:
      return "outOfMemory";
    case Code::kSizeMismatch:
      return "sizeMismatch";
    case Code::kNotMultiple:
      return "notMultiple";
    case Code::kBadNumber:
      return "badNumber";
    case Code::kExcludes:
      return "excludes";
    case Code::kBadMask:
      return "badMask";
    case Code::kStageAbsent:
      return "stageAbsent";
    case Code::kNotGiven:
      return "notGiven";
    case Code::kCellOutsideStage:
      return "cellOutsideStage";
  }
  return "";
}

}  // namespace attn
