// Errors of system calls on files that say nothing about the file itself.
#pragma once

#include <cerrno>

namespace viaduct {

// Whether a call failed because this process or the machine has no descriptors or memory left: the
// file of the call may well exist.
inline bool IsShortage(int error_number) {
  return error_number == EMFILE || error_number == ENFILE || error_number == ENOMEM;
}

}  // namespace viaduct
