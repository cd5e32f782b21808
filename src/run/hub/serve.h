// `viaduct hub` from its start to its end: checks, the hub, its clients' claims and encryption, its
// record, its results.
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
  std::string address;   // this machine's address for clients; empty: all of them
  uint16_t port = 0;     // UDP, and TCP for claims; 0: any
  std::string key_file;  // with the key for clients, created if missing; empty: the user's
  std::optional<uint16_t> cipher_port;  // WireGuard's UDP port; absent: no encryption
  std::optional<Duration> duration;     // time of serving; absent: until a signal
  bool quiet = false;
};

// Serves clients until a signal or the end of the duration. `need_root` is called before anything
// that needs root. Throws UsageError for a scenario that has no hub, or no remote node; Error if
// anything else ends it.
result::HubResult ServeClients(const scenario::Scenario& scenario, const ServeOptions& options,
                               const std::function<void()>& need_root);

}  // namespace viaduct::run
