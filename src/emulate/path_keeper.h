// Root's half of `viaduct path`, and its client.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "broker/call.h"
#include "emulate/path_record.h"
#include "engine/config.h"
#include "io/port.h"
#include "sys/invoking_user.h"

namespace viaduct::emulate {

// A service (privilege/steward.h). It takes the interfaces of a path, records the path, opens
// packet sockets on them, and gives everything back when the connection ends.
void KeepPath(UniqueFd connection, const sys::Identity& user);

// What a client asks a keeper to take: a path's interfaces, pairs and name. Throws UsageError where
// it is malformed.
PathInfo DecodePath(const nlohmann::json& request);

// The interfaces of a path, as root's half keeps them for this process.
class KeptPath {
 public:
  // Takes the interfaces of config.ports, with their offloads off, and the path's name. There must
  // be a steward (privilege/halves.h). Throws UsageError or EnvironmentError; then nothing is
  // taken.
  explicit KeptPath(const engine::Config& config);

  const std::string& name() const { return name_; }
  const std::string& created() const { return created_; }   // UTC, ISO 8601
  UniqueFd TakeListener() { return std::move(listener_); }  // of the control socket
  // Opens a ring port in promiscuous mode on one of config.ports, also on an interface of that name
  // that has appeared since. Throws Error.
  std::unique_ptr<io::AnyPort> OpenPort(size_t port);
  int ifindex(size_t port) const { return ifindices_[port]; }  // of the port opened last
  int Fd() const { return root_.Fd(); }                        // readable when root's half has died

 private:
  broker::Caller root_;
  std::string name_, created_;
  UniqueFd listener_;
  std::vector<int> ifindices_;
};

}  // namespace viaduct::emulate
