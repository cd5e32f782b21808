// A long text in bounded memory: its beginning and its end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace viaduct {

class KeptText {
 public:
  // Keeps at most `most` bytes, one half from the beginning of the text, the other half from its
  // end.
  explicit KeptText(size_t most) : half_(most / 2) {}

  void Append(std::string_view text);
  // Returns the complete text if it has at most `most` bytes; otherwise its beginning and its end,
  // with a line between them that states the number of omitted bytes.
  std::string Text() const;

 private:
  size_t half_;
  size_t bytes_ = 0;  // length of the complete text
  std::string head_;
  // The end of the text after head_; cut to half_ bytes before it exceeds 2 * half_.
  std::string tail_;
};

}  // namespace viaduct
