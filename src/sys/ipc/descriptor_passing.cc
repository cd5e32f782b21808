#include "sys/ipc/descriptor_passing.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace viaduct::sys {
namespace {

constexpr size_t kPassedControlSize = CMSG_SPACE(sizeof(int) * kMaxPassedDescriptors);

void TakeRights(msghdr& header, std::vector<UniqueFd>& descriptors) {
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= item->cmsg_len; at += sizeof(int)) {
      int received = -1;
      std::memcpy(&received, CMSG_DATA(item) + at, sizeof received);
      descriptors.emplace_back(received);
    }
  }
}

}  // namespace

ssize_t SendWithDescriptors(int socket, std::span<const std::byte> bytes,
                            std::span<const int> descriptors, int flags) {
  if (descriptors.size() > kMaxPassedDescriptors) {
    errno = EINVAL;
    return -1;
  }
  alignas(cmsghdr) std::array<char, kPassedControlSize> control{};
  iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* item = CMSG_FIRSTHDR(&header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(item), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &header, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

ReceivedMessage ReceiveWithDescriptors(int socket, std::span<std::byte> bytes,
                                       std::vector<UniqueFd>& descriptors, int flags) {
  alignas(cmsghdr) std::array<char, kPassedControlSize> control;
  iovec piece{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t received = 0;
  do {
    received = recvmsg(socket, &header, flags | MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0) return {received, false};
  TakeRights(header, descriptors);
  return {received, (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0};
}

}  // namespace viaduct::sys
