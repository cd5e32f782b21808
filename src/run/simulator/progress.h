// The progress display of a run: on a terminal one line that is updated in place, elsewhere
// separate lines.
#pragma once

#include <cstdio>
#include <string>

#include "base/time.h"

namespace viaduct::run {

class Progress {
 public:
  // Writes to `stream`; writes nothing if `quiet` is set.
  Progress(std::FILE* stream, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows the current state: on a terminal it replaces the previous state; elsewhere it is printed
  // at most every few seconds.
  void Status(const std::string& text);
  // Prints an event as a line that is not replaced.
  void Line(const std::string& text);

 private:
  void Erase();

  std::FILE* stream_;
  bool quiet_, terminal_, shown_ = false;
  Instant last_;
};

}  // namespace viaduct::run
