// Follows the kernel's table of neighbours (rtnetlink(7), RTM_NEWNEIGH).
#pragma once

#include "base/fd.h"
#include "plane/forward/neighbour_table.h"

namespace viaduct::forward {

class NeighbourMonitor {
 public:
  // Opens a socket for the constructor, in the calling thread's namespace. Throws SystemError.
  static UniqueFd Open();

  // The socket may have been opened by another process; needs no privilege. Requests all
  // neighbours.
  explicit NeighbourMonitor(UniqueFd socket);

  // Returns a descriptor that is readable when Read() has something to read.
  int fd() const { return socket_.get(); }
  // Applies all changes so far; does not block. If the kernel had to drop changes, clears the table
  // and requests all neighbours again. Throws SystemError.
  void Read(NeighbourTable* table);

 private:
  void RequestAll();

  UniqueFd socket_;
};

}  // namespace viaduct::forward
