// Follows the kernel's table of neighbours (rtnetlink(7), RTM_NEWNEIGH).
#pragma once

#include "base/fd.h"
#include "plane/forward/neighbour_table.h"

namespace viaduct::forward {

class NeighbourMonitor {
 public:
  // Opens a netlink socket for the constructor, in the calling thread's namespace. Throws
  // SystemError.
  static UniqueFd Open();

  // Takes the socket, which another process may have opened, and requests all neighbours from the
  // kernel; needs no privilege.
  explicit NeighbourMonitor(UniqueFd socket);

  // Returns a descriptor that is readable when Read() would apply changes.
  int fd() const { return socket_.get(); }
  // Applies all of the kernel's changes so far to the table; does not block. If the kernel had to
  // drop changes, clears the table and requests all neighbours again. Throws SystemError.
  void Read(NeighbourTable* table);

 private:
  void RequestAll();

  UniqueFd socket_;
};

}  // namespace viaduct::forward
