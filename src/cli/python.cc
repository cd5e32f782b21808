#include "cli/python.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "sys/process/find_program.h"

namespace viaduct::cli {
namespace {

constexpr const char* kPython = "/usr/bin/python3";

// Returns the path of the Python interpreter: the interpreter of the machine, or the interpreter
// that the variable VIADUCT_PYTHON names. The script of the binary wheel sets the variable, because
// the wheel's packages are installed for that Python.
std::string Python() {
  const char* given = std::getenv("VIADUCT_PYTHON");
  if (given == nullptr || *given == '\0') return kPython;
  const std::string found = sys::FindProgram(given);
  return found.empty() ? given : found;
}

}  // namespace

void ExecutePython(std::vector<std::string> arguments) {
  const std::string command = sys::OwnProgram();
  setenv("VIADUCT", command.c_str(), 1);
  const std::string python = Python();
  arguments.insert(arguments.begin(), python);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& word : arguments) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(python.c_str(), pointers.data());
  const char* hint = python == kPython ? "install it with apt-get install python3"
                                       : "check the environment variable VIADUCT_PYTHON";
  throw EnvironmentError(
      fmt::format("cannot execute {}: {}; {}", python, std::strerror(errno), hint));
}

}  // namespace viaduct::cli
