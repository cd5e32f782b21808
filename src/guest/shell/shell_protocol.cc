#include "guest/shell/shell_protocol.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>

namespace viaduct::guest {

bool SendShell(int fd, ShellPacket packet, std::string_view payload, int milliseconds) {
  char kind = static_cast<char>(packet);
  iovec parts[2] = {{&kind, 1}, {const_cast<char*>(payload.data()), payload.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  for (;;) {
    if (sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return true;
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    pollfd entry{fd, POLLOUT, 0};
    if (poll(&entry, 1, milliseconds) == 0) return false;
  }
}

std::optional<ShellMessage> ParseShell(std::string_view packet) {
  if (packet.empty()) return std::nullopt;
  return ShellMessage{static_cast<ShellPacket>(packet[0]), packet.substr(1)};
}

}  // namespace viaduct::guest
