// A long text in bounded memory: its beginning and its end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace viaduct {

class KeptText {
 public:
  // `most`: the number of bytes that are kept, one half from the beginning of the text, the other
  // half from its end.
  explicit KeptText(size_t most) : half_(most / 2) {}

  void Append(std::string_view text);
  // Returns the whole text if it was short enough; otherwise a line in the middle states the number
  // of bytes that were left out.
  std::string Text() const;

 private:
  size_t half_;
  size_t bytes_ = 0;  // in total
  std::string head_;
  std::string tail_;  // end of the text after the head; up to two halves, so that moving is rare
};

}  // namespace viaduct
