#include "run/simulator/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

namespace viaduct::run {
namespace {

constexpr Duration kPlainInterval = Duration::Seconds(2);

size_t TerminalWidth(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

}  // namespace

Progress::Progress(std::FILE* stream, bool quiet)
    : stream_(stream),
      quiet_(quiet),
      terminal_(isatty(fileno(stream)) == 1),
      last_(MonotonicClock::Now()) {}

Progress::~Progress() { Erase(); }

void Progress::Erase() {
  if (!shown_) return;
  std::fputs("\r\033[K", stream_);
  std::fflush(stream_);
  shown_ = false;
}

void Progress::Status(const std::string& text) {
  if (quiet_) return;
  if (terminal_) {
    const std::string cut = text.substr(0, TerminalWidth(fileno(stream_)) - 1);
    std::fprintf(stream_, "\r\033[K%s", cut.c_str());
    std::fflush(stream_);
    shown_ = true;
  } else if (const Instant now = MonotonicClock::Now(); now - last_ >= kPlainInterval) {
    last_ = now;
    std::fprintf(stream_, "%s\n", text.c_str());
  }
}

void Progress::Line(const std::string& text) {
  if (quiet_) return;
  Erase();
  std::fprintf(stream_, "%s\n", text.c_str());
  std::fflush(stream_);
}

}  // namespace viaduct::run
