// The exceptions of the product. Libraries throw them and never print; a program prints the message
// once, as one line, and exits with status(). A message says what was wrong, where, and what the
// user can do about it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace viaduct {

// Exit statuses of every program of the product (docs/promises.md).
enum class ExitStatus {
  kSuccess = 0,
  kFailure = 1,  // the program attempted the work and failed
  kUsage = 2,    // the command line, or a file that the user wrote, is wrong
  // Exit status 3: this machine cannot do the work, because a privilege, kernel feature or program
  // is missing.
  kEnvironment = 3,
  // Exit status 4: the run ended, but its own timing error was over its limit: the results are
  // void.
  kVoid = 4,
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

// The error that the user's input is wrong (exit status 2).
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message, ExitStatus::kUsage) {}
};

// The error that this machine cannot do what the user asked for (exit status 3).
class EnvironmentError : public Error {
 public:
  explicit EnvironmentError(const std::string& message)
      : Error(message, ExitStatus::kEnvironment) {}
};

// The error of a failed system call. Keeps errno so that callers can distinguish cases.
class SystemError : public Error {
 public:
  // Creates an error with the message "ATTEMPTED: strerror(ERROR_NUMBER)". EPERM and EACCES get
  // exit status 3.
  SystemError(std::string_view attempted, int error_number);
  int error_number() const { return error_number_; }

 private:
  int error_number_;
};

// Returns `result`, the result of a system call, unless it is negative; then throws
// SystemError(attempted, errno). `attempted` names the call and its object: "ioctl SIOCGIFINDEX
// eth0".
int SystemCall(std::string_view attempted, int result);
ssize_t SystemCall(std::string_view attempted, ssize_t result);

}  // namespace viaduct
