#include "sys/ipc/lines.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/error.h"
#include "sys/descriptors.h"

namespace viaduct::ipc {

bool LineBuffer::Add(std::string_view bytes) {
  // Removes the lines that Next() has returned before the text grows, so that each byte is moved
  // only once.
  tail_ -= begin_;
  text_.erase(0, begin_);
  begin_ = 0;
  // Searches only the new bytes: the bytes from tail_ on that were there before contain no newline.
  size_t from = text_.size();
  text_ += bytes;
  for (size_t end; (end = text_.find('\n', from)) != std::string::npos; from = tail_) {
    if (end - tail_ > max_line_) return false;
    tail_ = end + 1;
  }
  return text_.size() - tail_ <= max_line_;
}

std::optional<std::string> LineBuffer::Next() {
  if (begin_ == tail_) return std::nullopt;
  const size_t end = text_.find('\n', begin_);
  std::string line = text_.substr(begin_, end - begin_);
  begin_ = end + 1;
  return line;
}

LineChannel::LineChannel(UniqueFd stream, size_t max_line)
    : stream_(std::move(stream)), max_line_(max_line), lines_(max_line) {
  sys::SetNonBlocking(stream_.get());
}

short LineChannel::Events() const {
  return static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT);
}

void LineChannel::Send(std::string_view line) {
  unsent_ += line;
  unsent_ += '\n';
  Flush();
}

void LineChannel::SendAll(std::string_view line) {
  Send(line);
  while (!unsent_.empty()) {
    pollfd writable{stream_.get(), POLLOUT, 0};
    poll(&writable, 1, -1);
    Flush();
  }
}

void LineChannel::Flush() {
  size_t sent = 0;
  while (sent < unsent_.size()) {
    const ssize_t count =
        send(stream_.get(), unsent_.data() + sent, unsent_.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    // An error of send(2) discards the bytes; Receive() detects that the peer has closed.
    sent = count < 0 ? unsent_.size() : sent + static_cast<size_t>(count);
  }
  unsent_.erase(0, sent);
}

std::optional<std::string> LineChannel::Receive() {
  Flush();
  std::array<char, 65536> buffer;
  while (!closed_) {
    if (auto line = lines_.Next()) return line;
    const ssize_t got = read(stream_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::nullopt;
    if (got <= 0) {
      closed_ = true;  // end of stream, or ECONNRESET
      has_more_ = true;
    } else if (!lines_.Add({buffer.data(), static_cast<size_t>(got)})) {
      throw Error(fmt::format("message of more than {} MiB", max_line_ >> 20));
    }
  }
  auto line = lines_.Next();
  has_more_ = line.has_value();
  return line;
}

}  // namespace viaduct::ipc
