// The console output of a guest, which is read when it arrives; the last lines are kept.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace viaduct::guest {

class Console {
 public:
  static constexpr size_t kLines = 20;
  static constexpr size_t kLineLength = 200;  // characters; longer lines are truncated

  Console() = default;
  // `fd`: the read end of the guest's standard output; may be empty.
  explicit Console(UniqueFd fd);

  int fd() const { return fd_.get(); }
  // Reads the available output without blocking; returns false at end of file.
  bool Drain();
  // Adds output that the caller has read; for tests and for guests without a descriptor.
  void Add(std::string_view text);
  // Returns the last `count` lines, oldest first, without control characters, joined by " | ".
  std::string LastLines(size_t count) const;

 private:
  UniqueFd fd_;
  std::deque<std::string> lines_{std::string()};  // the last line is not complete yet
};

}  // namespace viaduct::guest
