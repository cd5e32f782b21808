// The whole of a terminal, for a table that changes.
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>

namespace viaduct::watch {

struct ScreenSize {
  size_t rows = 24, columns = 80;
};

// Returns the lines of `text` that fit; the last one has the number of the rest. Characters are
// those of UTF-8, one column each.
std::string Clip(const std::string& text, const ScreenSize& size);

// Replaces the terminal's contents by a text, until the destructor restores them: xterm's alternate
// screen, without cursor, and without echo of keys. The terminal is borrowed; keys arrive at once
// (Ctrl-C stays a signal).
class Screen {
 public:
  explicit Screen(int terminal);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void Show(const std::string& text);
  // Restore the terminal, and enter it again: before and after a stop (SIGTSTP).
  void Leave();
  void Enter();

 private:
  void Write(const std::string& text);

  const int terminal_;
  bool has_settings_ = false;
  bool is_entered_ = false;
  termios saved_{};
};

}  // namespace viaduct::watch
