// `viaduct hub`: a simulation in real time, or a lab, whose remote nodes have their programs on
// other hosts.
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
  std::string address;    // this machine's address for clients; empty: all of them
  uint16_t port = 0;      // UDP; 0: any
  int inner_socket = -1;  // that serves clients instead (tunnel::ClientHub::Options); -1: none
  bool quiet = false;
};

// Serves the clients of a scenario's remote nodes while its loop runs; the loop's Run() throws the
// error that ends it. For use by one thread.
class Hub {
 public:
  virtual ~Hub() = default;
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  // Claim() makes this address the source and destination of the node's frames; Release() leaves
  // the node without a client. Not for nodes whose client is given in the scenario.
  virtual void Claim(const std::string& node, const std::string& address) = 0;
  virtual void Release(const std::string& node) = 0;
  // Whether Claim() has taken effect when it returns. Otherwise OnClaimed() reports it.
  virtual bool ClaimsAtOnce() const = 0;
  // Ends the hub and returns the final statistics.
  virtual result::HubResult Finish() = 0;

  // Calls `use` with the node when a Claim() has taken effect.
  void OnClaimed(std::function<void(const std::string& node)> use) { claimed_ = std::move(use); }
  // The present statistics, at most half a second old.
  const result::HubProgress& latest() const { return latest_; }
  // Calls `use` whenever the statistics are new.
  void OnUpdate(std::function<void(const result::HubProgress&)> use) { use_ = std::move(use); }
  // Requests all statistics, with every client. The function of OnStatistics() gets them, from the
  // loop; they also answer requests made meanwhile.
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

// Starts a simulation in real time (mode simulate). The scenario and the loop must outlive the hub.
// Returns when clients are served. Throws Error.
std::unique_ptr<Hub> StartSimulatedHub(const scenario::Scenario& scenario,
                                       const HubOptions& options, sys::EventLoop& loop);
// Starts a lab (mode emulate or offload), which `broker` builds: clients are at the far ends of
// their nodes' links. Returns when its routes have converged, as in a run. The lab is removed with
// the hub.
std::unique_ptr<Hub> StartLabHub(const scenario::Scenario& scenario, const HubOptions& options,
                                 broker::Client broker, sys::EventLoop& loop);

// Returns a hub's status as one line: "12 s: 2 of 3 clients, 1.20k frames/s in, ...". `before`:
// earlier statistics, from which the rates are computed.
std::string HubStatus(const result::HubProgress& now, const result::HubProgress& before);
// Returns the statistics as a table of clients, with the losses and the verdict below it.
std::string HubTable(const result::HubResult& result);
// Returns the instructions for clients: each remote node's VNI and addresses, and the commands.
std::string HubIntroduction(const scenario::Scenario& scenario, uint16_t port, bool is_encrypted);

}  // namespace viaduct::run
