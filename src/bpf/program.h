// The object file of forward.bpf.c, which the build compiles and embeds (embed.cmake).
#pragma once

#include <cstddef>

namespace viaduct::bpf {

extern const unsigned char kForwardProgram[];
extern const size_t kForwardProgramSize;

}  // namespace viaduct::bpf
