// The programs of the host that run on the nodes of a guest (guest/agent/program_protocol.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "base/fd.h"
#include "guest/agent/agent_protocol.h"
#include "guest/agent/program_protocol.h"
#include "guest/inside/filesystem.h"
#include "guest/inside/nodes.h"
#include "guest/service/agent.h"

namespace viaduct::guest::inside {

class Programs {
 public:
  // Registers the handlers of the requests about programs. The agent and the nodes must outlive
  // this object, which reaps every child of the process.
  Programs(service::Agent& agent, Nodes& nodes);
  ~Programs();

 private:
  // A program that runs, or a program that has ended while its children still hold its output open.
  struct Program {
    int pid = 0;
    bool exited = false;
    bool terminal = false;
    UniqueFd input;
    // The agent's ends of standard output and standard error; for a program with a terminal, only
    // the first is used.
    std::array<UniqueFd, 2> output;
  };
  struct ChildEnds {
    std::array<UniqueFd, 3> fd;
  };

  static ChildEnds MakeTerminal(const NodeFilesystem& filesystem, agent::TerminalSize size,
                                Program& program);
  static ChildEnds MakePipes(bool input, Program& program);
  void Spawn(const agent::Operation& operation);
  void Input(const agent::Operation& operation);
  void Signal(const agent::Operation& operation);
  void Resize(const agent::Operation& operation);
  void AtPrompt(const agent::Operation& operation);
  const NodeFilesystem& FilesystemOf(uint32_t node);
  void WatchOutput(uint32_t number, int which);
  // Reads the available output and reports it as kOutput; returns false at end of file.
  bool ReadOutput(uint32_t number, Program& program, int which);
  void CloseOutput(Program& program, int which);
  void Reap();
  void OnExit(uint32_t number, Program& program, int status);

  service::Agent& agent_;
  Nodes& nodes_;
  UniqueFd child_ended_;
  std::map<uint32_t, NodeFilesystem> filesystems_;  // key: the node's number
  std::map<uint32_t, Program> programs_;
  std::vector<std::byte> buffer_;
};

}  // namespace viaduct::guest::inside
