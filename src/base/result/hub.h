// The statistics of a hub, whose nodes have their programs on other machines.
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

// A remote node and its client.
struct ClientResult {
  std::string node;
  uint32_t vni = 0;
  std::optional<std::string> client;  // the client's address
  uint64_t rx_frames = 0, rx_bytes = 0, tx_frames = 0, tx_bytes = 0;
  std::map<std::string, uint64_t> drops;  // frames, by cause
  uint64_t waiting = 0;                   // frames
  std::optional<double> wait_ms;
  double longest_wait_ms = 0;

  static fields::KeysOf<ClientResult> Keys();
};

// The scenario's own traffic in a hub's network: its flows, programs, events and captures.
struct HubTraffic {
  std::vector<FlowResult> flows;
  std::vector<ProgramResult> programs;
  std::vector<LinkEvent> events;
  std::optional<Timing> event_timing;  // the lateness of `events`; lab only
  std::vector<Capture> captures;
  std::vector<StateFiles> state;  // simulation only

  static fields::KeysOf<HubTraffic> Keys();
};

struct HubResult {
  std::string name;
  uint64_t seed = 0;
  double seconds = 0;
  uint16_t port = 0;
  uint64_t readers = 0;  // threads
  uint64_t queue = 0;    // frames
  std::optional<std::string> encryption;
  int receive_buffer = 0, send_buffer = 0;  // bytes
  std::optional<std::string> unshared;      // the reason for clients not sharing the receive buffer
  uint64_t datagrams = 0;
  std::map<std::string, uint64_t> drops;  // datagrams, by cause
  std::vector<ClientResult> clients;
  std::optional<uint64_t> claims, returns;                 // nodes claimed by clients with the key
  std::optional<std::map<std::string, uint64_t>> refused;  // connections and claims, by cause
  std::map<std::string, double> loop;                      // s, by activity; simulation only
  Timing events, frames;
  std::map<std::string, uint64_t> unreadable;  // packets, by node
  std::optional<HubTraffic> traffic;           // if the scenario has any
  Verdict verdict = Verdict::kNotJudged;
  std::vector<std::string> failures;
  std::optional<Environment> environment;

  // Sets the verdict by the limit, if there is one. `from_clients`: the number of frames that all
  // clients together have sent; if it is 0, there is no verdict but VOID.
  void Judge(uint64_t from_clients, std::optional<Duration> limit);

  // Adds failures that became known later: with a failure the verdict is never VALID.
  void Fail(const std::vector<std::string>& lines);

  // Returns the exit status of the command.
  ExitStatus Status() const;

  static fields::KeysOf<HubResult> Keys();
};

// The progress that a hub reports while it runs. It has no list of clients: a hub has hundreds of
// them, and its events must not wait for such a list.
struct HubProgress {
  double seconds = 0;
  uint16_t port = 0;
  uint64_t nodes = 0, claimed = 0;  // remote nodes, and remote nodes with a client
  uint64_t rx_frames = 0, tx_frames = 0;
  uint64_t lost = 0;  // datagrams and frames, for any cause

  static fields::KeysOf<HubProgress> Keys();
};

}  // namespace viaduct::result
