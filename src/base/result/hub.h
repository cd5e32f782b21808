// The statistics of a hub, which connects remote nodes with the clients that run their programs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/result/environment.h"
#include "base/result/run.h"
#include "base/result/timing.h"
#include "base/time.h"

namespace viaduct::result {

// The statistics of a remote node and its client.
struct ClientResult {
  std::string node;
  uint32_t vni = 0;
  std::optional<std::string> client;  // the client's address, if the node has a client
  uint64_t rx_frames = 0, rx_bytes = 0, tx_frames = 0, tx_bytes = 0;
  std::map<std::string, uint64_t> drops;  // dropped frames, by cause
  uint64_t waiting = 0;                   // frames from the client that wait now
  std::optional<double> wait_ms;
  double longest_wait_ms = 0;

  static fields::KeysOf<ClientResult> Keys();
};

// The traffic of the scenario itself in a hub's network: its flows, programs, events and captures.
struct HubTraffic {
  std::vector<FlowResult> flows;
  std::vector<ProgramResult> programs;
  std::vector<LinkEvent> events;
  std::optional<Timing> event_timing;  // the lateness of `events`; only in a lab
  std::vector<Capture> captures;
  std::vector<StateFiles> state;  // only in a simulation

  static fields::KeysOf<HubTraffic> Keys();
};

struct HubResult {
  std::string name;
  uint64_t seed = 0;
  double seconds = 0;
  uint16_t port = 0;
  uint64_t readers = 0;  // number of threads
  uint64_t queue = 0;    // maximum number of frames from clients that wait
  std::optional<std::string> encryption;
  int receive_buffer = 0, send_buffer = 0;  // bytes
  // The reason that the clients do not share the receive buffer.
  std::optional<std::string> unshared;
  uint64_t datagrams = 0;
  std::map<std::string, uint64_t> drops;  // dropped datagrams, by cause
  std::vector<ClientResult> clients;
  // The number of nodes that were assigned to clients with the key (`claims`), and the part of this
  // number for which the client had the node before (`returns`).
  std::optional<uint64_t> claims, returns;
  // The numbers of refused connections and claims, by cause.
  std::optional<std::map<std::string, uint64_t>> refused;
  // The time that the simulator spent, in s, by activity; only in a simulation.
  std::map<std::string, double> loop;
  Timing events, frames;
  std::map<std::string, uint64_t> unreadable;  // number of packets that could not be read, by node
  std::optional<HubTraffic> traffic;           // absent if the scenario has no traffic
  Verdict verdict = Verdict::kNotJudged;
  std::vector<std::string> failures;
  std::optional<Environment> environment;

  // Sets the verdict by the limit, if there is one. `from_clients`: the number of frames that all
  // clients together have sent; if it is 0, the verdict is VOID or not judged.
  void Judge(uint64_t from_clients, std::optional<Duration> limit);

  // Adds failures that became known after Judge(): a hub with failures never has the verdict VALID.
  void Fail(const std::vector<std::string>& lines);

  // Returns the exit status of `viaduct hub`.
  ExitStatus Status() const;

  static fields::KeysOf<HubResult> Keys();
};

// The progress that a hub reports while it runs. The report has no list of clients: a hub has
// hundreds of clients, and the hub's events must not wait until such a list is written.
struct HubProgress {
  double seconds = 0;
  uint16_t port = 0;
  uint64_t nodes = 0, claimed = 0;  // nodes: remote nodes; claimed: remote nodes with a client
  uint64_t rx_frames = 0, tx_frames = 0;
  uint64_t lost = 0;  // lost datagrams and frames, of all causes

  static fields::KeysOf<HubProgress> Keys();
};

}  // namespace viaduct::result
