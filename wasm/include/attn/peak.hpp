// What the processor can do at best, as the measure of what the kernels do.
#pragma once

#include <cstdint>

namespace attn {

// Multiplies and adds on registers alone, as this build does it, for so many rounds. Returns the
// floating-point operations that it took, two for each lane of each multiply-add.
double multiply_adds(std::uint32_t rounds);

}  // namespace attn
