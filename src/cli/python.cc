#include "cli/python.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "sys/find_program.h"

namespace viaduct::cli {
namespace {

constexpr const char* kPython = "/usr/bin/python3";

}  // namespace

void ExecutePython(std::vector<std::string> arguments) {
  const std::string command = sys::OwnProgram();
  setenv("VIADUCT", command.c_str(), 1);
  arguments.insert(arguments.begin(), kPython);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& word : arguments) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(kPython, pointers.data());
  throw EnvironmentError(
      fmt::format("{}: {}; apt-get install python3", kPython, std::strerror(errno)));
}

}  // namespace viaduct::cli
