// Lines of text that are sent and received over a stream.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace viaduct::ipc {

// Splits a stream, whose bytes arrive in pieces of any size, into lines.
class LineBuffer {
 public:
  // `max_line`: the maximum length of a line in bytes, without the newline.
  explicit LineBuffer(size_t max_line) : max_line_(max_line) {}
  // Adds bytes of the stream. Returns false if a line is longer than max_line, complete or not; the
  // stream is then unusable.
  [[nodiscard]] bool Add(std::string_view bytes);
  // Returns the next complete line, without its newline.
  std::optional<std::string> Next();

 private:
  size_t max_line_;
  std::string text_;
  size_t begin_ = 0;  // start of the first line in text_ that Next() has not returned
  size_t tail_ = 0;   // start of the line in text_ that is not complete
};

// Both directions of a stream socket, one message per line. Only SendAll() blocks.
class LineChannel {
 public:
  // `max_line`: the maximum length of received lines in bytes.
  LineChannel(UniqueFd stream, size_t max_line);

  // Returns a descriptor that is readable if Receive() has a line, or the peer has closed.
  int fd() const { return stream_.get(); }
  // Returns the events to poll fd() for: POLLIN, and POLLOUT while lines wait for the peer to read.
  short Events() const;

  // Sends a line, to which a newline is added; bytes that the peer does not read now are kept, and
  // sent by later calls. If the peer has closed, the line is dropped, and Ended() is true soon.
  void Send(std::string_view line);
  // Sends a line, and waits until the peer has read all that was sent, or has closed.
  void SendAll(std::string_view line);

  // Returns the next line, if a complete one has arrived. Throws Error if a line is too long.
  std::optional<std::string> Receive();
  // Whether the peer has closed and Receive() has returned all its lines.
  bool Ended() const { return closed_ && !has_more_; }

 private:
  void Flush();

  UniqueFd stream_;
  const size_t max_line_;
  LineBuffer lines_;
  std::string unsent_;
  bool closed_ = false;
  bool has_more_ = false;  // lines_ may have complete lines
};

}  // namespace viaduct::ipc
