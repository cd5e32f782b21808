// The environment that results record to stay reproducible: versions, kernel, machine, command
// line.
#pragma once

#include <cstdint>
#include <string>

#include "base/fields.h"

namespace viaduct::result {

struct Environment {
  std::string viaduct, kernel, cpu;
  int64_t cpus = 0, memory_bytes = 0;
  std::string started, command;  // "" if there was no run
  std::string ns3, ns3_build;    // "" if no simulator took part

  static fields::KeysOf<Environment> Keys();
};

}  // namespace viaduct::result
