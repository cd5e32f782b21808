#include "sys/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/error.h"
#include "sys/signals.h"

namespace viaduct::sys {

bool OnTerminal() {
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 &&
         tcgetpgrp(STDIN_FILENO) == getpgrp();
}

UniqueFd CatchForegroundSignals() {
  const sigset_t output = SignalSet({SIGTTOU});
  sigprocmask(SIG_BLOCK, &output, nullptr);
  return CatchSignals({SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGWINCH});
}

RawMode::RawMode(int terminal) : terminal_(terminal) {
  SystemCall("tcgetattr", tcgetattr(terminal, &saved_));
  termios raw = saved_;
  cfmakeraw(&raw);
  SystemCall("tcsetattr", tcsetattr(terminal, TCSADRAIN, &raw));
}

RawMode::~RawMode() { tcsetattr(terminal_, TCSADRAIN, &saved_); }

short Relay::Events() const { return Empty() ? POLLIN : POLLOUT; }

void Relay::Step() {
  if (over_) return;
  const ssize_t done = Empty() ? read(from_, buffer_.data(), buffer_.size())
                               : write(to_, buffer_.data() + begin_, end_ - begin_);
  if (done < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (done <= 0) {  // end of file, or EIO: the other side of a terminal has closed
    over_ = true;
  } else if (Empty()) {
    begin_ = 0;
    end_ = static_cast<size_t>(done);
  } else {
    begin_ += static_cast<size_t>(done);
  }
}

Pty::Pty(int terminal) : terminal_(terminal) {
  termios settings{};
  winsize size{};
  SystemCall("tcgetattr", tcgetattr(terminal, &settings));
  SystemCall("TIOCGWINSZ", ioctl(terminal, TIOCGWINSZ, &size));
  int master = -1, other = -1;
  SystemCall("openpty", openpty(&master, &other, nullptr, &settings, &size));
  master_.reset(master);
  slave.reset(other);
  for (const int fd : {master, other}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK);
}

void Pty::Resize() {
  winsize size{};
  if (ioctl(terminal_, TIOCGWINSZ, &size) == 0) ioctl(Master(), TIOCSWINSZ, &size);
}

}  // namespace viaduct::sys
