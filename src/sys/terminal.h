// The user's terminal, and a pseudoterminal for a program that needs a separate terminal.
#pragma once

#include <termios.h>

#include <array>
#include <cstddef>

#include "base/fd.h"

namespace viaduct::sys {

// Whether standard input and output are a terminal and this process is in its foreground (so that
// the user expects it to read the keyboard).
bool OnTerminal();

// Blocks the signals that end or resize a foreground process, for all threads of the process; they
// are read from the returned descriptor (signalfd(2), non-blocking). Also blocks SIGTTOU: restoring
// a terminal must not stop this process if it has become a background process.
UniqueFd CatchForegroundSignals();

// Sets the user's terminal to raw mode, so that every key is sent to the program; restores the mode
// on destruction.
class RawMode {
 public:
  explicit RawMode(int terminal);
  ~RawMode();
  RawMode(const RawMode&) = delete;
  RawMode& operator=(const RawMode&) = delete;

 private:
  int terminal_;
  termios saved_;
};

// One direction of a relay, with a buffer for bytes that were read and not yet written. Step()
// never waits for an end that is not ready.
class Relay {
 public:
  // Borrows both descriptors from the caller.
  Relay(int from, int to) : from_(from), to_(to) {}

  // Returns the descriptor that must be polled, because it is the next one to be read or written;
  // -1 once the relay has ended.
  int fd() const { return over_ ? -1 : Empty() ? from_ : to_; }
  short Events() const;
  // Copies bytes; must be called when fd() is ready. Ends the relay at end of file, or when an end
  // has closed.
  void Step();
  bool Over() const { return over_; }

 private:
  bool Empty() const { return begin_ == end_; }

  int from_, to_;
  // The buffer is no larger than a terminal accepts at once, because writing to a terminal must not
  // block for long.
  std::array<char, 4096> buffer_;
  size_t begin_ = 0, end_ = 0;
  bool over_ = false;
};

// A pseudoterminal with the size and the settings of the user's terminal.
class Pty {
 public:
  // `terminal`: the descriptor of the user's terminal, borrowed from the caller.
  explicit Pty(int terminal);

  int Master() const { return master_.get(); }  // non-blocking
  // The program's side of the pseudoterminal; the caller closes it once the program has it.
  UniqueFd slave;
  // Copies the size of the user's terminal; the kernel then sends the program SIGWINCH.
  void Resize();

 private:
  int terminal_;
  UniqueFd master_;
};

}  // namespace viaduct::sys
