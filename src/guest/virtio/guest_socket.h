// The stream sockets between a guest and this process: its calendar's, and one for each device.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"

namespace viaduct::guest {

// Listens on the socket `name` in `folder`, whose path may be longer than a socket address allows.
UniqueFd ListenIn(const std::filesystem::path& folder, const std::string& name);
// Accepts the next connection.
UniqueFd Accept(const UniqueFd& listener);

// Receives with one recvmsg(2) and appends its descriptors; returns the number of bytes, 0 when the
// guest has closed. Throws SystemError.
size_t ReceiveWithDescriptors(int fd, std::span<std::byte> bytes,
                              std::vector<UniqueFd>& descriptors);
// Both functions send all bytes. A closed peer is no error here: the next receive reports it.
void SendAll(int fd, std::span<const std::byte> bytes);
void SendWithDescriptors(int fd, std::span<const std::byte> bytes,
                         std::span<const int> descriptors);

}  // namespace viaduct::guest
