// The broker's protocol on its SOCK_SEQPACKET connections. Both ends are built from this file and
// have the same version; it is not a public interface. Host byte order (one machine).
//
// A message is one packet, or several (kMore on all but the last) because a SEQPACKET packet must
// fit the socket's send buffer. Every packet starts with a PacketHeader. Descriptors come with the
// last packet. The client sends requests one at a time; each is answered by one kReply or kError
// with the request's sequence number. After a packet that breaks these rules the broker answers
// kError and closes the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "broker/client.h"
#include "fib/route_sink.h"

namespace viaduct::broker {

inline constexpr uint32_t kMagic = 0x42445656;  // "VVDB" in memory on little-endian machines
inline constexpr uint16_t kProtocolVersion = 8;
inline constexpr size_t kMaxPacketPayload = 64 * 1024;
// 10,000 routes are 560 kB, the topology of 1,000 nodes about 1 MB.
inline constexpr size_t kMaxMessagePayload = 16 * 1024 * 1024;
// An AF_XDP port's: a socket for each queue, the map, a socket for questions.
inline constexpr size_t kMaxDescriptors = 64;

enum class MessageType : uint16_t {
  kReply = 1,  // JSON; descriptors depend on the request
  kError,      // JSON: message, status, and for kApplyRoutes the refused routes
  // Requests. Their payload is JSON unless noted otherwise.
  kCreateLab,  // a lab::Topology
  kDestroyLab,
  kOpenPacketSocket,   // reply: ifindex, has_qdisc; the socket
  kOpenControlSocket,  // reply: ifindex, has_qdisc; the socket
  kOpenTun,            // reply: the descriptor
  kApplyRoutes,        // RoutesHeader, the node's name, RouteRecords; reply: nothing
  kSetLinkUp,
  kSpawn,  // with the descriptors of standard input... that are not null; reply: pid; pidfd, exit
           // status
  kKill,
  kDescribe,  // reply: the description
  kDetach,
  kNewConnection,        // reply: the connection
  kIfIndex,              // a node and interface; reply: ifindex
  kSetAddresses,         // a node, interface and its addresses
  kOpenLinkMonitor,      // a node; reply: the descriptor
  kOpenTransportSocket,  // reply: the socket
  // Requests to other services of root's half (privilege/steward.h).
  kExamine,          // reply: features
  kClean,            // reply: removed, problems
  kConfigureSwitch,  // the options of the command
  kBuildShell,  // reply: name, created, host, limits, ipv6_limits, ports (indices); a packet socket
                // each, the control socket
  kEndProgram,  // of a shell, with its descendants
  kCountUnsent,     // reply: connections of the shell's program that have still to send
  kTakeInterfaces,  // interfaces, pairs, name; reply: name, created; the control socket
  kOpenPort,        // port; reply: ifindex; the packet socket
  // Further requests to the broker.
  kOpenUpcalls,    // a node, families; reply: the descriptor
  kSetNeighbours,  // a node, neighbours (interface, address, mac), held; reply: nothing
  kOpenTables,     // a node; reply: table_words; the tables, events, doorbell
  kOpenMulticast,  // a node, family, interfaces; reply: the socket
  kAdoptLab,       // a lab::Topology; reply: nothing
  kReadRoutes,     // a node; reply: a file with the payload of kApplyRoutes, all kAdded
  kNoteSimulator,  // a lab::SimulatorHistory; reply: nothing
  // Another service of root's half.
  kBuildJoin,  // an emulate::JoinRequest; reply: name, interface
  // A further request to the broker.
  kLendInnerSocket,  // with the socket; reply: nothing
  // Of the encryption of a hub and a joined node (emulate/hub_encryption.h, emulate/join.h).
  kBuildEncryption,  // secret, port; reply: port; the inner socket
  kSetPeer,          // an emulate::InnerNetwork::Other; reply: nothing
  kRemovePeer,       // key; reply: nothing
  kChangeHub,        // a claim::EncryptedTunnel; reply: nothing
  // A further request to the broker.
  kLookUp,  // node, destinations; reply: passages
};
inline constexpr MessageType kLastMessageType = MessageType::kLookUp;

struct PacketHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t type;      // MessageType
  uint32_t sequence;  // of the request; the same in its answer
  uint32_t length;    // of the payload in this packet
  uint16_t flags;
  uint16_t descriptors;  // that come with this packet
};
static_assert(sizeof(PacketHeader) == 20 && alignof(PacketHeader) == 4);
static_assert(offsetof(PacketHeader, version) == 4, "version stays here in every version");

inline constexpr uint16_t kMore = 1;  // PacketHeader::flags: the message continues

struct RoutesHeader {
  uint32_t node_length;  // bytes of the name that follow
  uint32_t records;      // RouteRecords that follow the name, one for each next hop
};
static_assert(sizeof(RoutesHeader) == 8);

enum class RouteChange : uint8_t { kReplaced = 0, kAdded = 1, kRemoved = 2 };

// RouteRecord::flags.
inline constexpr uint8_t kFurtherHop = 1;  // one more next hop of the route of the record before
inline constexpr uint8_t kPreferred = 2;   // fib::Table::kPreferred

struct RouteRecord {
  uint32_t metric;
  uint8_t change;  // RouteChange
  uint8_t family;  // wire::Family
  uint8_t prefix_length;
  uint8_t flags;
  uint8_t destination[16];
  uint8_t gateway[16];  // zero: on link
  char interface[16];   // zero-terminated (IFNAMSIZ)
};
static_assert(sizeof(RouteRecord) == 56 && alignof(RouteRecord) == 4);

// The peer violated the protocol; the connection cannot be used any more.
class ProtocolError : public Error {
 public:
  explicit ProtocolError(const std::string& message) : Error(message) {}
};

struct Message {
  MessageType type = MessageType::kReply;
  uint32_t sequence = 0;
  std::string payload;
  std::vector<UniqueFd> descriptors;
};

using Packet = std::vector<std::byte>;

// Splits one message into packets. Throws UsageError above kMaxMessagePayload. The number of
// descriptors goes into the last packet's header.
std::vector<Packet> EncodeMessage(MessageType type, uint32_t sequence, std::string_view payload,
                                  size_t descriptors = 0);

// Assembles messages from packets.
class MessageAssembler {
 public:
  // The message that this packet completes, if it does. Throws ProtocolError for a packet that is
  // truncated, oversized, of another version or type, or no continuation; the descriptors are
  // closed then.
  std::optional<Message> Add(std::span<const std::byte> packet, std::vector<UniqueFd> descriptors);

 private:
  std::optional<Message> partial_;
};

std::string EncodeRoutes(const std::string& node, const fib::RouteChanges& changes);
struct RoutesRequest {
  std::string node;
  fib::RouteChanges changes;
};
// Throws ProtocolError.
RoutesRequest DecodeRoutes(std::string_view payload);

// Throws ProtocolError if the text is not a JSON object.
nlohmann::json DecodeJson(std::string_view payload);
// The member of an object; throws UsageError if it is missing or of another type.
template <class T>
T Member(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) {
    throw UsageError(std::string("broker request: \"") + name + "\" is missing");
  }
  try {
    return found->get<T>();
  } catch (const nlohmann::json::exception&) {
    throw UsageError(std::string("broker request: \"") + name + "\" is of the wrong type");
  }
}

// The member "family" of a request. Throws UsageError if it is missing or neither 4 nor 6.
wire::Family DecodeFamily(const nlohmann::json& request);
wire::Family FamilyOf(int number);  // 4 or 6; throws UsageError

// The payload of kError. Decoding throws the subclass of Error that the status stands for,
// RouteError, or sys::ExecuteError.
std::string EncodeError(const Error& error);
[[noreturn]] void ThrowDecodedError(std::string_view payload);

void to_json(nlohmann::json& json, const PacketSocketOptions& options);
void from_json(const nlohmann::json& json, PacketSocketOptions& options);
void to_json(nlohmann::json& json, const ControlSocketOptions& options);
void from_json(const nlohmann::json& json, ControlSocketOptions& options);
void to_json(nlohmann::json& json, const TransportSocketOptions& options);
void from_json(const nlohmann::json& json, TransportSocketOptions& options);
// The standard descriptors are encoded as their index among the message's descriptors, or -1.
void to_json(nlohmann::json& json, const ProgramOptions& options);
void from_json(const nlohmann::json& json, ProgramOptions& options);
// What kSpawn asks for, with the message's descriptors, which stay the message's. Throws UsageError
// or ProtocolError.
ProgramOptions DecodeProgram(const Message& request);

}  // namespace viaduct::broker
