// The object files of the room's programs, which the build compiles and embeds (embed.cmake).
#pragma once

#include <cstddef>

namespace viaduct::bpf {

extern const unsigned char kCopyProgram[];
extern const size_t kCopyProgramSize;
extern const unsigned char kForwardProgram[];
extern const size_t kForwardProgramSize;
extern const unsigned char kJoinProgram[];
extern const size_t kJoinProgramSize;
extern const unsigned char kRBridgeProgram[];
extern const size_t kRBridgeProgramSize;
extern const unsigned char kRedirectProgram[];
extern const size_t kRedirectProgramSize;
extern const unsigned char kShareProgram[];
extern const size_t kShareProgramSize;
extern const unsigned char kUpcallProgram[];
extern const size_t kUpcallProgramSize;

}  // namespace viaduct::bpf
