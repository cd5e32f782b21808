// The encryption of a hub's tunnels: an inner network (remote/join/inner_network.h) that contains
// the hub's VXLAN socket, and whose remote ends are the hub's clients.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/fd.h"
#include "base/wire/address.h"
#include "remote/claim/key_pair.h"
#include "remote/claim/message.h"
#include "remote/join/inner_network.h"
#include "sys/ipc/caller.h"
#include "sys/ipc/message.h"
#include "sys/process/invoking_user.h"

namespace viaduct::remote {

// Makes the inner network in root's half, with a fresh key; root's half removes it however this
// process ends. There must be a steward (sys/privilege/halves.h).
class HubEncryption {
 public:
  // `port`: UDP port of WireGuard; 0: any. Throws EnvironmentError if the kernel has no WireGuard,
  // UsageError if the port is in use.
  explicit HubEncryption(uint16_t port);

  int fd() const { return root_.fd(); }  // readable when root's half has ended
  // Returns the socket of the inner network, bound to the hub's inner address and to VXLAN's port.
  int inner_socket() const { return inner_socket_.get(); }

  // Returns the tunnel data that the client of this VNI needs. After this call the owner of the
  // key, and a host that has the client's address, can send as this client. Throws UsageError if
  // another client has the key.
  claim::EncryptedTunnel Admit(uint32_t vni, const claim::TunnelKey& key,
                               const wire::IpAddress& client);
  void Dismiss(const claim::TunnelKey& key);

 private:
  ipc::Caller root_;
  claim::TunnelKey open_;
  uint16_t port_ = 0;
  UniqueFd inner_socket_;
};

// The service that root's half performs for the hub.
inline constexpr ipc::Service kHubService = {"hub", 1};
enum class HubRequest : uint16_t {
  kBuild = ipc::kFirstRequest,  // payload: secret, port; reply: port; the inner socket
  kSetPeer,                     // payload: an InnerNetwork::Other; reply: empty
  kRemovePeer,                  // payload: key; reply: empty
};
void KeepHubEncryption(UniqueFd connection, const sys::Identity& user);

// Converts a remote end to JSON (for root's half) and back. Throws UsageError.
nlohmann::json EncodeOther(const InnerNetwork::Other& other);
InnerNetwork::Other DecodeOther(const nlohmann::json& json);

}  // namespace viaduct::remote
