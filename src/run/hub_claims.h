// The nodes of a hub that clients claim with its key (`remote: true`).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "claim/control_server.h"
#include "claim/message.h"
#include "result/hub.h"
#include "run/hub.h"
#include "scenario/scenario.h"
#include "sys/event_loop.h"
#include "wire/address.h"

namespace viaduct::run {

// Those nodes, in the scenario's order.
std::vector<std::string> ClaimableNodes(const scenario::Scenario& scenario);
// All nodes' addresses, which every offer has. Takes milliseconds for a thousand nodes.
std::map<std::string, std::vector<wire::IpAddress>> NamesOf(const scenario::Scenario& scenario);
// What a client needs to be this node, whose frames go to and from this UDP port; without session
// and names. Its MAC address is locally administered and made of the node's VNI.
claim::Offer OfferOf(const scenario::Scenario& scenario, const std::string& node, uint16_t port);

// Answers clients on a control connection while the loop runs, and tells the hub who they are.
class HubClaims {
 public:
  // Listens on the TCP port of the number of the hub's UDP port; `address` as in HubOptions. All
  // must outlive this. Throws SystemError.
  HubClaims(const scenario::Scenario& scenario, const claim::Key& key, const std::string& address,
            Hub& hub, sys::EventLoop& loop);
  ~HubClaims() { hub_.OnClaimed({}); }
  HubClaims(const HubClaims&) = delete;
  HubClaims& operator=(const HubClaims&) = delete;

  const claim::ServerCounters& counters() const { return server_.counters(); }

 private:
  Hub& hub_;
  claim::ControlServer server_;
};

// Adds the counters of claims to a hub's results.
void ReportClaims(const claim::ServerCounters& counters, result::HubResult* result);

}  // namespace viaduct::run
