// The simulator's side of programs on the nodes of a guest.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "guest/agent/agent_client.h"

namespace viaduct::guest {

struct ProgramRequest {
  uint32_t node = 0;                    // from AgentClient::CreateNode()
  std::vector<std::string> words = {};  // argv; the first is looked up in the environment's PATH
  std::vector<std::string> environment = {};  // NAME=VALUE; the complete environment
  std::string folder = "/";
  bool input = false;              // Write() is its standard input; else the input is empty
  bool terminal = false;           // has a terminal, and Write() is its keyboard input
  uint16_t rows = 0, columns = 0;  // the terminal's; 0: unknown
};

// The events of a program, each called at the virtual instant at which it happens.
struct ProgramEvents {
  // `error_number`: 0 when the program runs; else there are no further events.
  std::function<void(int error_number, const std::string& words)> started;
  std::function<void(int descriptor, std::span<const std::byte> bytes)> output;  // 1 or 2; borrowed
  std::function<void(int status)> exited;  // from waitpid(2); follows all of its output
};

// The default environment of programs: PATH, HOME, LANG, TERM. The host's variables are not passed
// on because they would make runs differ.
std::vector<std::string> DefaultEnvironment();

// Returns the path at which a node sees a folder of the host: the same, or / for folders that nodes
// replace (/run, /proc, /sys, /dev).
std::string NodeFolder(const std::string& host_folder);

// Describes a wait status (waitpid(2)): "exit status 3", "killed by signal 9 (Killed)".
std::string DescribeStatus(int status);

// One for each agent.
class ProgramClient {
 public:
  // The agent client must outlive every call except that of the destructor.
  explicit ProgramClient(AgentClient& agent);
  ProgramClient(const ProgramClient&) = delete;
  ProgramClient& operator=(const ProgramClient&) = delete;

  // Starts a program and returns its number. Throws UsageError for a request without words or with
  // a zero byte.
  uint32_t Start(const ProgramRequest& request, ProgramEvents events);
  // Writes to the program's standard input; no bytes mean end of file.
  void Write(uint32_t program, std::span<const std::byte> bytes);
  // Sends a signal to the program's process group.
  void Signal(uint32_t program, int signal);
  // Sets the window size of the program's terminal.
  void Resize(uint32_t program, uint16_t rows, uint16_t columns);
  // Whether the program has a terminal and waits at its own prompt for a line that it edits itself,
  // as a shell does between two commands. Asks the guest at the present instant; returns false if
  // that would need virtual time.
  bool AtPrompt(uint32_t program);
  // Stops the events of the program, which keeps running.
  void Forget(uint32_t program) { programs_->erase(program); }

 private:
  using Programs = std::map<uint32_t, ProgramEvents>;

  AgentClient& agent_;
  uint32_t next_ = 1;
  std::shared_ptr<Programs> programs_ = std::make_shared<Programs>();  // handlers hold it weakly
};

}  // namespace viaduct::guest
