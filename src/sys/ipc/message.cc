#include "sys/ipc/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text/json_text.h"

namespace viaduct::ipc {
namespace {

constexpr char kSameBuild[] = "use programs of the same build";

std::string NameIn(const PacketHeader& header) {
  const auto* end = std::ranges::find(header.service, '\0');
  return JsonText(std::string(header.service, end));
}

// Checks that a packet is of this protocol.
void CheckProtocol(const PacketHeader& header, const Service& service) {
  if (header.magic != kMagic) {
    throw ProtocolError(service, "not a packet of Viaduct (wrong magic number)");
  }
  if (header.framing != kFramingVersion) {
    throw ProtocolError(
        service,
        fmt::format("the peer uses framing version {}, but this program uses version {}; {}",
                    header.framing, kFramingVersion, kSameBuild));
  }
  char name[kMaxServiceName] = {};
  std::ranges::copy(service.name.substr(0, kMaxServiceName), name);
  if (!std::ranges::equal(name, header.service)) {
    throw ProtocolError(
        service, fmt::format("the peer uses the protocol {}; {}", NameIn(header), kSameBuild));
  }
  if (header.version != service.version) {
    throw ProtocolError(
        service, fmt::format("the peer uses version {}, but this program uses version {}; {}",
                             header.version, service.version, kSameBuild));
  }
}

PacketHeader CheckedHeader(const Service& service, std::span<const std::byte> packet,
                           size_t descriptors) {
  PacketHeader header;
  if (packet.size() < sizeof header) {
    throw ProtocolError(service, fmt::format("truncated packet of {} bytes; a header has {} bytes",
                                             packet.size(), sizeof header));
  }
  std::memcpy(&header, packet.data(), sizeof header);
  CheckProtocol(header, service);
  if (header.length > kMaxPacketPayload) {
    throw ProtocolError(service, fmt::format("packet of {} bytes; at most {} bytes are allowed",
                                             header.length, kMaxPacketPayload));
  }
  if (header.length != packet.size() - sizeof header) {
    throw ProtocolError(
        service, fmt::format("truncated packet: {} bytes announced, but {} received", header.length,
                             packet.size() - sizeof header));
  }
  if ((header.flags & ~kMore) != 0) throw ProtocolError(service, "unknown flag");
  if (header.descriptors != descriptors ||
      ((header.flags & kMore) != 0 && header.descriptors != 0)) {
    throw ProtocolError(service, fmt::format("{} descriptors announced, but {} received",
                                             header.descriptors, descriptors));
  }
  return header;
}

}  // namespace

ProtocolError::ProtocolError(const Service& service, std::string_view problem)
    : Error(fmt::format("{} protocol: {}", service.name, problem)) {}

UnknownRequest::UnknownRequest(const Service& service, Code code)
    : UsageError(fmt::format("{} protocol, version {}: unknown request {}; {}", service.name,
                             service.version, code.number(), kSameBuild)) {}

std::vector<Packet> EncodeMessage(const Service& service, Code code, uint32_t sequence,
                                  std::string_view payload, size_t descriptors) {
  if (payload.size() > kMaxMessagePayload) {
    throw UsageError(fmt::format("{} protocol: message of {} bytes; at most {} bytes are allowed",
                                 service.name, payload.size(), kMaxMessagePayload));
  }
  PacketHeader header{};
  header.magic = kMagic;
  header.framing = kFramingVersion;
  header.version = service.version;
  std::ranges::copy(service.name.substr(0, kMaxServiceName), header.service);
  header.code = code.number();
  header.sequence = sequence;
  std::vector<Packet> packets;
  size_t offset = 0;
  do {
    const auto part = payload.substr(offset, kMaxPacketPayload);
    offset += part.size();
    const bool is_last = offset == payload.size();
    header.flags = is_last ? 0 : kMore;
    header.length = static_cast<uint32_t>(part.size());
    header.descriptors = static_cast<uint16_t>(is_last ? descriptors : 0);
    Packet packet(sizeof header + part.size());
    std::memcpy(packet.data(), &header, sizeof header);
    std::ranges::copy(std::as_bytes(std::span(part)), packet.begin() + sizeof header);
    packets.push_back(std::move(packet));
  } while (offset < payload.size());
  return packets;
}

std::optional<Message> MessageAssembler::Add(std::span<const std::byte> packet,
                                             std::vector<UniqueFd> descriptors) {
  const PacketHeader header = CheckedHeader(*service_, packet, descriptors.size());
  const Code code(header.code);
  if (!partial_) {
    partial_.emplace();
    partial_->code = code;
    partial_->sequence = header.sequence;
  } else if (partial_->code != code || partial_->sequence != header.sequence) {
    throw ProtocolError(*service_, "a message began before the previous message was complete");
  }
  if (partial_->payload.size() + header.length > kMaxMessagePayload) {
    throw ProtocolError(*service_, fmt::format("message of over {} bytes", kMaxMessagePayload));
  }
  const auto payload = packet.subspan(sizeof header);
  partial_->payload.append(reinterpret_cast<const char*>(payload.data()), payload.size());
  if ((header.flags & kMore) != 0) return std::nullopt;
  partial_->descriptors = std::move(descriptors);
  return std::exchange(partial_, std::nullopt);
}

nlohmann::json DecodeJson(std::string_view payload) {
  nlohmann::json value = nlohmann::json::parse(payload, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) throw UsageError("request: expected a JSON object");
  return value;
}

}  // namespace viaduct::ipc
