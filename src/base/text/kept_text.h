// A long text in bounded memory: its beginning and its end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace viaduct {

class KeptText {
 public:
  // How many bytes are kept: one half of them are the first, the other the last.
  explicit KeptText(size_t most) : half_(most / 2) {}

  void Append(std::string_view text);
  // Everything, if it was no more than can be kept; else a line in the middle says how many bytes
  // were left out.
  std::string Text() const;

 private:
  size_t half_;
  size_t bytes_ = 0;  // in total
  std::string head_;
  std::string tail_;  // of what is not in the head; up to two halves, so that moving it is rare
};

}  // namespace viaduct
