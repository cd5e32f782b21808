// Errors that do not depend on the file that was asked for.
#pragma once

#include <cerrno>

namespace viaduct {

// Whether a call failed because this process or the machine has no descriptors or memory left: the
// file may well exist.
inline bool IsShortage(int error_number) {
  return error_number == EMFILE || error_number == ENFILE || error_number == ENOMEM;
}

}  // namespace viaduct
