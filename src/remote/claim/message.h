// What a hub and its clients say to each other on the control connection (docs/remote.md): JSON,
// one object a line.
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
// TCP port of a hub's control connection: the number of VXLAN's UDP port, so that a firewall has
// one number to let through.
inline constexpr uint16_t kDefaultPort = 4789;
// Bytes of a line, without its end. An offer has the names of all nodes of a scenario.
inline constexpr size_t kMaxRequest = 64 * 1024;
inline constexpr size_t kMaxOffer = 1024 * 1024;

// The other end does not keep to the protocol.
class MessageError : public Error {
 public:
  explicit MessageError(const std::string& message) : Error(message) {}
};

// A client asks for a node.
struct Request {
  std::optional<std::string> node;          // absent: any that is free
  std::string session;                      // of the offer that it had; "": none
  std::optional<TunnelKey> wireguard = {};  // the client's, for a hub that encrypts
};
struct Alive {};
// The node is free at once.
struct Leave {
  bool has_failed = false;  // the client could not become the node
};
// The hub does not give a node, and why.
struct Refusal {
  std::string reason;
};

struct Route {
  wire::IpPrefix to;
  wire::IpAddress via;

  bool operator==(const Route&) const = default;
};

// The client's VXLAN packets go to the hub inside of WireGuard.
struct EncryptedTunnel {
  TunnelKey key;      // the hub's
  uint16_t port = 0;  // UDP, of the hub's WireGuard
  // Between which VXLAN's packets are sent inside: IPv4, in networks that nobody else sees.
  wire::IpAddress hub, client;

  bool operator==(const EncryptedTunnel&) const = default;
};

// What a client needs to be a node.
struct Offer {
  std::string node;
  uint32_t vni = 0;   // VXLAN network identifier, 1 to 2^24 - 1
  uint16_t port = 0;  // the hub's and the client's UDP port
  int mtu = 1500;     // of the client's interface: bytes of an IP packet
  wire::MacAddress mac;
  std::vector<wire::IpPrefix> addresses;
  // Gateways of the default routes, one a family at most. 0.0.0.0: every address is on the client's
  // link.
  std::vector<wire::IpAddress> gateways;
  std::vector<Route> routes;
  std::map<std::string, std::vector<wire::IpAddress>> names;  // of the network's nodes
  std::string session;  // with it a client that lost its connection gets the node back
  std::optional<EncryptedTunnel> wireguard;  // absent: VXLAN is not encrypted

  bool operator==(const Offer&) const = default;
};

// An offer as JSON, and back. What ReadOffer() returns is within the bounds that a kernel sets:
// numbers, addresses, and names that can stand in hosts(5). Throws MessageError.
nlohmann::json WriteOffer(const Offer& offer);
Offer ReadOffer(const nlohmann::json& json);
// The same for the member "wireguard" of one.
nlohmann::json WriteTunnel(const EncryptedTunnel& tunnel);
EncryptedTunnel ReadTunnel(const nlohmann::json& json);

// One line each, without its end.
std::string Encode(const Request& request);
std::string Encode(const Alive&);
std::string Encode(const Leave&);
std::string Encode(const Refusal& refusal);
std::string Encode(const Offer& offer);

using FromClient = std::variant<Alive, Request, Leave>;
using FromHub = std::variant<Alive, Offer, Refusal>;
// Throw MessageError.
FromClient ParseFromClient(std::string_view line);
FromHub ParseFromHub(std::string_view line);

}  // namespace viaduct::claim
