// Shells on the nodes of a paused simulation: the simulation's side of `viaduct kernel shell`.
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
  std::string release;  // "uname -r" of its kernel
  uint32_t number = 0;  // from AgentClient::CreateNode()
  std::shared_ptr<ProgramClient> programs;
};

// Serves shells to clients. A client's error ends only its own connection. For use by one thread;
// call Serve() only in events of the simulator, because it communicates with guests.
class ShellServer {
 public:
  // Answers a client's question about the simulation itself. Throws Error.
  using Answer = std::function<nlohmann::json(const nlohmann::json& request)>;

  // `listener`: of a PauseRecord. `now`: returns the present virtual instant. `answer`: empty if
  // the simulation answers no questions.
  ShellServer(UniqueFd listener, std::vector<ShellNode> nodes, std::function<Instant()> now,
              Answer answer);
  ShellServer(const ShellServer&) = delete;
  ShellServer& operator=(const ShellServer&) = delete;
  // Closes all connections; the clients report that the simulation has continued.
  ~ShellServer();

  // Readable when Serve() has something to do.
  int fd() const { return poller_.fd(); }
  // Handles pending connections and requests; blocks only while a client does not read output.
  // Returns true if a request was sent to a guest, which needs a moment of virtual time for it.
  bool Serve();
  // Returns whether virtual time must advance: some program does not wait at its prompt.
  bool Busy();
  // Whether a client, or Resume(), has asked to continue the simulation.
  bool resumed() const { return resumed_; }
  // Continues the simulation. Throws UsageError while shells are open.
  void Resume();

 private:
  struct Session {
    UniqueFd socket;
    const ShellNode* node = nullptr;  // nullptr until it is open
    uint32_t program = 0;
    bool shell = false;    // an interactive shell, not a program given on the command line
    bool started = false;  // the guest has confirmed the start
    bool ended = false;    // the session can be removed
    bool hung_up = false;  // the client has closed, the program still runs
    Instant hung_up_at;    // virtual
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
  Poller poller_;                         // tags: session numbers; 0: the listener
  std::map<uint32_t, Session> sessions_;  // key: the session number
  uint32_t next_ = 1;
  bool resumed_ = false;
  bool asked_ = false;  // a guest was sent a request since the last Serve()
};

}  // namespace viaduct::guest
