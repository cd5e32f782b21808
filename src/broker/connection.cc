#include "broker/connection.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace viaduct::broker {
namespace {

// One more than allowed, so that too many are seen as such and not silently cut.
constexpr size_t kControlSize = CMSG_SPACE(sizeof(int) * (kMaxDescriptors + 1));

std::vector<UniqueFd> TakeDescriptors(msghdr* header) {
  std::vector<UniqueFd> descriptors;
  for (cmsghdr* control = CMSG_FIRSTHDR(header); control != nullptr;
       control = CMSG_NXTHDR(header, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
      descriptors.emplace_back(fd);
    }
  }
  return descriptors;
}

void SendPacket(int socket, const Packet& packet, const std::vector<int>& descriptors, int flags) {
  iovec part{const_cast<std::byte*>(packet.data()), packet.size()};
  alignas(cmsghdr) std::array<char, kControlSize> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size() * sizeof(int));
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket, &header, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  SystemCall("send to the broker's connection", sent);
}

}  // namespace

SocketPair MakeSocketPair() {
  int fds[2];
  SystemCall("socketpair", socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds));
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

void Connection::Send(MessageType type, uint32_t sequence, std::string_view payload,
                      const std::vector<int>& descriptors, int flags) {
  const auto packets = EncodeMessage(type, sequence, payload, descriptors.size());
  for (const Packet& packet : packets) {
    const bool is_last = &packet == &packets.back();
    SendPacket(socket_.get(), packet, is_last ? descriptors : std::vector<int>{}, flags);
  }
}

Connection::Status Connection::Receive(Message* message, int flags) {
  thread_local std::vector<std::byte> buffer(sizeof(PacketHeader) + kMaxPacketPayload);
  alignas(cmsghdr) std::array<char, kControlSize> control;
  iovec part{buffer.data(), buffer.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t received;
  do {
    received = recvmsg(socket_.get(), &header, flags | MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0 && errno == EAGAIN) return Status::kIncomplete;
  if (received == 0 || (received < 0 && errno == ECONNRESET)) return Status::kEnd;
  SystemCall("receive from the broker's connection", received);
  auto descriptors = TakeDescriptors(&header);
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || descriptors.size() > kMaxDescriptors) {
    throw ProtocolError("broker protocol: packet too long or with too many descriptors");
  }
  auto complete =
      assembler_.Add({buffer.data(), static_cast<size_t>(received)}, std::move(descriptors));
  if (!complete) return Status::kIncomplete;
  *message = std::move(*complete);
  return Status::kMessage;
}

}  // namespace viaduct::broker
