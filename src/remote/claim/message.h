// The messages between a hub and its clients on the control connection (docs/remote.md): JSON, one
// object a line.
//
//   client  {"claim": NODE or null, "session": TOKEN, "version": 1, "wireguard": PUBLIC KEY},
//           {"alive": true}, {"leave": true, "failed": BOOLEAN}
//   hub     an offer, {"alive": true}, {"error": TEXT}
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/wire/address.h"
#include "remote/claim/key_pair.h"

namespace viaduct::claim {

inline constexpr int kVersion = 1;
// TCP port of a hub's control connection: the number of VXLAN's UDP port, so that a firewall has to
// pass one number.
inline constexpr uint16_t kDefaultPort = 4789;
// The maximum number of bytes in the line of a request, and of an offer, without the end of the
// line. An offer has the names of all nodes of a scenario.
inline constexpr size_t kMaxRequest = 64 * 1024;
inline constexpr size_t kMaxOffer = 1024 * 1024;

// Thrown if the peer violates the protocol.
class MessageError : public Error {
 public:
  explicit MessageError(const std::string& message) : Error(message) {}
};

// A client's request for a node.
struct Request {
  std::optional<std::string> node;          // absent: any free node
  std::string session;                      // the session of the client's former offer; "": none
  std::optional<TunnelKey> wireguard = {};  // the client's key, for a hub that encrypts
};
struct Alive {};
// The message of a client that leaves: the client's node is free at once.
struct Leave {
  bool has_failed = false;  // the client could not become the node
};
// The hub's refusal to give a node, with the reason.
struct Refusal {
  std::string reason;
};

struct Route {
  wire::IpPrefix to;
  wire::IpAddress via;

  bool operator==(const Route&) const = default;
};

// The tunnel through which the client's VXLAN packets are sent to the hub inside WireGuard.
struct EncryptedTunnel {
  TunnelKey key;      // the hub's public key
  uint16_t port = 0;  // UDP port of the hub's WireGuard
  // The addresses between which VXLAN packets are sent inside WireGuard: IPv4 addresses, in
  // networks that only the two ends see.
  wire::IpAddress hub, client;

  bool operator==(const EncryptedTunnel&) const = default;
};

// The data that a client needs in order to act as a node of the hub.
struct Offer {
  std::string node;
  uint32_t vni = 0;   // VXLAN network identifier, 1 to 2^24 - 1
  uint16_t port = 0;  // the hub's and the client's UDP port
  int mtu = 1500;     // MTU of the client's interface: bytes of an IP packet
  wire::MacAddress mac;
  std::vector<wire::IpPrefix> addresses;
  // The gateways of the default routes, at most one per family. 0.0.0.0: every address is on the
  // client's link.
  std::vector<wire::IpAddress> gateways;
  std::vector<Route> routes;
  std::map<std::string, std::vector<wire::IpAddress>> names;  // names of the network's nodes
  std::string session;  // lets a client that lost its connection get the node back
  std::optional<EncryptedTunnel> wireguard;  // absent: VXLAN is not encrypted

  bool operator==(const Offer&) const = default;
};

// Converts an offer to JSON and back. The numbers and addresses that ReadOffer() returns are within
// the limits of a kernel, and the names are valid in hosts(5). Throws MessageError.
nlohmann::json WriteOffer(const Offer& offer);
Offer ReadOffer(const nlohmann::json& json);
// Converts the member "wireguard" of an offer to JSON and back. Throws MessageError.
nlohmann::json WriteTunnel(const EncryptedTunnel& tunnel);
EncryptedTunnel ReadTunnel(const nlohmann::json& json);

// Returns a message as one line, without the end of the line.
std::string Encode(const Request& request);
std::string Encode(const Alive&);
std::string Encode(const Leave&);
std::string Encode(const Refusal& refusal);
std::string Encode(const Offer& offer);

using FromClient = std::variant<Alive, Request, Leave>;
using FromHub = std::variant<Alive, Offer, Refusal>;
// Parse one line of a client or of the hub. Throw MessageError.
FromClient ParseFromClient(std::string_view line);
FromHub ParseFromHub(std::string_view line);

}  // namespace viaduct::claim
