// The exceptions of the product. Libraries throw these and never print; a program prints the
// message once, as one line, and exits with status(). A message says what was wrong, where, and
// what to do about it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace viaduct {

// Exit statuses of every program of the product (docs/promises.md).
enum class ExitStatus {
  kSuccess = 0,
  kFailure = 1,      // the work was tried and failed
  kUsage = 2,        // the command line or a file the user wrote is wrong
  kEnvironment = 3,  // this machine cannot do it: privilege, kernel feature, missing program
  kVoid = 4,         // the run ended but its own timing limit makes the results void
};

// The base class of every error of the product.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitStatus status = ExitStatus::kFailure)
      : std::runtime_error(message), status_(status) {}
  ExitStatus status() const { return status_; }

 private:
  ExitStatus status_;
};

// The user's input is wrong (exit status 2).
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message, ExitStatus::kUsage) {}
};

// The machine cannot do what was asked (exit status 3).
class EnvironmentError : public Error {
 public:
  explicit EnvironmentError(const std::string& message)
      : Error(message, ExitStatus::kEnvironment) {}
};

// A system call failed. Keeps errno so that callers can distinguish cases.
class SystemError : public Error {
 public:
  // The message becomes "ATTEMPTED: strerror(ERROR_NUMBER)". EPERM and EACCES get status 3.
  SystemError(std::string_view attempted, int error_number);
  int error_number() const { return error_number_; }

 private:
  int error_number_;
};

// Returns `result` unless it is negative; then throws SystemError(attempted, errno).
// `attempted` names the call and its object: "ioctl SIOCGIFINDEX eth0".
int SystemCall(std::string_view attempted, int result);
ssize_t SystemCall(std::string_view attempted, ssize_t result);

}  // namespace viaduct
