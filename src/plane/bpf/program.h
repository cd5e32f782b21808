// The object files of the eBPF programs of src/plane/bpf, which the build compiles and embeds
// (programs.cmake).
#pragma once

#include "sys/bpf/object.h"

namespace viaduct::bpf {

extern const EmbeddedProgram kCopyProgram;
extern const EmbeddedProgram kForwardProgram;
extern const EmbeddedProgram kJoinProgram;
extern const EmbeddedProgram kRBridgeProgram;
extern const EmbeddedProgram kUpcallProgram;

}  // namespace viaduct::bpf
