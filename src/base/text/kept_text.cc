#include "base/text/kept_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace viaduct {

void KeptText::Append(std::string_view text) {
  bytes_ += text.size();
  const size_t room = std::min(half_ - head_.size(), text.size());
  head_.append(text.substr(0, room));
  text.remove_prefix(room);
  text.remove_prefix(text.size() - std::min(half_, text.size()));
  if (tail_.size() + text.size() > 2 * half_) {
    tail_.erase(0, tail_.size() - std::min(half_, tail_.size()));
  }
  tail_.append(text);
}

std::string KeptText::Text() const {
  const std::string_view end =
      std::string_view(tail_).substr(tail_.size() - std::min(half_, tail_.size()));
  const size_t left_out = bytes_ - head_.size() - end.size();
  if (left_out == 0) return head_ + std::string(end);
  return fmt::format("{}\n[{} bytes omitted here]\n{}", head_, left_out, end);
}

}  // namespace viaduct
