#include "guest/process/console.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace viaduct::guest {

Console::Console(UniqueFd fd) : fd_(std::move(fd)) {
  if (fd_) fcntl(fd_.get(), F_SETFL, fcntl(fd_.get(), F_GETFL) | O_NONBLOCK);
}

bool Console::Drain() {
  std::array<char, 4096> buffer;
  while (fd_) {
    const ssize_t length = read(fd_.get(), buffer.data(), buffer.size());
    if (length > 0) {
      Add({buffer.data(), static_cast<size_t>(length)});
    } else if (length == 0 || (errno != EINTR && errno != EAGAIN)) {
      return false;
    } else if (errno == EAGAIN) {
      return true;
    }
  }
  return false;
}

void Console::Add(std::string_view text) {
  for (const char c : text) {
    if (c == '\n') {
      if (!lines_.back().empty()) lines_.emplace_back();
      if (lines_.size() > kLines) lines_.pop_front();
    } else if (static_cast<unsigned char>(c) >= ' ' && lines_.back().size() < kLineLength) {
      lines_.back().push_back(c);
    }
  }
}

std::string Console::LastLines(size_t count) const {
  const size_t whole = lines_.size() - (lines_.back().empty() ? 1 : 0);
  std::string text;
  for (size_t i = whole - std::min(count, whole); i < whole; ++i) {
    if (!text.empty()) text += " | ";
    text += lines_[i];
  }
  return text;
}

}  // namespace viaduct::guest
