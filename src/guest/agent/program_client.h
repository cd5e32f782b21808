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
  uint32_t node = 0;  // the number from AgentClient::CreateNode()
  // The program's argv; the environment's PATH is searched for the first word.
  std::vector<std::string> words = {};
  std::vector<std::string> environment = {};  // NAME=VALUE; the complete environment
  std::string folder = "/";
  bool input = false;     // true: Write() is the standard input; false: the standard input is empty
  bool terminal = false;  // true: the program has a terminal, and Write() is its keyboard input
  uint16_t rows = 0, columns = 0;  // the terminal's size; 0: unknown
};

// The callbacks for the events of a program, each called at the virtual instant at which the event
// happens.
struct ProgramEvents {
  // Called when the start has succeeded (`error_number` is 0) or failed (no further events follow).
  std::function<void(int error_number, const std::string& words)> started;
  // Called with output of the program. `descriptor`: 1 for standard output, 2 for standard error.
  // `bytes` is valid during the call.
  std::function<void(int descriptor, std::span<const std::byte> bytes)> output;
  // Called when the program has ended and all of its output has been reported. `status`: the wait
  // status of waitpid(2).
  std::function<void(int status)> exited;
};

// Returns the default environment of programs: PATH, HOME, LANG, TERM. The variables of the
// simulator's environment are not passed on, because they would make runs differ.
std::vector<std::string> DefaultEnvironment();

// Returns the path at which a node sees a folder of the host: the same path, or / for folders that
// nodes replace (/run, /proc, /sys, /dev).
std::string NodeFolder(const std::string& host_folder);

// Describes a wait status (waitpid(2)): "exit status 3", "killed by signal 9 (Killed)".
std::string DescribeStatus(int status);

// Starts programs on the nodes of a guest and reports their events; each agent has one
// ProgramClient.
class ProgramClient {
 public:
  // Registers the handlers of the programs' events. The agent client must outlive every call of
  // this object's functions except the destructor.
  explicit ProgramClient(AgentClient& agent);
  ProgramClient(const ProgramClient&) = delete;
  ProgramClient& operator=(const ProgramClient&) = delete;

  // Starts a program and returns the program's number. Throws UsageError if the request has no
  // words, or has a word with a zero byte.
  uint32_t Start(const ProgramRequest& request, ProgramEvents events);
  // Writes to the program's standard input; an empty `bytes` means end of file.
  void Write(uint32_t program, std::span<const std::byte> bytes);
  // Sends a signal to the program's process group.
  void Signal(uint32_t program, int signal);
  // Sets the window size of the program's terminal.
  void Resize(uint32_t program, uint16_t rows, uint16_t columns);
  // Returns whether the program has a terminal and waits at a prompt for a line that the program
  // edits itself, as a shell does between two commands. Asks the guest at the present instant;
  // returns false if the answer would need virtual time.
  bool AtPrompt(uint32_t program);
  // Stops the callbacks for the program, which keeps running.
  void Forget(uint32_t program) { programs_->erase(program); }

 private:
  using Programs = std::map<uint32_t, ProgramEvents>;

  AgentClient& agent_;
  uint32_t next_ = 1;
  // The callbacks of the programs, by program number; the agent client's handlers hold a weak
  // pointer to the map.
  std::shared_ptr<Programs> programs_ = std::make_shared<Programs>();
};

}  // namespace viaduct::guest
