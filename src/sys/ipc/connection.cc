#include "sys/ipc/connection.h"

#include <sys/socket.h>

#include <cerrno>

#include "sys/ipc/descriptor_passing.h"

namespace viaduct::ipc {

void Connection::Send(Code code, uint32_t sequence, std::string_view payload,
                      const std::vector<int>& descriptors, int flags) {
  const auto packets = EncodeMessage(*service_, code, sequence, payload, descriptors.size());
  for (const Packet& packet : packets) {
    const bool is_last = &packet == &packets.back();
    SystemCall("send a message",
               sys::SendWithDescriptors(socket_.get(), packet,
                                        is_last ? descriptors : std::vector<int>{}, flags));
  }
}

Connection::Status Connection::Receive(Message* message, int flags) {
  thread_local std::vector<std::byte> buffer(sizeof(PacketHeader) + kMaxPacketPayload);
  std::vector<UniqueFd> descriptors;
  const auto [received, truncated] =
      sys::ReceiveWithDescriptors(socket_.get(), buffer, descriptors, flags);
  if (received < 0 && errno == EAGAIN) return Status::kIncomplete;
  if (received == 0 || (received < 0 && errno == ECONNRESET)) return Status::kEnd;
  SystemCall("receive a message", received);
  if (truncated || descriptors.size() > kMaxDescriptors) {
    throw ProtocolError(*service_, "packet too long or with too many descriptors");
  }
  auto complete =
      assembler_.Add({buffer.data(), static_cast<size_t>(received)}, std::move(descriptors));
  if (!complete) return Status::kIncomplete;
  *message = std::move(*complete);
  return Status::kMessage;
}

}  // namespace viaduct::ipc
