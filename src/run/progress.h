// What a person sees while a run is on: one line that changes in place on a terminal, plain lines
// elsewhere.
#pragma once

#include <cstdio>
#include <string>

#include "base/time.h"

namespace viaduct::run {

class Progress {
 public:
  // Writes to `stream`; nothing but Line() and Note() when it is not a terminal, nothing at all
  // when quiet.
  Progress(std::FILE* stream, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The state of what is going on: replaces the last status on a terminal; elsewhere it is printed
  // at most every few seconds.
  void Status(const std::string& text);
  // Something that happened; stays.
  void Line(const std::string& text);

 private:
  void Erase();

  std::FILE* stream_;
  bool quiet_, terminal_, shown_ = false;
  Instant last_;
};

}  // namespace viaduct::run
