// A process that cleans up after this one, however this one ends.
#pragma once

#include <functional>

#include "base/fd.h"

namespace viaduct::sys {

// Forked while there is one thread; keeps the privileges of that moment. It survives the signals of
// this process's terminal and, once constructed, what kills this process's group.
class Guardian {
 public:
  // `work` runs in the forked process with its end of a SOCK_SEQPACKET connection, at whose end
  // (this process has closed the guardian, or died) it is to clean up and return. What it throws is
  // swallowed: nobody is left to tell.
  explicit Guardian(const std::function<void(int connection)>& work);
  // Closes the connection and waits until all is cleaned up.
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
