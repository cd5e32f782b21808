// Running another program to its end.
#pragma once

#include <string>
#include <vector>

namespace viaduct::sys {

struct ProgramResult {
  int status = 0;      // exit status; 128 + signal; 127 where it cannot be executed
  std::string output;  // standard output and error
};

// `words[0]` is looked up in PATH; `input` is its standard input. Throws SystemError.
ProgramResult RunProgram(const std::vector<std::string>& words, const std::string& input = "");

}  // namespace viaduct::sys
