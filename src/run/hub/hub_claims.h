// The nodes of a hub that clients claim with its key (`remote: true`).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result/hub.h"
#include "base/wire/address.h"
#include "remote/claim/control_server.h"
#include "remote/claim/message.h"
#include "run/hub/hub.h"
#include "scenario/scenario.h"
#include "sys/event_loop.h"

namespace viaduct::run {

// Those nodes, in the scenario's order.
std::vector<std::string> ClaimableNodes(const scenario::Scenario& scenario);
// All nodes' addresses, which every offer has. Takes milliseconds for a thousand nodes.
std::map<std::string, std::vector<wire::IpAddress>> NamesOf(const scenario::Scenario& scenario);
// What a client needs to be this node, whose frames go to and from this UDP port; without session
// and names. Its MAC address is locally administered and made of the node's VNI.
claim::Offer OfferOf(const scenario::Scenario& scenario, const std::string& node, uint16_t port);

// What encrypts the tunnels to clients (remote/join/hub_encryption.h).
struct HubCipher {
  // What the client with this key, at this address, needs for its node's tunnel. Throws Error,
  // whose text the client is told.
  std::function<claim::EncryptedTunnel(uint32_t vni, const claim::TunnelKey& key,
                                       const wire::IpAddress& client)>
      admit;
  std::function<void(const claim::TunnelKey& key)> dismiss;
};

struct ClaimsSummary {
  claim::ServerCounters counters;
  std::map<std::string, wire::IpAddress> clients;  // of nodes
  bool is_encrypted = false;
};
// Adds it to a hub's results.
void ReportClaims(const ClaimsSummary& summary, result::HubResult* result);

// Answers clients on a control connection while the loop runs, and tells the hub who they are.
class HubClaims {
 public:
  // Listens on the TCP port of the number of the hub's UDP port; `address` as in HubOptions.
  // `cipher`: absent where tunnels are not encrypted. All must outlive this. Throws SystemError.
  HubClaims(const scenario::Scenario& scenario, const claim::Key& key, const std::string& address,
            const std::optional<HubCipher>& cipher, Hub& hub, sys::EventLoop& loop);
  ~HubClaims() { hub_.OnClaimed({}); }
  HubClaims(const HubClaims&) = delete;
  HubClaims& operator=(const HubClaims&) = delete;

  // What is to be reported of it now.
  ClaimsSummary Summary() const {
    return {server_.counters(), server_.Clients(), cipher_.has_value()};
  }

 private:
  claim::ServerOptions OptionsOf(const scenario::Scenario& scenario, const claim::Key& key,
                                 const std::string& address);
  claim::Offer Give(const scenario::Scenario& scenario, const claim::Claim& claim);
  void TakeBack(const std::string& node);

  Hub& hub_;
  const std::optional<HubCipher> cipher_;
  std::map<std::string, claim::TunnelKey> keys_;  // of the nodes' clients
  claim::ControlServer server_;
};

}  // namespace viaduct::run
