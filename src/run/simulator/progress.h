// The progress display of a run: one line that is updated in place on a terminal, separate lines
// elsewhere.
#pragma once

#include <cstdio>
#include <string>

#include "base/time.h"

namespace viaduct::run {

class Progress {
 public:
  // Writes to `stream`; nothing at all when quiet.
  Progress(std::FILE* stream, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows the current state: replaces the last status on a terminal; elsewhere it is printed at
  // most every few seconds.
  void Status(const std::string& text);
  // Prints an event as a lasting line.
  void Line(const std::string& text);

 private:
  void Erase();

  std::FILE* stream_;
  bool quiet_, terminal_, shown_ = false;
  Instant last_;
};

}  // namespace viaduct::run
