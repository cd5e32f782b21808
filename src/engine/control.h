// Both sides of the control socket of a running path or of a lab's engine
// (engine/control_protocol.h).
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/fd.h"
#include "base/poller.h"
#include "engine/config.h"
#include "engine/control_protocol.h"
#include "engine/live_path.h"

namespace viaduct::engine {

// Answers requests when its owner's loop says so; a client that misbehaves loses its connection,
// nothing else happens. One thread.
class ControlServer {
 public:
  // Answers a request with what is added to {"ok": true}; what it throws is the client's answer.
  using Handler = std::function<nlohmann::json(const ControlRequest&)>;

  // Takes over a listening stream socket. Throws SystemError.
  ControlServer(UniqueFd listener, Handler handler);

  // Readable when Serve() has something to do.
  int Fd() const { return poller_.fd(); }
  // Does what there is to do; never waits.
  void Serve();

 private:
  struct Connection {
    UniqueFd socket;
    LineBuffer lines{kMaxRequestLine};
  };

  void Watch(int fd);
  void Accept();
  void Serve(int fd);
  bool Read(Connection& connection);
  bool Answer(Connection& connection, const std::string& line);

  UniqueFd listener_;
  Handler handler_;
  Poller poller_;  // the listener and all connections
  std::map<int, Connection> connections_;
};

// One request to the path whose socket this is; its answer. The path's own error is thrown with its
// status; UsageError where no path listens there any more.
nlohmann::json Ask(const std::string& socket_path, const ControlRequest& request);

// The answer to kSet of an engine whose pipelines `live` knows. UsageError: no such pair, or none
// named where there are several; what the engine refuses.
void PerformSet(const ControlRequest& request, const Config& config, LivePath& live);

}  // namespace viaduct::engine
