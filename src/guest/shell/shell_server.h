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

// A node that shells can be opened on.
struct ShellNode {
  std::string name;
  std::string release;  // of its kernel
  uint32_t number = 0;  // AgentClient::CreateNode()'s
  std::shared_ptr<ProgramClient> programs;
};

// What a client does wrong ends its connection, nothing else. One thread: Serve() in events of the
// simulator only, because it talks to guests.
class ShellServer {
 public:
  // `listener`: PauseRecord's. `now`: the present virtual instant.
  ShellServer(UniqueFd listener, std::vector<ShellNode> nodes, std::function<Instant()> now);
  ShellServer(const ShellServer&) = delete;
  ShellServer& operator=(const ShellServer&) = delete;
  // Closes all connections; the clients say that the simulation has gone on.
  ~ShellServer();

  // Readable when Serve() has something to do.
  int Fd() const { return poller_.fd(); }
  // Does what there is to do; never waits but for a client to take output. True: a guest was asked
  // for something, and needs a moment of virtual time for it.
  bool Serve();
  // Whether virtual time is to go on: some program does not wait at its prompt.
  bool Busy();
  // A client, or Resume(), has asked that the simulation goes on.
  bool resumed() const { return resumed_; }
  // Throws UsageError while shells are open.
  void Resume();

 private:
  struct Session {
    UniqueFd socket;
    const ShellNode* node = nullptr;  // once it is open
    uint32_t program = 0;
    bool shell = false;    // one that waits at a prompt, rather than a program that just runs
    bool started = false;  // the guest has said so
    bool ended = false;    // nothing is left to do but to forget it
    bool hung_up = false;  // its client is gone, the program not yet
    Instant hung_up_at;    // virtual
  };

  void Accept();
  bool Read(uint32_t id, Session& session);
  void Handle(uint32_t id, Session& session, const ShellMessage& message);
  void Open(uint32_t id, Session& session, const nlohmann::json& request);
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
  Poller poller_;                         // a session by its number, the listener as 0
  std::map<uint32_t, Session> sessions_;  // by a number of ours
  uint32_t next_ = 1;
  bool resumed_ = false;
  bool asked_ = false;  // a guest was asked for something since the last Serve()
};

}  // namespace viaduct::guest
