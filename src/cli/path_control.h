// Both sides of a running path's control socket (cli/path_protocol.h).
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/fd.h"
#include "cli/path_protocol.h"
#include "run/loop.h"

namespace viaduct::cli {

// Answers requests on the loop's thread; a client that misbehaves loses its connection, nothing
// else happens.
class ControlServer {
 public:
  // Answers a request with what is added to {"ok": true}; what it throws is the client's answer.
  using Handler = std::function<nlohmann::json(const ControlRequest&)>;

  // Takes over a listening stream socket. The loop must outlive the server.
  ControlServer(run::Loop& loop, UniqueFd listener, Handler handler);
  ~ControlServer();

 private:
  struct Connection {
    UniqueFd socket;
    LineBuffer lines{kMaxRequestLine};
  };

  void Accept();
  void Serve(int fd);
  bool Read(Connection& connection);
  bool Answer(Connection& connection, const std::string& line);

  run::Loop& loop_;
  UniqueFd listener_;
  Handler handler_;
  std::map<int, Connection> connections_;
};

// One request to the path whose socket this is; its answer. The path's own error is thrown with its
// status; UsageError where no path listens there any more.
nlohmann::json Ask(const std::string& socket_path, const ControlRequest& request);

}  // namespace viaduct::cli
