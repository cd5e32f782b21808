// Follows the kernel's table of neighbours (rtnetlink(7), RTM_NEWNEIGH).
#pragma once

#include "base/fd.h"
#include "plane/forward/neighbour_table.h"

namespace viaduct::forward {

class NeighbourMonitor {
 public:
  // A socket for the constructor, in the calling thread's namespace. Throws SystemError.
  static UniqueFd Open();

  // The socket may be another process's; needs no privilege. Asks for all that there are.
  explicit NeighbourMonitor(UniqueFd socket);

  // Readable when Read() has something.
  int fd() const { return socket_.get(); }
  // Applies everything that has happened so far; does not block. If the kernel had to drop
  // something, it starts anew. Throws SystemError.
  void Read(NeighbourTable* table);

 private:
  void RequestAll();

  UniqueFd socket_;
};

}  // namespace viaduct::forward
