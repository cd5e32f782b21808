// The encryption of a hub's tunnels: an inner network (remote/join/inner_network.h) in which the
// hub's VXLAN socket is, and whose other ends are its clients.
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

namespace viaduct::emulate {

// Root's half makes it, with a fresh key, and removes it however this process ends. There must be a
// steward (sys/privilege/halves.h).
class HubEncryption {
 public:
  // `port`: UDP, of WireGuard; 0: any. Throws EnvironmentError if the kernel has no WireGuard,
  // UsageError if the port is in use.
  explicit HubEncryption(uint16_t port);

  int fd() const { return root_.fd(); }  // readable when root's half has ended
  // Of the inner network, bound to the hub's address there and VXLAN's port.
  int inner_socket() const { return inner_socket_.get(); }

  // What the client of this VNI needs. From now on the key's owner, and who has the address, can
  // send as this client. Throws UsageError where another client has the key.
  claim::EncryptedTunnel Admit(uint32_t vni, const claim::TunnelKey& key,
                               const wire::IpAddress& client);
  void Dismiss(const claim::TunnelKey& key);

 private:
  ipc::Caller root_;
  claim::TunnelKey open_;
  uint16_t port_ = 0;
  UniqueFd inner_socket_;
};

// Root's half: the service.
inline constexpr ipc::Service kHubService = {"hub", 1};
enum class HubRequest : uint16_t {
  kBuild = ipc::kFirstRequest,  // secret, port; reply: port; the inner socket
  kSetPeer,                     // an InnerNetwork::Other; reply: nothing
  kRemovePeer,                  // key; reply: nothing
};
void KeepHubEncryption(UniqueFd connection, const sys::Identity& user);

// Another end as the user's half names it, and back. Throws UsageError.
nlohmann::json EncodeOther(const InnerNetwork::Other& other);
InnerNetwork::Other DecodeOther(const nlohmann::json& json);

}  // namespace viaduct::emulate
