// A process that cleans up after this process, even if this process is killed.
#pragma once

#include <functional>

#include "base/fd.h"

namespace viaduct::sys {

// Forks and owns the guardian. The fork must happen while this process has a single thread; the
// guardian keeps the privileges that this process has at that moment. The guardian survives the
// signals of this process's terminal and, once this object is constructed, signals that kill this
// process's group.
class Guardian {
 public:
  // `work` runs in the guardian with the guardian's end of a SOCK_SEQPACKET connection. When the
  // connection closes (because this process has destroyed this object, or has ended), `work` must
  // clean up and return. Exceptions that `work` throws are ignored, because no process is left to
  // which they could be reported.
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

// Blocks until the other end of the connection has closed; for `work`.
void AwaitEnd(int connection);

}  // namespace viaduct::sys
