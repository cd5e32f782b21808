// The file descriptors that DPDK opens.
#pragma once

#include <set>

namespace viaduct::dpdk {

// Finds the file descriptors that any thread of this process has opened since this object's
// construction.
class NewDescriptors {
 public:
  NewDescriptors();

  // Sets close-on-exec on all new descriptors, because DPDK does not set it.
  void CloseOnExec() const;
  // Returns the packet socket bound to an interface, with which net_af_packet sends and receives;
  // -1 if there is none.
  int PacketSocketOf(int ifindex) const;

 private:
  std::set<int> Present() const;

  std::set<int> before_;
};

}  // namespace viaduct::dpdk
