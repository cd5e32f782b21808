// Both sides of the control socket of a running path or of a lab's engine
// (path/engine/control_protocol.h).
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/fd.h"
#include "base/poller.h"
#include "base/time.h"
#include "path/engine/config.h"
#include "path/engine/control_protocol.h"
#include "path/engine/live_path.h"
#include "sys/ipc/lines.h"

namespace viaduct::engine {

// Answers requests when the caller's loop calls Serve(). A client that violates the protocol loses
// its connection; nothing else is affected. For use by one thread.
class ControlServer {
 public:
  // Handles a request. Returns the members to add to the answer {"ok": true}, or null if the
  // members are not known yet and AnswerWaiting() will supply them. If the handler throws an
  // exception, the exception becomes the error answer.
  using Handler = std::function<nlohmann::json(const ControlRequest&)>;

  // Takes over a listening stream socket. Throws SystemError.
  ControlServer(UniqueFd listener, Handler handler);

  // Returns the descriptor that is readable when Serve() has something to do.
  int fd() const { return poller_.fd(); }
  // Handles pending connections and requests; never blocks.
  void Serve();
  // Answers every request that is waiting for an answer; the answers have the members `members`.
  void AnswerWaiting(const nlohmann::json& members);

 private:
  struct Connection {
    UniqueFd socket;
    int waiting = 0;  // number of requests that wait for AnswerWaiting()
    ipc::LineBuffer lines{kMaxRequestLine};
  };

  void Watch(int fd);
  void Accept();
  void Serve(int fd);
  bool Read(Connection& connection);
  bool Answer(Connection& connection, const std::string& line);
  static bool Send(Connection& connection, const nlohmann::json& answer);

  UniqueFd listener_;
  Handler handler_;
  Poller poller_;  // the listener and all connections
  std::map<int, Connection> connections_;
};

// Sends one request to the path that listens on the socket `socket_path` and returns the path's
// answer. Throws an error answer as an exception with the answer's exit status, UsageError if no
// path listens on the socket any more, and Error if the path does not answer within `timeout`.
nlohmann::json Ask(const std::string& socket_path, const ControlRequest& request,
                   Duration timeout = Duration::Seconds(10));

// Performs a kSet request on the engine that `live` changes. Throws UsageError if the pair does not
// exist, if the request names no pair although there are several, or if the engine refuses the
// change.
void PerformSet(const ControlRequest& request, const Config& config, LivePath& live);

}  // namespace viaduct::engine
