#include "guest/virtio/vhost_message.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/error.h"

namespace viaduct::guest {

void VhostMessage::CopyPayload(void* to, size_t size) const {
  if (payload.size() < size) {
    throw Error(fmt::format("sent {} with {} bytes instead of {} bytes",
                            Name(static_cast<VhostRequest>(header.request)), payload.size(), size));
  }
  std::memcpy(to, payload.data(), size);
}

std::string_view Name(VhostRequest request) {
  static constexpr std::pair<VhostRequest, std::string_view> kNames[] = {
      {VhostRequest::kGetFeatures, "GET_FEATURES"},
      {VhostRequest::kSetFeatures, "SET_FEATURES"},
      {VhostRequest::kSetOwner, "SET_OWNER"},
      {VhostRequest::kResetOwner, "RESET_OWNER"},
      {VhostRequest::kSetMemTable, "SET_MEM_TABLE"},
      {VhostRequest::kSetVringNum, "SET_VRING_NUM"},
      {VhostRequest::kSetVringAddr, "SET_VRING_ADDR"},
      {VhostRequest::kSetVringBase, "SET_VRING_BASE"},
      {VhostRequest::kGetVringBase, "GET_VRING_BASE"},
      {VhostRequest::kSetVringKick, "SET_VRING_KICK"},
      {VhostRequest::kSetVringCall, "SET_VRING_CALL"},
      {VhostRequest::kSetVringErr, "SET_VRING_ERR"},
      {VhostRequest::kGetProtocolFeatures, "GET_PROTOCOL_FEATURES"},
      {VhostRequest::kSetProtocolFeatures, "SET_PROTOCOL_FEATURES"},
      {VhostRequest::kSetVringEnable, "SET_VRING_ENABLE"},
      {VhostRequest::kSetSlaveRequestFd, "SET_SLAVE_REQ_FD"},
      {VhostRequest::kGetConfig, "GET_CONFIG"},
      {VhostRequest::kSetConfig, "SET_CONFIG"},
      {VhostRequest::kVringKick, "VRING_KICK"},
  };
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [request](const auto& row) { return row.first == request; });
  return found == std::end(kNames) ? "an unknown request" : found->second;
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
  if (descriptors_.size() > kMaxVhostDescriptors) {
    throw Error(
        fmt::format("sent {} descriptors with a message, which are too many", descriptors_.size()));
  }
}

std::optional<VhostMessage> VhostAssembler::Next() {
  VhostMessage message;
  if (bytes_.size() < sizeof message.header) return std::nullopt;
  std::memcpy(&message.header, bytes_.data(), sizeof message.header);
  const size_t size = message.header.size;
  if (size > kMaxVhostPayload || (message.header.flags & kVhostVersionMask) != kVhostVersion) {
    throw Error(fmt::format("sent an invalid message of {} bytes with flags {:#x}", size,
                            message.header.flags));
  }
  if (bytes_.size() - sizeof message.header < size) return std::nullopt;
  const auto payload = bytes_.begin() + sizeof message.header;
  message.payload.assign(payload, payload + static_cast<ptrdiff_t>(size));
  bytes_.erase(bytes_.begin(), payload + static_cast<ptrdiff_t>(size));
  message.descriptors = std::exchange(descriptors_, {});
  return message;
}

}  // namespace viaduct::guest
