// Local stream sockets that pass descriptors.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"

namespace viaduct::guest {

// Listens on the socket `name` in `folder`, whose path may be longer than a socket's address.
UniqueFd ListenIn(const std::filesystem::path& folder, const std::string& name);
// The next connection.
UniqueFd Accept(const UniqueFd& listener);

// One recvmsg; the number of bytes, 0 when the other side is gone. Throws SystemError.
size_t ReceiveWithDescriptors(int fd, std::span<std::byte> bytes,
                              std::vector<UniqueFd>& descriptors);
// Sends all of it. That the other side is gone is no error: reading tells.
void SendAll(int fd, std::span<const std::byte> bytes);
void SendWithDescriptors(int fd, std::span<const std::byte> bytes,
                         std::span<const int> descriptors);

}  // namespace viaduct::guest
