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
  uint32_t node = 0;                          // AgentClient::CreateNode()'s
  std::vector<std::string> words = {};        // looked up in the environment's PATH
  std::vector<std::string> environment = {};  // NAME=VALUE, all of it
  std::string folder = "/";
  bool input = false;              // Write() reaches its standard input; else that is empty
  bool terminal = false;           // it has one, and Write() is what is typed there
  uint16_t rows = 0, columns = 0;  // of the terminal; 0: unknown
};

// What a program tells; each at the virtual instant at which it happens.
struct ProgramEvents {
  // errno: 0 when it runs; else there are no more events.
  std::function<void(int error_number, const std::string& words)> started;
  std::function<void(int descriptor, std::span<const std::byte> bytes)> output;  // 1 or 2; lent
  std::function<void(int status)> exited;  // as of waitpid(2); after all it wrote itself
};

// The environment that programs have unless told otherwise: PATH, HOME, LANG, TERM; none of the
// host's, which would make runs differ.
std::vector<std::string> DefaultEnvironment();

// Where a node has a folder of the host: under the same name, or / where nodes have files of their
// own (/run, /proc, /sys, /dev).
std::string NodeFolder(const std::string& host_folder);

// "exit status 3", "killed by signal 9 (Killed)", of a status of waitpid(2).
std::string DescribeStatus(int status);

// One for each agent.
class ProgramClient {
 public:
  // The agent's client outlives every call but that of the destructor.
  explicit ProgramClient(AgentClient& agent);
  ProgramClient(const ProgramClient&) = delete;
  ProgramClient& operator=(const ProgramClient&) = delete;

  // Returns its number. Throws UsageError for a request without words or with a zero byte.
  uint32_t Start(const ProgramRequest& request, ProgramEvents events);
  // Empty: the end of its input.
  void Write(uint32_t program, std::span<const std::byte> bytes);
  // To the program and what it started, unless they left its process group.
  void Signal(uint32_t program, int signal);
  // A new size of its terminal's window.
  void Resize(uint32_t program, uint16_t rows, uint16_t columns);
  // Whether it has a terminal and waits at its own prompt, as a shell does between two commands,
  // for a line that it edits itself. Asks the guest at once; false also where that needs time.
  bool AtPrompt(uint32_t program);
  // No more events of it; it goes on.
  void Forget(uint32_t program) { programs_->erase(program); }

 private:
  using Programs = std::map<uint32_t, ProgramEvents>;

  AgentClient& agent_;
  uint32_t next_ = 1;
  std::shared_ptr<Programs> programs_ = std::make_shared<Programs>();  // handlers hold it weakly
};

}  // namespace viaduct::guest
