// The protocol between the simulator and the agent inside a guest.
//
// A message is a MessageHeader followed by operations. An operation is an OperationHeader, its
// payload, and zeros up to the next multiple of kAlignment. All operations of one instant share
// messages, because a message costs the guest several system calls and an operation one. Numbers
// are in host byte order, because both ends run on one machine; IP addresses are in network byte
// order. Both ends are built from this file and have the same version: the protocol is not a public
// interface.
//
// The simulator sends requests to the agent, and the agent sends events to the simulator. A request
// that fails is answered with kFailed; the comment on each request's code states the answer to a
// successful request, if there is one.
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

inline constexpr uint32_t kMagic = 0x47415656;  // in memory on a little-endian machine: "VVAG"
inline constexpr uint16_t kVersion = 4;
inline constexpr size_t kAlignment = 8;
// The maximum size of a message in bytes: enough for the largest datagram with its addresses, and
// for the operations of a busy instant.
inline constexpr size_t kMaxMessage = 128 * 1024;

enum class Code : uint16_t {
  // Requests about nodes; the subject is the node's number, which the simulator chooses. Each
  // request is answered with kDone or kFailed.
  kCreateNode = 1,  // text: the node's name. Creates a network namespace /run/netns/NAME
  kMoveInterface,   // payload: MoveInterface. kDone carries Interface
  kSetLink,         // payload: SetLink
  kAddAddress,      // payload: InterfaceAddress
  kRemoveAddress,   // payload: InterfaceAddress
  // Payload of kAddRoute: Route, RouteHops. Replaces an existing route with the same destination
  // and metric.
  kAddRoute,
  kRemoveRoute,   // payload: Route, RouteHops. Removes the route with all its next hops
  kAddNeighbour,  // payload: Neighbour. Adds a permanent neighbour entry
  // Payload of kWriteSysctl: the name of the parameter, a zero byte, the value. If the subject is
  // kGuestItself, writes the parameter of the namespace in which the guest booted.
  kWriteSysctl,
  kAddRule,           // payload: Rule. Adds a rule that selects a routing table for packets
  kAddMptcpEndpoint,  // payload: MptcpEndpoint. Adds an address for MPTCP's subflows
  kSetMptcpLimits,    // payload: MptcpLimits

  // Requests about sockets; the subject is the socket's number, which the simulator chooses and
  // which is below kAccepted.
  // Payload of kOpenSocket: OpenSocket. Answer if the socket is connectionless and served by the
  // kernel: kReady.
  kOpenSocket = 0x100,
  kBind,     // payload: Endpoint. Answer: kBound
  kListen,   // payload: Listen. Answer: kBound
  kConnect,  // payload: Endpoint. Answer: kConnected
  // Payload of kSend: an Endpoint if the flag kToEndpoint is set; then the bytes or, if the flag
  // kZeros is set, a uint64_t, the number of zero bytes. Answer: kWritten.
  kSend,
  // Payload of kCredit: uint64_t, the number of further bytes that the application accepts. No
  // answer.
  kCredit,
  // Payload of kShutdown: uint32_t, SHUT_RD or SHUT_WR. No answer. Data that was queued before is
  // still sent.
  kShutdown,
  // Payload of kClose: none. If the flag kAbort is set, the connection is reset and queued data is
  // discarded; otherwise data that was queued before is still sent. No answer or further events.
  kClose,
  // Payload of kSetOption: SocketOption, then the option's value. Answer if the flag kAnswer is
  // set: kReady.
  kSetOption,
  kGetOption,  // payload: SocketOption. Answer: kOption

  // The codes of requests about programs (from 0x200 on) and about statistics (from 0x300 on) are
  // in program_protocol.h and state_protocol.h.

  // Events. The top bit of the code distinguishes events from requests. An event that answers a
  // request has the subject and the number of the request.
  kHello = 0x8000,  // payload: Hello. The agent is ready
  kDone,            // success; the payload depends on the request
  kFailed,          // payload: Failed, then a text: what was attempted

  kBound = 0x8100,  // payload: Endpoint, the local address
  kConnected,       // payload: Connected
  kAccepted,        // payload: Accepted; the subject is the listening socket
  // A datagram or a piece of a stream. Payload of kData: an Endpoint (the sender) if the flag
  // kToEndpoint is set; a PacketInfo if the flag kWithInfo is set; then the bytes or, if the flag
  // kZeros is set, a uint64_t, the number of zero bytes.
  kData,
  kWritten,  // payload: uint64_t, the number of further bytes of kSend that the kernel has accepted
  kEnd,      // the peer has finished sending
  // The connection is lost (reset, timed out), or an ICMP error arrived. Payload of kBroken:
  // uint32_t, the errno.
  kBroken,
  kOption,  // payload: SocketOption, the option's value
  kReady,   // payload: uint32_t, the agent's descriptor of the socket, which the kernel adopts
};
inline constexpr uint16_t kFirstProgramCode = 0x200;
inline constexpr uint16_t kFirstStatisticsCode = 0x300;
// The subject that stands for the network namespace in which the guest booted, instead of a node's
// number. New namespaces inherit some of this namespace's kernel parameters.
inline constexpr uint32_t kGuestItself = 0;
// The lowest number that the agent gives to a socket that it has accepted.
inline constexpr uint32_t kAccepted = 0x80000000;

// The bits of OperationHeader::flags.
inline constexpr uint16_t kZeros = 1;       // for kSend, kData: the payload is a number of zeros
inline constexpr uint16_t kToEndpoint = 2;  // for kSend, kData: an Endpoint precedes the bytes
inline constexpr uint16_t kWithInfo = 4;    // for kData: a PacketInfo follows the Endpoint
inline constexpr uint16_t kAbort = 8;       // for kClose: the connection is reset
inline constexpr uint16_t kAnswer = 16;     // for kSetOption: the agent answers with kReady

struct MessageHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t operations;
  uint32_t length;    // bytes of the message, including this header
  uint32_t sequence;  // the number of the message: 0 for the first one of a direction
};
static_assert(sizeof(MessageHeader) == 16);
static_assert(offsetof(MessageHeader, version) == 4, "version stays here in every version");

struct OperationHeader {
  uint16_t code;
  uint16_t flags;
  uint32_t length;  // bytes of the payload, without padding
  uint32_t subject;
  uint32_t request;  // the request's number, chosen by the requester; an answer repeats it
};
static_assert(sizeof(OperationHeader) == 16);

struct Endpoint {
  uint16_t family;  // AF_INET, AF_INET6, or AF_UNSPEC: no address
  uint16_t port;    // port in host byte order; for a raw socket the protocol, or 0
  uint32_t scope;   // the ifindex for a link-local IPv6 address, or 0
  uint8_t address[16];
};
static_assert(sizeof(Endpoint) == 24);

struct Interface {
  int32_t ifindex;
  uint32_t mtu;
};

struct MoveInterface {
  uint8_t mac[6];  // the device's MAC address when the guest booted
  uint8_t reserved[2];
  char name[16];  // the device's name on the node, zero-terminated
};
static_assert(sizeof(MoveInterface) == 24);

struct SetLink {
  int32_t ifindex;
  int32_t up;    // 1: up; 0: down; -1: unchanged
  uint32_t mtu;  // 0: unchanged
  int32_t arp;   // 1: ARP on; 0: ARP off; -1: unchanged
};
static_assert(sizeof(SetLink) == 16);

struct InterfaceAddress {
  int32_t ifindex;
  uint32_t prefix_length;
  Endpoint address;       // the port is not used
  uint32_t no_route = 0;  // 1: the kernel adds no route to the address's network
};
static_assert(sizeof(InterfaceAddress) == 36);

struct Route {
  uint32_t prefix_length;
  uint32_t metric;
  uint32_t table;  // the routing table's number; 0: main
  uint32_t hops;   // the number of RouteHops that follow
  Endpoint destination;
};
static_assert(sizeof(Route) == 40);

struct RouteHop {
  int32_t ifindex;  // 0: the kernel finds the interface by the gateway
  uint32_t reserved;
  Endpoint gateway;  // AF_UNSPEC: the destination is on the link
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
  // The ifindex of the interface on which packets arrive; 1: packets that the node sends; 0: all
  // packets.
  int32_t incoming;
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
  uint32_t subflows;   // the maximum number of a connection's subflows besides its first one
  uint32_t addresses;  // the maximum number of the peer's announced addresses that are used
};
static_assert(sizeof(MptcpLimits) == 8);

struct OpenSocket {
  uint32_t node;
  uint16_t family;
  uint16_t type;
  uint32_t protocol;
  uint32_t kernel_serves;  // 1: the guest's kernel serves the socket's data (ServedSockets)
  uint64_t credit;         // the number of bytes that may be received before the first kCredit
};
static_assert(sizeof(OpenSocket) == 24);

struct Listen {
  uint32_t backlog;
  uint32_t reserved;
  uint64_t credit;  // the bytes that each accepted socket may receive before its first kCredit
};
static_assert(sizeof(Listen) == 16);

struct SocketOption {
  int32_t level;
  int32_t name;
};

struct Connected {
  Endpoint local;
  Endpoint peer;
  uint32_t descriptor;  // the agent's descriptor of the socket, which the kernel adopts
  uint32_t reserved;
};
static_assert(sizeof(Connected) == 56);

struct Accepted {
  uint32_t socket;
  uint32_t descriptor;  // the agent's descriptor of the socket, which the kernel adopts
  Endpoint local;
  Endpoint peer;
};
static_assert(sizeof(Accepted) == 56);

// The metadata of a received datagram; members that no socket option requested are 0 or -1.
struct PacketInfo {
  int32_t ifindex;
  int16_t ttl;
  int16_t tos;
  Endpoint destination;
};
static_assert(sizeof(PacketInfo) == 32);

struct Failed {
  int32_t error_number;
  uint16_t code;  // the code of the failed request
  uint16_t reserved;
};
static_assert(sizeof(Failed) == 8);

struct Hello {
  uint32_t max_message;
  char release[60];  // the kernel release ("uname -r"), zero-terminated
};
static_assert(sizeof(Hello) == 64);

// Thrown when the peer violated the protocol, so that its messages cannot be trusted any more.
class ProtocolError : public Error {
 public:
  explicit ProtocolError(const std::string& message) : Error("kernel agent: " + message) {}
};

// One operation of a validated message; the payload is borrowed from the message.
struct Operation {
  Code code{};
  uint16_t flags = 0;
  uint32_t subject = 0;
  uint32_t request = 0;
  std::span<const std::byte> payload;

  // Returns the structure of type T at `offset` of the payload; throws ProtocolError if the payload
  // is shorter.
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

// Collects operations into messages of at most `max_message` bytes, and passes a message to `send`
// when it is full and when Flush() is called.
class MessageWriter {
 public:
  using Sender = std::function<void(std::span<const std::byte>)>;
  MessageWriter(size_t max_message, Sender send);

  // Adds an operation whose payload is the concatenation of `parts`. Throws UsageError if the
  // payload exceeds the size of a message.
  void Add(Code code, uint32_t subject, uint32_t request,
           std::initializer_list<std::span<const std::byte>> parts, uint16_t flags = 0);
  void Flush();
  bool empty() const { return operations_ == 0; }
  // Returns the maximum size of an operation's payload, in bytes.
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

// Validates the messages of one direction and calls `each` for every operation. A message with any
// invalid part is rejected as a whole.
class MessageReader {
 public:
  // Reads a message; throws ProtocolError if the message is invalid.
  void Read(std::span<const std::byte> message, const std::function<void(const Operation&)>& each);

 private:
  uint32_t sequence_ = 0;
};

// Returns the bytes of a structure, or of a text without its terminating zero; the bytes are
// borrowed.
template <class T>
requires(std::is_trivially_copyable_v<T> && !std::is_array_v<T> &&
         !std::is_pointer_v<T>) std::span<const std::byte> BytesOf(const T& value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}
inline std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

// Convert between IP addresses and endpoints of the protocol. FromEndpoint() throws ProtocolError
// for an address family that is neither IPv4 nor IPv6.
Endpoint ToEndpoint(const wire::IpAddress& address, uint16_t port = 0, uint32_t scope = 0);
wire::IpAddress FromEndpoint(const Endpoint& endpoint);

// Returns an array of characters as text, up to the terminating zero if there is one.
template <size_t N>
std::string FixedText(const char (&text)[N]) {
  return std::string(text, strnlen(text, N));
}

// Returns a request's description for error messages, such as "add an address".
std::string_view Describe(Code code);

}  // namespace viaduct::guest::agent
