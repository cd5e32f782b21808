// `viaduct hub`: a simulation in real time, or a lab, in which clients on other hosts run the
// programs of the remote nodes.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/result/hub.h"
#include "lab/broker/client.h"
#include "run/simulator/progress.h"
#include "scenario/scenario.h"
#include "sys/event_loop.h"

namespace viaduct::run {

struct HubOptions {
  std::string address;  // this machine's address for clients; empty: all addresses
  uint16_t port = 0;    // UDP port; 0: any
  // The socket through which clients are served in place of a UDP socket of the hub
  // (tunnel::ClientHub::Options); -1: none.
  int inner_socket = -1;
  bool quiet = false;
};

// Serves the clients of a scenario's remote nodes while its event loop runs; an error that ends the
// hub is thrown by the loop's Run(). For use by one thread.
class Hub {
 public:
  virtual ~Hub() = default;
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  // Claim() makes `address` the address of the node's client, which sends and receives the node's
  // frames. Release() leaves the node without a client. Not for nodes whose client the scenario
  // sets.
  virtual void Claim(const std::string& node, const std::string& address) = 0;
  virtual void Release(const std::string& node) = 0;
  // Whether a claim has taken effect when Claim() returns. If not, the function set by OnClaimed()
  // is called when the claim has taken effect.
  virtual bool ClaimsAtOnce() const = 0;
  // Ends the hub's service and returns the final statistics.
  virtual result::HubResult Finish() = 0;

  // Sets a function that is called with the node's name when a Claim() has taken effect.
  void OnClaimed(std::function<void(const std::string& node)> use) { claimed_ = std::move(use); }
  // Returns the current statistics, which are at most half a second old.
  const result::HubProgress& latest() const { return latest_; }
  // Sets a function that is called whenever new statistics are available.
  void OnUpdate(std::function<void(const result::HubProgress&)> use) { use_ = std::move(use); }
  // Requests all statistics, with every client. The event loop passes the statistics to the
  // function set by OnStatistics(), once for all requests that have been made before.
  virtual void AskStatistics() = 0;
  void OnStatistics(std::function<void(result::HubResult)> use) {
    use_statistics_ = std::move(use);
  }
  Progress& progress() { return progress_; }

 protected:
  explicit Hub(bool quiet) : progress_(stderr, quiet) {}

  void Update(const result::HubProgress& now) {
    latest_ = now;
    if (use_) use_(latest_);
  }
  void TellClaimed(const std::string& node) const {
    if (claimed_) claimed_(node);
  }
  void TellStatistics(result::HubResult statistics) const {
    if (use_statistics_) use_statistics_(std::move(statistics));
  }

 private:
  Progress progress_;
  result::HubProgress latest_;
  std::function<void(const result::HubProgress&)> use_;
  std::function<void(const std::string&)> claimed_;
  std::function<void(result::HubResult)> use_statistics_;
};

// Starts a hub that simulates in real time (mode simulate). The scenario and the loop must outlive
// the hub. Returns when the hub is ready to serve clients. Throws Error.
std::unique_ptr<Hub> StartSimulatedHub(const scenario::Scenario& scenario,
                                       const HubOptions& options, sys::EventLoop& loop);
// Starts a hub with a lab (mode emulate or offload), which `broker` builds: a client is at the far
// end of each link of its node. Returns when the lab's routes have converged, as in a run. The lab
// is removed with the hub.
std::unique_ptr<Hub> StartLabHub(const scenario::Scenario& scenario, const HubOptions& options,
                                 broker::Client broker, sys::EventLoop& loop);

// Returns the status of a hub as one line: "12 s: 2 of 3 clients, 1.20k frames/s in, ...".
// `before`: earlier statistics, from which the rates are computed.
std::string HubStatus(const result::HubProgress& now, const result::HubProgress& before);
// Returns the statistics as a table of clients, followed by the losses and the verdict.
std::string HubTable(const result::HubResult& result);
// Returns the text that a hub prints for its clients: each remote node's VNI and addresses, and the
// commands with which a client joins.
std::string HubIntroduction(const scenario::Scenario& scenario, uint16_t port, bool is_encrypted);

}  // namespace viaduct::run
