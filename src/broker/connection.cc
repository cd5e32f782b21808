#include "broker/connection.h"

#include <sys/socket.h>

#include <cerrno>

#include "sys/descriptor_passing.h"

namespace viaduct::broker {
namespace {

void SendPacket(int socket, const Packet& packet, const std::vector<int>& descriptors, int flags) {
  SystemCall("send to the broker's connection",
             sys::SendWithDescriptors(socket, packet, descriptors, flags));
}

}  // namespace

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
  std::vector<UniqueFd> descriptors;
  const auto [received, truncated] =
      sys::ReceiveWithDescriptors(socket_.get(), buffer, descriptors, flags);
  if (received < 0 && errno == EAGAIN) return Status::kIncomplete;
  if (received == 0 || (received < 0 && errno == ECONNRESET)) return Status::kEnd;
  SystemCall("receive from the broker's connection", received);
  if (truncated || descriptors.size() > kMaxDescriptors) {
    throw ProtocolError("broker protocol: packet too long or with too many descriptors");
  }
  auto complete =
      assembler_.Add({buffer.data(), static_cast<size_t>(received)}, std::move(descriptors));
  if (!complete) return Status::kIncomplete;
  *message = std::move(*complete);
  return Status::kMessage;
}

}  // namespace viaduct::broker
