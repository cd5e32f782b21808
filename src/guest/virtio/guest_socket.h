// The stream sockets between a guest and this process: one for the guest's calendar, and one for
// each device.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"

namespace viaduct::guest {

// Listens on a socket with the name `name` in `folder`; the path may be longer than a socket
// address allows.
UniqueFd ListenIn(const std::filesystem::path& folder, const std::string& name);
// Accepts the next connection of a listening socket.
UniqueFd Accept(const UniqueFd& listener);

// Receives bytes by one recvmsg(2) and appends the received descriptors to `descriptors`; returns
// the number of bytes, 0 if the guest has closed the connection. Throws SystemError.
size_t ReceiveWithDescriptors(int fd, std::span<std::byte> bytes,
                              std::vector<UniqueFd>& descriptors);
// SendAll() and SendWithDescriptors() send all bytes. A connection closed by the peer is not an
// error: the next receive reports it.
void SendAll(int fd, std::span<const std::byte> bytes);
void SendWithDescriptors(int fd, std::span<const std::byte> bytes,
                         std::span<const int> descriptors);

}  // namespace viaduct::guest
