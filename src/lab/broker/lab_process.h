// Processes of a lab in addition to its programs: the path engine, the forwarder.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/time.h"
#include "sys/process/invoking_user.h"

namespace viaduct::broker {

struct LabProcess {
  const char* title = "";  // in lists of processes; at most 15 characters
  std::string what;        // in messages: "path engine"
  int namespace_fd = -1;   // the namespace it runs in, so that the lab's clean-up finds it
  std::vector<int> keep;   // the descriptors that it needs
  std::string last_words;  // file of its standard error and of its last error; empty: none
  // Whether the process runs users' code: then root has no capabilities in it, either, and it is
  // ended if it does not call `ready` within kTimeout.
  bool runs_users_code = false;
  static constexpr auto kTimeout = Duration::Seconds(10);
  // The socket of the client that waits for the process; -1: none. When the client closes it, the
  // process, which may read users' files without end, is ended.
  int asker = -1;
  int words = -1;  // if set, the last error is written there, and standard error is discarded
};

// Forks the process from the broker. It has no other descriptors of the broker's, runs as the
// owner without capabilities (but root's) at the highest priority, and ends with the broker. The
// process runs `work`, which calls `ready` once it does its task and returns when the process must
// end. Returns the process's number after that call. Throws the error that `work` threw before it
// (an Error with the same message).
int StartLabProcess(const LabProcess& process, const sys::Identity& owner,
                    const std::function<void(const std::function<void()>& ready)>& work);

}  // namespace viaduct::broker
