// The simulation's side of `viaduct kernel shell`: shells on the nodes of a paused simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/poller.h"
#include "base/time.h"
#include "guest/agent/program_client.h"
#include "guest/shell/shell_protocol.h"

namespace viaduct::guest {

// A node on which shells can be opened.
struct ShellNode {
  std::string name;
  std::string release;  // "uname -r" of the node's kernel
  uint32_t number = 0;  // the number from AgentClient::CreateNode()
  std::shared_ptr<ProgramClient> programs;
};

// Serves shells to the processes that connect to a paused simulation. An error of one client ends
// only that client's connection. Must be used by one thread only; Serve() must be called only in
// events of the simulator, because Serve() communicates with guests.
class ShellServer {
 public:
  // A function that answers a client's question about the simulation. Throws Error.
  using Answer = std::function<nlohmann::json(const nlohmann::json& request)>;

  // `listener`: the socket of a PauseRecord. `now`: returns the present virtual instant. `answer`:
  // empty if the simulation answers no questions.
  ShellServer(UniqueFd listener, std::vector<ShellNode> nodes, std::function<Instant()> now,
              Answer answer);
  ShellServer(const ShellServer&) = delete;
  ShellServer& operator=(const ShellServer&) = delete;
  // Closes all connections; the clients then report that the simulation has continued.
  ~ShellServer();

  // Returns a descriptor that is readable when Serve() has connections or packets to handle.
  int fd() const { return poller_.fd(); }
  // Handles pending connections and requests; blocks only while a client does not read its output.
  // Returns true if a request was sent to a guest, which needs some virtual time to handle the
  // request.
  bool Serve();
  // Returns whether virtual time must advance because a program does not wait at its prompt.
  bool Busy();
  // Returns whether a client, or a call of Resume(), has requested to continue the simulation.
  bool resumed() const { return resumed_; }
  // Requests to continue the simulation. Throws UsageError if shells are open.
  void Resume();

 private:
  struct Session {
    UniqueFd socket;
    const ShellNode* node = nullptr;  // nullptr until the session is open
    uint32_t program = 0;
    bool shell = false;    // an interactive shell, not a program given on the command line
    bool started = false;  // the guest has confirmed the program's start
    bool ended = false;    // the session can be removed
    bool hung_up = false;  // the client has closed its connection, but the program runs
    Instant hung_up_at;    // the virtual instant at which the client closed the connection
  };

  void Accept();
  bool Read(uint32_t id, Session& session);
  void Handle(uint32_t id, Session& session, const ShellMessage& message);
  void Open(uint32_t id, Session& session, const nlohmann::json& request);
  void Tell(Session& session, const nlohmann::json& request);
  ProgramEvents EventsOf(uint32_t id);
  const ShellNode& FindNode(const std::string& name) const;
  void Send(Session& session, ShellPacket packet, std::string_view payload);
  void SendError(Session& session, const std::string& message, int status);
  void Disconnect(Session& session);
  void HangUp(Session& session);
  void KillOverdue();
  std::string OpenNodes() const;

  UniqueFd listener_;
  std::vector<ShellNode> nodes_;
  std::function<Instant()> now_;
  Answer answer_;
  Poller poller_;                         // tags: the sessions' numbers; 0: the listener
  std::map<uint32_t, Session> sessions_;  // key: the session's number
  uint32_t next_ = 1;
  bool resumed_ = false;
  bool asked_ = false;  // whether a guest was sent a request since Serve() began
};

}  // namespace viaduct::guest
