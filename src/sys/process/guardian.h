// A process that cleans up after this process, however this one ends.
#pragma once

#include <functional>

#include "base/fd.h"

namespace viaduct::sys {

// Forks the guardian, which must happen while this process has a single thread; the guardian keeps
// the privileges of that moment. It survives the signals of this process's terminal and, once
// constructed, signals that kill this process's group.
class Guardian {
 public:
  // `work` runs in the forked process with its end of a SOCK_SEQPACKET connection. When the
  // connection closes (this process has destroyed the guardian, or has ended), `work` must clean up
  // and return. Exceptions that it throws are ignored: there is no process left to report them to.
  explicit Guardian(const std::function<void(int connection)>& work);
  // Closes the connection and waits until the guardian has cleaned up.
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  int Connection() const { return connection_.get(); }

 private:
  void AwaitReady();

  UniqueFd connection_;
  int pid_ = 0;
};

// For `work`: blocks until the other end has closed.
void AwaitEnd(int connection);

}  // namespace viaduct::sys
