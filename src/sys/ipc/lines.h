// Lines of text on a stream.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace viaduct::ipc {

// The lines of a stream whose bytes arrive in any pieces.
class LineBuffer {
 public:
  // `max_line` in bytes, without the newline.
  explicit LineBuffer(size_t max_line) : max_line_(max_line) {}
  // Returns false if a line is longer than max_line, complete or not; the stream is then unusable.
  [[nodiscard]] bool Add(std::string_view bytes);
  // The next complete line, without its newline.
  std::optional<std::string> Next();

 private:
  size_t max_line_;
  std::string text_;
  size_t begin_ = 0;  // of the first line in text_ that was not taken
  size_t tail_ = 0;   // of the line that is not complete
};

// Both directions of a stream socket, a message a line. Nothing blocks but SendAll().
class LineChannel {
 public:
  // `max_line` in bytes, of received lines.
  LineChannel(UniqueFd stream, size_t max_line);

  // Readable when Receive() has something, or the other end has closed.
  int fd() const { return stream_.get(); }
  // What to poll fd() for: POLLIN, and POLLOUT while lines wait for the other end to read.
  short Events() const;

  // Sends a line, to which a newline is added; what the other end does not read now is kept, and
  // sent by later calls. If it has closed, the line is dropped, and Ended() is true soon.
  void Send(std::string_view line);
  // The same, and waits until the other end has taken all that was sent, or has closed.
  void SendAll(std::string_view line);

  // The next line, if a complete one has arrived. Throws Error if one is too long.
  std::optional<std::string> Receive();
  // The other end has closed, and Receive() has returned all its lines.
  bool Ended() const { return closed_ && !has_more_; }

 private:
  void Flush();

  UniqueFd stream_;
  const size_t max_line_;
  LineBuffer lines_;
  std::string unsent_;
  bool closed_ = false;
  bool has_more_ = false;  // there may be lines in lines_
};

}  // namespace viaduct::ipc
