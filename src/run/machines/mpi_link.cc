#include "run/machines/mpi_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <sstream>

#include "base/error.h"
#include "run/machines/messages.h"
#include "run/machines/mpi_frame.h"

namespace viaduct::machines {
namespace {

constexpr int kTimeout = 10000;  // maximum time in ms until viaduct-mpi sends the rank

[[noreturn]] void ThrowEnded() {
  throw Error(std::string(kConnectionEnded) + ": the run is VOID", ExitStatus::kVoid);
}

std::vector<ClockReading> ReadClocks(const std::string& table) {
  std::vector<ClockReading> clocks;
  std::istringstream lines(table);
  for (ClockReading reading; lines >> reading.ahead >> reading.error;) clocks.push_back(reading);
  return clocks;
}

}  // namespace

int MpiLink::fd() const { return STDIN_FILENO; }

MpiLink::MpiLink() {
  int type = 0;
  socklen_t length = sizeof type;
  if (getsockopt(fd(), SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM) {
    throw UsageError(
        "viaduct rank cannot be run by hand; viaduct run starts viaduct rank on each machine of a "
        "scenario");
  }
  pollfd wait{fd(), POLLIN, 0};
  std::optional<MpiFrame> first;
  while (!first) {
    if (poll(&wait, 1, kTimeout) <= 0) ThrowEnded();
    std::array<char, 256> buffer;
    const ssize_t got = read(fd(), buffer.data(), buffer.size());
    if (got <= 0) ThrowEnded();
    received_.append(buffer.data(), got);
    first = TakeFrame(received_);
  }
  if (first->number != kIdentityFrame ||
      std::sscanf(first->bytes.c_str(), "%d %d", &rank_, &size_) != 2) {
    throw UsageError("viaduct rank: standard input is not from viaduct-mpi");
  }
}

void MpiLink::Send(int to, const std::string& message) {
  const std::string frame = WriteFrame(to, message);
  for (size_t sent = 0; sent < frame.size();) {
    const ssize_t n = send(fd(), frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) ThrowEnded();
    sent += n;
  }
}

void MpiLink::MeasureClocks() { Send(kClockFrame, ""); }

std::optional<MpiLink::Frame> MpiLink::Receive(int wait_milliseconds) {
  for (;;) {
    if (std::optional<MpiFrame> frame = TakeFrame(received_)) {
      if (frame->number == kSilentFrame) return Frame{std::stoi(frame->bytes), {}, true, {}};
      if (frame->number == kClockFrame) return Frame{rank_, {}, false, ReadClocks(frame->bytes)};
      return Frame{frame->number, std::move(frame->bytes), false, {}};
    }
    pollfd wait{fd(), POLLIN, 0};
    if (poll(&wait, 1, wait_milliseconds) <= 0) return std::nullopt;
    std::array<char, 65536> buffer;
    const ssize_t got = recv(fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) ThrowEnded();
    received_.append(buffer.data(), got);
  }
}

}  // namespace viaduct::machines
