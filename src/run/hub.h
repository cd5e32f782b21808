// `viaduct hub`: a simulation in real time whose remote nodes have their programs on other hosts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "result/hub.h"
#include "run/progress.h"
#include "run/simulator_process.h"
#include "scenario/scenario.h"
#include "sys/event_loop.h"

namespace viaduct::run {

struct HubOptions {
  std::string address;  // this machine's for clients; empty: all that it has
  uint16_t port = 0;    // UDP; 0: any
  bool quiet = false;
};

// Starts a simulator that serves the clients of the scenario's remote nodes. While the loop runs,
// its messages are read; what ends the simulator is thrown by the loop's Run().
class Hub {
 public:
  // The scenario and the loop must outlive the hub. Returns when clients are served. Throws Error.
  Hub(const scenario::Scenario& scenario, const HubOptions& options, sys::EventLoop& loop);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  // The node's frames come from and go to this address from now on; or to nobody. Nodes whose
  // client is given in the scenario are not for this.
  void Claim(const std::string& node, const std::string& address);
  void Release(const std::string& node);
  // Calls `use` with the node when the simulator has done what Claim() told it.
  void OnClaimed(std::function<void(const std::string& node)> use) { claimed_ = std::move(use); }
  // The present statistics, at most half a second old.
  const result::HubProgress& latest() const { return latest_; }
  // Calls `use` whenever they are new.
  void OnUpdate(std::function<void(const result::HubProgress&)> use) { use_ = std::move(use); }
  Progress& progress() { return progress_; }
  // Ends the simulation; the final statistics.
  result::HubResult Finish();

 private:
  void Read();

  sys::EventLoop& loop_;
  Progress progress_;
  std::unique_ptr<SimulatorProcess> simulator_;
  result::HubProgress latest_;
  std::optional<result::HubResult> report_;
  bool serves_ = false;
  std::function<void(const result::HubProgress&)> use_;
  std::function<void(const std::string&)> claimed_;
};

// What a hub does, for one line: "12 s: 2 of 3 clients, 1.20k frames/s in, ...". `before`: earlier
// statistics, from which the rates are.
std::string HubStatus(const result::HubProgress& now, const result::HubProgress& before);
// The statistics as a table of clients, with what was lost and the verdict below it.
std::string HubTable(const result::HubResult& result);
// How a client gets to its node: for each remote node its VNI and addresses, and the commands.
std::string HubIntroduction(const scenario::Scenario& scenario, uint16_t port);

}  // namespace viaduct::run
