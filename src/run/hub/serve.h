// `viaduct hub` from its start to its end: the checks, the hub, the claims of clients and their
// encryption, the hub's record, the results.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result/hub.h"
#include "base/time.h"
#include "scenario/scenario.h"

namespace viaduct::run {

struct ServeOptions {
  std::string address;  // this machine's address for clients; empty: all addresses
  uint16_t port = 0;    // the UDP port, and the TCP port for claims; 0: any
  // The file with the key for clients, which is created if it is missing; empty: the file of the
  // user.
  std::string key_file;
  std::optional<uint16_t> cipher_port;  // UDP port of WireGuard; absent: no encryption
  std::optional<Duration> duration;     // time in which clients are served; absent: until a signal
  bool quiet = false;
};

// Serves clients until a signal arrives or the duration has passed. Calls `need_root` before any
// step that needs root. Throws UsageError for a scenario that cannot run in a hub, or has no remote
// node; Error if anything else ends the hub.
result::HubResult ServeClients(const scenario::Scenario& scenario, const ServeOptions& options,
                               const std::function<void()>& need_root);

}  // namespace viaduct::run
