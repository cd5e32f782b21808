// The user's terminal, and a pseudoterminal between it and a program that is to have one of its
// own.
#pragma once

#include <termios.h>

#include <array>
#include <cstddef>

#include "base/fd.h"

namespace viaduct::sys {

// Whether standard input and output are a terminal, and this process is in its foreground (so that
// taking over its keys is what the user wants).
bool OnTerminal();

// Has the signals that end or resize what is in the foreground wait for the descriptor
// (signalfd(2), non-blocking), for the whole process. SIGTTOU is blocked too: restoring a terminal
// must not stop this process where it has gone to the background.
UniqueFd CatchForegroundSignals();

// The user's terminal in raw mode: every key goes to the program. Restored on destruction.
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

// One direction of a relay: what was read and not yet written. Neither end is ever waited for
// while it is not ready.
class Relay {
 public:
  // Borrows both.
  Relay(int from, int to) : from_(from), to_(to) {}

  // What to poll(2) for: the side that it is the turn of; -1 once it is over.
  int Fd() const { return over_ ? -1 : Empty() ? from_ : to_; }
  short Events() const;
  // To be called when that is ready. Ends the relay at end of file, or when an end has gone.
  void Step();
  bool Over() const { return over_; }

 private:
  bool Empty() const { return begin_ == end_; }

  int from_, to_;
  // No more at a time than a terminal takes: writing to it must not block for long.
  std::array<char, 4096> buffer_;
  size_t begin_ = 0, end_ = 0;
  bool over_ = false;
};

// A pty of the size and the settings of the user's terminal.
class Pty {
 public:
  // `terminal` is borrowed.
  explicit Pty(int terminal);

  int Master() const { return master_.get(); }  // non-blocking
  // The program's side; to be closed once the program has it.
  UniqueFd slave;
  // Takes over the size of the user's terminal; the kernel tells the program (SIGWINCH).
  void Resize();

 private:
  int terminal_;
  UniqueFd master_;
};

}  // namespace viaduct::sys
