// Messages between the processes of one run: their framing on SOCK_SEQPACKET sockets. Both ends of
// a connection are built from this file; the protocol is not a public interface. Numbers are in
// host byte order, because both processes run on one machine.
//
// A message is one packet, or several (kMore on all but the last) because a SEQPACKET packet must
// fit into the socket's send buffer. Every packet starts with a PacketHeader. Descriptors are sent
// with the last packet. The client sends requests one at a time; each is answered by one kReply or
// kError with the request's sequence number. After a packet that breaks these rules the service
// answers kError and closes the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace viaduct::ipc {

inline constexpr uint32_t kMagic = 0x43504956;  // "VIPC" in memory on little-endian machines
inline constexpr uint16_t kFramingVersion = 1;
inline constexpr size_t kMaxServiceName = 8;  // in characters
inline constexpr size_t kMaxPacketPayload = 64 * 1024;
// The maximum payload of a message, in bytes: 10,000 routes are 560 kB, the topology of 1,000 nodes
// about 1 MB.
inline constexpr size_t kMaxMessagePayload = 16 * 1024 * 1024;
// The maximum number of descriptors of a message. An AF_XDP port sends a socket for each queue, a
// map, and a socket for requests.
inline constexpr size_t kMaxDescriptors = 64;

// A set of requests with a version. Each library that answers requests declares a Service, next to
// the numbers and the content of its requests.
struct Service {
  std::string_view name;  // at most kMaxServiceName characters, unique
  uint16_t version;
  // describe_error returns the members that describe an error of a type that only this service
  // throws, or null; throw_error throws the error that such members describe, if it can. Both are
  // null if the service throws only common types of errors.
  nlohmann::json (*describe_error)(const Error& error) = nullptr;
  void (*throw_error)(const std::string& message, const nlohmann::json& described) = nullptr;
};

// The number of a message. The numbers of requests are enumerators of an enumeration of each
// service, whose first enumerator is kFirstRequest.
class Code {
 public:
  constexpr explicit Code(uint16_t number) : number_(number) {}
  template <class E>
  requires std::is_enum_v<E>
  constexpr Code(E code)  // NOLINT(google-explicit-constructor): an enumerator is its number
      : number_(static_cast<uint16_t>(code)) {}

  constexpr uint16_t number() const { return number_; }
  // Returns the number as an enumerator of a service's enumeration; for an unknown number, the
  // result does not equal any enumerator.
  template <class E>
  constexpr E As() const {
    return static_cast<E>(number_);
  }
  constexpr bool operator==(const Code&) const = default;

 private:
  uint16_t number_;
};

enum class Answer : uint16_t { kReply = 1, kError = 2 };
inline constexpr uint16_t kFirstRequest = 16;

struct PacketHeader {
  uint32_t magic;
  uint16_t framing;               // kFramingVersion
  uint16_t version;               // Service::version
  char service[kMaxServiceName];  // Service::name, filled up with zeros
  uint16_t code;
  uint16_t flags;
  uint32_t sequence;     // the request's number; its answer has the same number
  uint32_t length;       // bytes of the payload in this packet
  uint16_t descriptors;  // number of descriptors sent with this packet
  uint16_t reserved;     // always 0
};
static_assert(sizeof(PacketHeader) == 32 && alignof(PacketHeader) == 4);
static_assert(offsetof(PacketHeader, framing) == 4, "framing stays here in every version");

inline constexpr uint16_t kMore = 1;  // PacketHeader::flags: the message continues

// The exception for a peer that has violated the protocol; the connection can no longer be used.
class ProtocolError : public Error {
 public:
  ProtocolError(const Service& service, std::string_view problem);
};

// The exception for a request whose number the service does not have; the connection can still be
// used.
class UnknownRequest : public UsageError {
 public:
  UnknownRequest(const Service& service, Code code);
};

struct Message {
  Code code = Answer::kReply;
  uint32_t sequence = 0;
  std::string payload;
  std::vector<UniqueFd> descriptors;
};

using Packet = std::vector<std::byte>;

// Splits one message into packets. Throws UsageError for a payload above kMaxMessagePayload. The
// last packet's header contains the number of descriptors.
std::vector<Packet> EncodeMessage(const Service& service, Code code, uint32_t sequence,
                                  std::string_view payload, size_t descriptors = 0);

// Assembles messages from packets.
class MessageAssembler {
 public:
  // `service` must outlive this object.
  explicit MessageAssembler(const Service& service) : service_(&service) {}

  // Returns the message that this packet completes, if the packet completes one. Throws
  // ProtocolError for a packet that is truncated, oversized, of another service or version, or that
  // does not continue the previous packets. If the function throws, the packet's descriptors are
  // closed.
  std::optional<Message> Add(std::span<const std::byte> packet, std::vector<UniqueFd> descriptors);

 private:
  const Service* service_;
  std::optional<Message> partial_;
};

// Parses a payload. Throws UsageError if the text is not a JSON object.
nlohmann::json DecodeJson(std::string_view payload);

// Returns a member of a JSON object. Throws UsageError if the member is missing or of another type.
template <class T>
T Member(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) {
    throw UsageError(std::string("request: \"") + name + "\" is missing");
  }
  try {
    return found->get<T>();
  } catch (const nlohmann::json::exception&) {
    throw UsageError(std::string("request: \"") + name + "\" is of the wrong type");
  }
}

}  // namespace viaduct::ipc
