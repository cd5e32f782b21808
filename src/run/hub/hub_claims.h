// The nodes of a hub that clients can claim with the hub's key (`remote: true`).
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

// Returns the names of the nodes with `remote: true`, in the scenario's order.
std::vector<std::string> ClaimableNodes(const scenario::Scenario& scenario);
// Returns the addresses of all nodes, by name, which every offer contains. Takes milliseconds for a
// thousand nodes.
std::map<std::string, std::vector<wire::IpAddress>> NamesOf(const scenario::Scenario& scenario);
// Returns the offer with the data that a client needs to run this node. The offer contains the UDP
// port at which the node's frames are sent and received, but no session and no names. The MAC
// address is locally administered and contains the node's VNI.
claim::Offer OfferOf(const scenario::Scenario& scenario, const std::string& node, uint16_t port);

// The encryption of the tunnels to clients (remote/join/hub_encryption.h).
struct HubCipher {
  // Returns the data that the client with this key, at this address, needs for the tunnel of its
  // node. Throws Error, whose text is sent to the client.
  std::function<claim::EncryptedTunnel(uint32_t vni, const claim::TunnelKey& key,
                                       const wire::IpAddress& client)>
      admit;
  std::function<void(const claim::TunnelKey& key)> dismiss;
};

struct ClaimsSummary {
  claim::ServerCounters counters;
  std::map<std::string, wire::IpAddress> clients;  // the key is the node
  bool is_encrypted = false;
};
// Adds the counters and clients of claims to the results of a hub.
void ReportClaims(const ClaimsSummary& summary, result::HubResult* result);

// Answers clients on control connections while the event loop runs, and reports their claims to the
// hub.
class HubClaims {
 public:
  // Listens on the TCP port with the same number as the hub's UDP port; `address` as in HubOptions.
  // `cipher`: absent if tunnels are not encrypted. All arguments must outlive this object. Throws
  // SystemError.
  HubClaims(const scenario::Scenario& scenario, const claim::Key& key, const std::string& address,
            const std::optional<HubCipher>& cipher, Hub& hub, sys::EventLoop& loop);
  ~HubClaims() { hub_.OnClaimed({}); }
  HubClaims(const HubClaims&) = delete;
  HubClaims& operator=(const HubClaims&) = delete;

  // Returns the current counters and clients, for ReportClaims().
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
  std::map<std::string, claim::TunnelKey> keys_;  // the key is the node's name
  claim::ControlServer server_;
};

}  // namespace viaduct::run
