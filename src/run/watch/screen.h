// Uses all lines of a terminal for a table that changes.
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>

namespace viaduct::watch {

struct ScreenSize {
  size_t rows = 24, columns = 80;
};

// Returns the first lines of `text` that fit the screen. If not all lines fit, the last line of the
// result contains the number of lines left out. Characters are those of UTF-8 and take one column
// each.
std::string Clip(const std::string& text, const ScreenSize& size);

// Replaces the terminal's contents by a text, until the destructor restores the contents: uses
// xterm's alternate screen, without a cursor, and without echo of keys. The terminal is borrowed;
// keys are delivered at once (Ctrl-C is still a signal).
class Screen {
 public:
  explicit Screen(int terminal);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void Show(const std::string& text);
  // Leave() restores the terminal before a stop (SIGTSTP); Enter() uses it again after the stop.
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
