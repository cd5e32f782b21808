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
  std::string address;    // this machine's for clients; empty: all that it has
  uint16_t port = 0;      // UDP; 0: any
  int inner_socket = -1;  // by which clients are served instead (tunnel::Hub::Options); -1: none
  bool quiet = false;
};

// Serves the clients of a scenario's remote nodes while its loop runs: what ends it is thrown by
// the loop's Run(). For use by one thread.
class Hub {
 public:
  virtual ~Hub() = default;
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  // The node's frames come from and go to this address from now on; or to nobody. Nodes whose
  // client is given in the scenario are not for this.
  virtual void Claim(const std::string& node, const std::string& address) = 0;
  virtual void Release(const std::string& node) = 0;
  // Whether Claim() has been obeyed when it returns. Else OnClaimed() tells.
  virtual bool ClaimsAtOnce() const = 0;
  // Ends it; the final statistics.
  virtual result::HubResult Finish() = 0;

  // Calls `use` with the node when what Claim() said holds.
  void OnClaimed(std::function<void(const std::string& node)> use) { claimed_ = std::move(use); }
  // The present statistics, at most half a second old.
  const result::HubProgress& latest() const { return latest_; }
  // Calls `use` whenever they are new.
  void OnUpdate(std::function<void(const result::HubProgress&)> use) { use_ = std::move(use); }
  // Finds out all statistics, with every client. OnStatistics() tells them, from the loop: also to
  // who has asked meanwhile.
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
// The same for a lab (mode emulate or offload), which `broker` builds: clients are at the far ends
// of their nodes' links. Returns when its routes have converged, as a run's. The lab goes with the
// hub.
std::unique_ptr<Hub> StartLabHub(const scenario::Scenario& scenario, const HubOptions& options,
                                 broker::Client broker, sys::EventLoop& loop);

// What a hub does, for one line: "12 s: 2 of 3 clients, 1.20k frames/s in, ...". `before`: earlier
// statistics, from which the rates are.
std::string HubStatus(const result::HubProgress& now, const result::HubProgress& before);
// The statistics as a table of clients, with what was lost and the verdict below it.
std::string HubTable(const result::HubResult& result);
// How a client gets to its node: for each remote node its VNI and addresses, and the commands.
std::string HubIntroduction(const scenario::Scenario& scenario, uint16_t port, bool is_encrypted);

}  // namespace viaduct::run
