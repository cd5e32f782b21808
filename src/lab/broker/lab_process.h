// Processes of a lab beside its programs: the path engine, the forwarder.
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
  int namespace_fd = -1;   // where it runs, so that the clean-up of the lab finds it
  std::vector<int> keep;   // the descriptors that it needs
  std::string last_words;  // the file of its standard error, and of what ends it; empty: none
  // It runs users' code: root has no capabilities in it, either, and it is ended if it does not
  // call `ready` within kTimeout.
  bool runs_users_code = false;
  static constexpr auto kTimeout = Duration::Seconds(10);
  // A socket: whoever waits for the process, which may read users' files that take for ever. It is
  // ended once that is closed, by who wants it no more.
  int asker = -1;
  int words = -1;  // then what ends it is written there instead, and its standard error nowhere
};

// Forks the process from the broker. It has no other descriptors of the broker's, runs as the
// owner without capabilities (but root's) at the highest priority, and ends with the broker. There
// `work` runs, which calls `ready` once it does what it is for and returns when the process shall
// end. Returns the process's number after that call. Throws what `work` threw before it (an Error
// with the same message).
int StartLabProcess(const LabProcess& process, const sys::Identity& owner,
                    const std::function<void(const std::function<void()>& ready)>& work);

}  // namespace viaduct::broker
