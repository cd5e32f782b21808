// Socket options (setsockopt(2)).
#pragma once

#include <sys/socket.h>
#include <sys/time.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

namespace viaduct {

// Sets a socket option. Throws SystemError with `name`, the name of the option.
template <class T>
void SetSocketOption(int fd, int level, int option, const T& value, std::string_view name) {
  SystemCall("setsockopt " + std::string(name),
             setsockopt(fd, level, option, &value, sizeof value));
}

// Sets the size of a socket's buffer, in bytes. `force_option` (SO_SNDBUFFORCE) exceeds the
// system's limit, but needs CAP_NET_ADMIN; without that capability, `option` (SO_SNDBUF) sets at
// most the limit. Throws SystemError.
inline void SetSocketBuffer(int fd, int force_option, int option, int bytes) {
  if (setsockopt(fd, SOL_SOCKET, force_option, &bytes, sizeof bytes) == 0) return;
  SetSocketOption(fd, SOL_SOCKET, option, bytes, "SO_SNDBUF or SO_RCVBUF");
}

// Sets the timeout of each send(2) and connect(2) (SO_SNDTIMEO); 0: no limit. Throws SystemError.
inline void SetSendTimeout(int fd, Duration longest) {
  const timeval timeout{longest.nanoseconds() / 1'000'000'000,
                        longest.nanoseconds() % 1'000'000'000 / 1000};
  SetSocketOption(fd, SOL_SOCKET, SO_SNDTIMEO, timeout, "SO_SNDTIMEO");
}

}  // namespace viaduct
