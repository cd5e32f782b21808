#include "guest/virtio/vhost_message.h"

#include <fmt/core.h>

#include <cstring>
#include <iterator>
#include <utility>

#include "base/error.h"

namespace viaduct::guest {

void VhostMessage::CopyPayload(void* to, size_t size) const {
  if (payload.size() < size) {
    throw Error(fmt::format("{} with {} bytes instead of {}",
                            Name(static_cast<VhostRequest>(header.request)), payload.size(), size));
  }
  std::memcpy(to, payload.data(), size);
}

std::string_view Name(VhostRequest request) {
  switch (request) {
    case VhostRequest::kGetFeatures:
      return "GET_FEATURES";
    case VhostRequest::kSetFeatures:
      return "SET_FEATURES";
    case VhostRequest::kSetOwner:
      return "SET_OWNER";
    case VhostRequest::kResetOwner:
      return "RESET_OWNER";
    case VhostRequest::kSetMemTable:
      return "SET_MEM_TABLE";
    case VhostRequest::kSetVringNum:
      return "SET_VRING_NUM";
    case VhostRequest::kSetVringAddr:
      return "SET_VRING_ADDR";
    case VhostRequest::kSetVringBase:
      return "SET_VRING_BASE";
    case VhostRequest::kGetVringBase:
      return "GET_VRING_BASE";
    case VhostRequest::kSetVringKick:
      return "SET_VRING_KICK";
    case VhostRequest::kSetVringCall:
      return "SET_VRING_CALL";
    case VhostRequest::kSetVringErr:
      return "SET_VRING_ERR";
    case VhostRequest::kGetProtocolFeatures:
      return "GET_PROTOCOL_FEATURES";
    case VhostRequest::kSetProtocolFeatures:
      return "SET_PROTOCOL_FEATURES";
    case VhostRequest::kSetVringEnable:
      return "SET_VRING_ENABLE";
    case VhostRequest::kSetSlaveRequestFd:
      return "SET_SLAVE_REQ_FD";
    case VhostRequest::kGetConfig:
      return "GET_CONFIG";
    case VhostRequest::kSetConfig:
      return "SET_CONFIG";
    case VhostRequest::kVringKick:
      return "VRING_KICK";
  }
  return "an unknown request";
}

std::vector<std::byte> EncodeVhost(uint32_t request, uint32_t flags,
                                   std::span<const std::byte> payload) {
  const VhostHeader header{request, flags, static_cast<uint32_t>(payload.size())};
  const auto header_bytes = std::as_bytes(std::span(&header, 1));
  std::vector<std::byte> bytes(header_bytes.begin(), header_bytes.end());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

void VhostAssembler::Add(std::span<const std::byte> bytes, std::vector<UniqueFd> descriptors) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  descriptors_.insert(descriptors_.end(), std::make_move_iterator(descriptors.begin()),
                      std::make_move_iterator(descriptors.end()));
}

std::optional<VhostMessage> VhostAssembler::Next() {
  VhostMessage message;
  if (bytes_.size() < sizeof message.header) return std::nullopt;
  std::memcpy(&message.header, bytes_.data(), sizeof message.header);
  const size_t size = message.header.size;
  if (size > kMaxVhostPayload || (message.header.flags & kVhostVersionMask) != kVhostVersion) {
    throw Error(fmt::format("a message of {} bytes with flags {:#x}", size, message.header.flags));
  }
  if (bytes_.size() - sizeof message.header < size) return std::nullopt;
  const auto payload = bytes_.begin() + sizeof message.header;
  message.payload.assign(payload, payload + static_cast<ptrdiff_t>(size));
  bytes_.erase(bytes_.begin(), payload + static_cast<ptrdiff_t>(size));
  message.descriptors = std::exchange(descriptors_, {});
  return message;
}

}  // namespace viaduct::guest
