// Processes of a lab in addition to its programs: the path engine and the forwarder.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/time.h"
#include "sys/process/invoking_user.h"

namespace viaduct::broker {

struct LabProcess {
  const char* title = "";  // the name in lists of processes; at most 15 characters
  std::string what;        // the name in messages: "path engine"
  int namespace_fd = -1;   // the namespace of the process, where the lab's clean-up finds it
  std::vector<int> keep;   // the descriptors that the process keeps
  // The path of the file for standard error and the last error; empty: no file.
  std::string last_words;
  // Whether the process runs users' code. If true, the process has no capabilities even if its
  // owner is root, and it is killed if it does not call `ready` within kTimeout.
  bool runs_users_code = false;
  static constexpr auto kTimeout = Duration::Seconds(10);
  // The socket of the client that waits for the process to start; -1: none. When the client closes
  // it, the process, which may read a user's file without end, is killed.
  int asker = -1;
  // The descriptor to which the last error is written, while standard error is discarded; -1: none.
  int words = -1;
};

// Forks the process from the broker. The process keeps no descriptors of the broker except `keep`,
// runs as the owner without capabilities (root keeps its own) at the highest priority, and ends
// with the broker. It runs `work`, which must call `ready` as soon as it can do its task, and must
// return when the process must end. Returns the pid after the call of `ready`. Throws the error
// that `work` threw before that call (an Error with the same message).
int StartLabProcess(const LabProcess& process, const sys::Identity& owner,
                    const std::function<void(const std::function<void()>& ready)>& work);

}  // namespace viaduct::broker
