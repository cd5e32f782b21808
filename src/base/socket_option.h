// Socket options (setsockopt(2)).
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

#include "base/error.h"

namespace viaduct {

// Throws SystemError with `name`, the option's.
template <class T>
void SetSocketOption(int fd, int level, int option, const T& value, std::string_view name) {
  SystemCall("setsockopt " + std::string(name),
             setsockopt(fd, level, option, &value, sizeof value));
}

// Sizes a buffer of a socket, in bytes. `force_option` (SO_SNDBUFFORCE) exceeds the system's limit,
// but needs CAP_NET_ADMIN; without that `option` (SO_SNDBUF) gets as much as the limit allows.
// Throws SystemError.
inline void SetSocketBuffer(int fd, int force_option, int option, int bytes) {
  if (setsockopt(fd, SOL_SOCKET, force_option, &bytes, sizeof bytes) == 0) return;
  SetSocketOption(fd, SOL_SOCKET, option, bytes, "SO_SNDBUF or SO_RCVBUF");
}

}  // namespace viaduct
