#include "base/error.h"

#include <cerrno>
#include <cstring>

namespace viaduct {
namespace {

ExitStatus StatusOf(int error_number) {
  return error_number == EPERM || error_number == EACCES ? ExitStatus::kEnvironment
                                                         : ExitStatus::kFailure;
}

}  // namespace

SystemError::SystemError(std::string_view attempted, int error_number)
    : Error(std::string(attempted) + ": " + std::strerror(error_number), StatusOf(error_number)),
      error_number_(error_number) {}

int SystemCall(std::string_view attempted, int result) {
  if (result < 0) throw SystemError(attempted, errno);
  return result;
}

ssize_t SystemCall(std::string_view attempted, ssize_t result) {
  if (result < 0) throw SystemError(attempted, errno);
  return result;
}

}  // namespace viaduct
