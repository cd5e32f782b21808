#include "run/watch/screen.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

namespace viaduct::watch {
namespace {

ScreenSize SizeOf(int terminal) {
  winsize size{};
  const bool is_known = ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col;
  return is_known ? ScreenSize{size.ws_row, size.ws_col} : ScreenSize{};
}

// Returns the first characters of the line, at most one for each column.
std::string_view Shortened(std::string_view line, size_t columns) {
  size_t count = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(line[i]) & 0xC0) != 0x80;
    if (begins && ++count > columns) return line.substr(0, i);
  }
  return line;
}

}  // namespace

std::string Clip(const std::string& text, const ScreenSize& size) {
  std::vector<std::string_view> lines;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(std::string_view(text).substr(start, end - start));
    start = end + 1;
  }
  std::string more;
  if (lines.size() > size.rows) {
    more = fmt::format("... {} more lines", lines.size() - size.rows + 1);
    lines.resize(size.rows - 1);
    lines.push_back(more);
  }
  std::string clipped;
  for (const std::string_view line : lines) {
    clipped += (clipped.empty() ? "" : "\n") + std::string(Shortened(line, size.columns));
  }
  return clipped;
}

Screen::Screen(int terminal) : terminal_(terminal) {
  has_settings_ = tcgetattr(terminal, &saved_) == 0;
  Enter();
}

Screen::~Screen() { Leave(); }

void Screen::Enter() {
  if (is_entered_) return;
  is_entered_ = true;
  if (has_settings_) {
    termios quiet = saved_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON);
    tcsetattr(terminal_, TCSADRAIN, &quiet);
  }
  Write("\033[?1049h\033[?25l");
}

void Screen::Leave() {
  if (!is_entered_) return;
  is_entered_ = false;
  Write("\033[?25h\033[?1049l");
  if (has_settings_) tcsetattr(terminal_, TCSADRAIN, &saved_);
}

void Screen::Show(const std::string& text) {
  // Erases the end of each line, and all lines below the last line. Clearing the complete screen
  // first would make it flicker.
  std::string frame = "\033[H";
  for (const char c : Clip(text, SizeOf(terminal_))) {
    frame += c == '\n' ? std::string("\033[K\r\n") : std::string(1, c);
  }
  Write(frame + "\033[K\033[J");
}

// Writes the text to the terminal. Ignores the error if the terminal has hung up, because a signal
// reports this.
void Screen::Write(const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(terminal_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    done += static_cast<size_t>(written);
  }
}

}  // namespace viaduct::watch
