// The protocol between the simulator and the agent inside a guest.
//
// A message is a MessageHeader and operations: an OperationHeader, its payload, zeros up to the
// next multiple of kAlignment. All operations of one instant share messages, because a message
// costs the guest several system calls and an operation one. Host byte order (one machine); IP
// addresses are in network order. Both ends are built from this file and have the same version: it
// is not a public interface.
//
// Requests are sent to the agent, events by it. A request that fails is answered with kFailed; the
// answer to a successful one, if any, is noted at its code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/wire/address.h"

namespace viaduct::guest::agent {

inline constexpr uint32_t kMagic = 0x47415656;  // "VVAG" in memory on little-endian machines
inline constexpr uint16_t kVersion = 4;
inline constexpr size_t kAlignment = 8;
// Bytes: enough for the largest datagram with its addresses, and for the operations of a busy
// instant.
inline constexpr size_t kMaxMessage = 128 * 1024;

enum class Code : uint16_t {
  // Requests about nodes; subject = the node, a number the simulator chooses. Each is answered with
  // kDone or kFailed.
  kCreateNode = 1,    // text: its name. Creates a network namespace of that name in /run/netns
  kMoveInterface,     // MoveInterface. kDone carries Interface
  kSetLink,           // SetLink
  kAddAddress,        // InterfaceAddress
  kRemoveAddress,     // InterfaceAddress
  kAddRoute,          // Route, RouteHops: replaces one of the same destination and metric
  kRemoveRoute,       // Route, RouteHops; removes it with all its hops
  kAddNeighbour,      // Neighbour: a permanent entry
  kWriteSysctl,       // text: name, a zero byte, value. kGuestItself: the guest's own namespace
  kAddRule,           // Rule: packets from a source use a table
  kAddMptcpEndpoint,  // MptcpEndpoint: a further address for MPTCP's subflows
  kSetMptcpLimits,    // MptcpLimits

  // Requests about sockets; subject = the socket, a number below kAccepted the simulator chooses.
  kOpenSocket = 0x100,  // OpenSocket. kReady if the kernel serves it without a connection
  kBind,                // Endpoint. kBound
  kListen,              // Listen. kBound
  kConnect,             // Endpoint. kConnected
  kSend,       // [Endpoint if kToEndpoint] bytes, or uint64_t: a number of zeros (kZeros). kWritten
  kCredit,     // uint64_t: this many more bytes may be received. No answer
  kShutdown,   // uint32_t: SHUT_RD, SHUT_WR. No answer. Data queued before is still sent
  kClose,      // no payload, or kAbort: reset. No answer or further events. Data queued before is
               // still sent
  kSetOption,  // SocketOption and its value. kReady if asked for (kAnswer)
  kGetOption,  // SocketOption. kOption

  // Requests about programs (0x200) and statistics (0x300) are in program_protocol.h and
  // state_protocol.h.

  // Events; the top bit distinguishes them from requests. Subject and request number are those of
  // the request.
  kHello = 0x8000,  // Hello: the agent is ready
  kDone,            // payload depends on the request
  kFailed,          // Failed, and text: what was attempted

  kBound = 0x8100,  // Endpoint: the local one
  kConnected,       // Connected
  kAccepted,        // subject = the listener; Accepted
  kData,     // [Endpoint from][PacketInfo] according to the flags, bytes or uint64_t (kZeros); a
             // datagram or a piece of the stream
  kWritten,  // uint64_t: the kernel has accepted this many more bytes of kSend
  kEnd,      // the peer has finished sending
  kBroken,   // uint32_t: errno; the connection is lost (reset, timed out), or an ICMP error arrived
  kOption,   // SocketOption and its value
  kReady,    // uint32_t: the agent's descriptor, for its kernel
};
inline constexpr uint16_t kFirstProgramCode = 0x200;
inline constexpr uint16_t kFirstStatisticsCode = 0x300;
// The number, instead of a node's, of the namespace that the guest booted in, of which new ones
// inherit part.
inline constexpr uint32_t kGuestItself = 0;
// Numbers of sockets that the agent accepted start here.
inline constexpr uint32_t kAccepted = 0x80000000;

// OperationHeader::flags
inline constexpr uint16_t kZeros = 1;       // kSend, kData: a count instead of as many zero bytes
inline constexpr uint16_t kToEndpoint = 2;  // kSend, kData: an Endpoint precedes the bytes
inline constexpr uint16_t kWithInfo = 4;    // kData: a PacketInfo follows the Endpoint
inline constexpr uint16_t kAbort = 8;       // kClose
inline constexpr uint16_t kAnswer = 16;     // kSetOption

struct MessageHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t operations;
  uint32_t length;    // bytes of the whole message
  uint32_t sequence;  // counts the messages of one direction from 0
};
static_assert(sizeof(MessageHeader) == 16);
static_assert(offsetof(MessageHeader, version) == 4, "version stays here in every version");

struct OperationHeader {
  uint16_t code;
  uint16_t flags;
  uint32_t length;  // bytes of the payload, without padding
  uint32_t subject;
  uint32_t request;  // chosen by the requester; an answer repeats it
};
static_assert(sizeof(OperationHeader) == 16);

struct Endpoint {
  uint16_t family;  // AF_INET, AF_INET6, or AF_UNSPEC: none
  uint16_t port;    // host order; for a raw socket the protocol, or 0
  uint32_t scope;   // the ifindex for a link-local IPv6 address, or 0
  uint8_t address[16];
};
static_assert(sizeof(Endpoint) == 24);

struct Interface {
  int32_t ifindex;
  uint32_t mtu;
};

struct MoveInterface {
  uint8_t mac[6];  // the device's at boot
  uint8_t reserved[2];
  char name[16];  // zero-terminated: the device's name on the node
};
static_assert(sizeof(MoveInterface) == 24);

struct SetLink {
  int32_t ifindex;
  int32_t up;    // 1, 0; -1: unchanged
  uint32_t mtu;  // 0: unchanged
  int32_t arp;   // 1, 0; -1: unchanged
};
static_assert(sizeof(SetLink) == 16);

struct InterfaceAddress {
  int32_t ifindex;
  uint32_t prefix_length;
  Endpoint address;       // the port is not used
  uint32_t no_route = 0;  // 1: its network gets no route
};
static_assert(sizeof(InterfaceAddress) == 36);

struct Route {
  uint32_t prefix_length;
  uint32_t metric;
  uint32_t table;  // 0: main
  uint32_t hops;   // RouteHops that follow
  Endpoint destination;
};
static_assert(sizeof(Route) == 40);

struct RouteHop {
  int32_t ifindex;  // 0: the kernel finds it by the gateway
  uint32_t reserved;
  Endpoint gateway;  // AF_UNSPEC: on link
};
static_assert(sizeof(RouteHop) == 32);

struct Neighbour {
  int32_t ifindex;
  uint8_t mac[6];
  uint8_t reserved[2];
  Endpoint address;
};
static_assert(sizeof(Neighbour) == 36);

struct Rule {
  uint32_t prefix_length;
  uint32_t table;
  uint32_t priority;
  int32_t incoming;  // the ifindex that packets arrive on; 1: sent by the node; 0: all
  Endpoint from;
};
static_assert(sizeof(Rule) == 40);

struct MptcpEndpoint {
  int32_t ifindex;
  uint32_t flags;  // MPTCP_PM_ADDR_FLAG_SIGNAL, _SUBFLOW... of linux/mptcp.h
  Endpoint address;
};
static_assert(sizeof(MptcpEndpoint) == 32);

struct MptcpLimits {
  uint32_t subflows;   // besides a connection's first one
  uint32_t addresses;  // announced by the peer and used
};
static_assert(sizeof(MptcpLimits) == 8);

struct OpenSocket {
  uint32_t node;
  uint16_t family;
  uint16_t type;
  uint32_t protocol;
  uint32_t kernel_serves;  // 1: its data is for the guest's kernel (ServedSockets)
  uint64_t credit;         // bytes that may be received before the first kCredit
};
static_assert(sizeof(OpenSocket) == 24);

struct Listen {
  uint32_t backlog;
  uint32_t reserved;
  uint64_t credit;  // for each accepted socket
};
static_assert(sizeof(Listen) == 16);

struct SocketOption {
  int32_t level;
  int32_t name;
};

struct Connected {
  Endpoint local;
  Endpoint peer;
  uint32_t descriptor;  // the agent's, for its kernel
  uint32_t reserved;
};
static_assert(sizeof(Connected) == 56);

struct Accepted {
  uint32_t socket;
  uint32_t descriptor;  // the agent's, for its kernel
  Endpoint local;
  Endpoint peer;
};
static_assert(sizeof(Accepted) == 56);

// Metadata of a received datagram; members that no socket option requested are 0 or -1.
struct PacketInfo {
  int32_t ifindex;
  int16_t ttl;
  int16_t tos;
  Endpoint destination;
};
static_assert(sizeof(PacketInfo) == 32);

struct Failed {
  int32_t error_number;
  uint16_t code;  // the failed request's
  uint16_t reserved;
};
static_assert(sizeof(Failed) == 8);

struct Hello {
  uint32_t max_message;
  char release[60];  // "uname -r", zero-terminated
};
static_assert(sizeof(Hello) == 64);

// The peer violated the protocol: its messages cannot be trusted any more.
class ProtocolError : public Error {
 public:
  explicit ProtocolError(const std::string& message) : Error("kernel agent: " + message) {}
};

// One operation of a validated message; the payload is borrowed.
struct Operation {
  Code code{};
  uint16_t flags = 0;
  uint32_t subject = 0;
  uint32_t request = 0;
  std::span<const std::byte> payload;

  // Returns the structure at `offset` of the payload; throws ProtocolError if the payload is
  // shorter.
  template <class T>
  T As(size_t offset = 0) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (payload.size() < offset + sizeof(T)) ThrowShort();
    T value;
    std::memcpy(&value, payload.data() + offset, sizeof value);
    return value;
  }
  std::span<const std::byte> After(size_t offset) const;
  std::string_view Text(size_t offset = 0) const;

 private:
  [[noreturn]] void ThrowShort() const;
};

// Collects operations into messages of at most `max_message` bytes, which are passed to `send` when
// full and by Flush().
class MessageWriter {
 public:
  using Sender = std::function<void(std::span<const std::byte>)>;
  MessageWriter(size_t max_message, Sender send);

  // Adds an operation whose payload is the concatenation of `parts`. Throws UsageError if they
  // exceed the size of a message.
  void Add(Code code, uint32_t subject, uint32_t request,
           std::initializer_list<std::span<const std::byte>> parts, uint16_t flags = 0);
  void Flush();
  bool empty() const { return operations_ == 0; }
  // The largest payload an operation can have.
  size_t MaxPayload() const {
    return max_message_ - sizeof(MessageHeader) - sizeof(OperationHeader);
  }

 private:
  size_t max_message_;
  Sender send_;
  std::vector<std::byte> buffer_;
  uint16_t operations_ = 0;
  uint32_t sequence_ = 0;
};

// Validates messages of one direction and calls `each` for every operation. A message that is
// invalid anywhere is rejected as a whole.
class MessageReader {
 public:
  // Throws ProtocolError.
  void Read(std::span<const std::byte> message, const std::function<void(const Operation&)>& each);

 private:
  uint32_t sequence_ = 0;
};

// The bytes of a structure, or of a text without its terminating zero; borrowed.
template <class T>
requires(std::is_trivially_copyable_v<T> && !std::is_array_v<T> &&
         !std::is_pointer_v<T>) std::span<const std::byte> BytesOf(const T& value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}
inline std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

// Conversions. FromEndpoint throws ProtocolError for a family that is neither IPv4 nor IPv6.
Endpoint ToEndpoint(const wire::IpAddress& address, uint16_t port = 0, uint32_t scope = 0);
wire::IpAddress FromEndpoint(const Endpoint& endpoint);

// An array of characters as text, up to the terminating zero if there is one.
template <size_t N>
std::string FixedText(const char (&text)[N]) {
  return std::string(text, strnlen(text, N));
}

// "add an address": for error messages.
std::string_view Describe(Code code);

}  // namespace viaduct::guest::agent
